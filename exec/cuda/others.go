//go:build cgo

package cuda

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"railyard/exec/cuda/descriptors"
	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/exec/proxy"
)

// others are the processes that run schedules together with this one. Those of a node reach one another's memory;
// between nodes messages go.
type others struct {
	Processes
	nodes  [][]int // ranks, by node
	node   int     // this process's
	mates  []int   // the processes of that node
	mate   int     // this one's number among them
	circle *descriptors.Circle
	// offered is what they know of this process's memory.
	offered map[**driver.Mapping]*driver.Mapping
	link    Link         // nil where there is none
	proxy   *proxy.Proxy // nil where there is none
	network atomic.Pointer[error]
	abandon func()
}

// networkLost ends the run: what the proxy carries does not come any more.
func (o *others) networkLost(err error) {
	o.network.CompareAndSwap(nil, &err)
	o.abandon()
}

// why is the network's error, where there is one.
func (o *others) why(err error) error {
	if o != nil && o.network.Load() != nil {
		return *o.network.Load()
	}
	return err
}

// card is what processes tell one another before they share memory.
type card struct {
	descriptors.Card
	GPUs []string // by rank
}

// Meet makes the ranks of this process some of those of several, which are in these nodes: processes of a node map one
// another's memory, on one machine. Without nodes, those that can are one. All processes call it.
func (n *Node) Meet(ctx context.Context, p Processes, nodes [][]int) error {
	o := &others{Processes: p, nodes: nodes, offered: map[**driver.Mapping]*driver.Mapping{}, abandon: n.Abandon}
	l, err := descriptors.Listen()
	if err != nil {
		return err
	}
	defer l.Close()
	cards, err := n.cards(ctx, o, l.Card)
	if err != nil {
		return err
	}
	n.crowd = mostOnGPU(cards)
	if nodes == nil {
		o.nodes = byMachine(cards)
	}
	if err := o.findMates(len(n.gpus)); err != nil {
		return err
	}
	beside, near := make([]descriptors.Card, len(o.mates)), make([]card, len(o.mates))
	for i, m := range o.mates {
		near[i] = cards[m]
		if beside[i] = cards[m].Card; beside[i].Machine != l.Card.Machine {
			return fmt.Errorf("processes %d and %d have ranks of one node and cannot share memory: machine, user or folder for temporary "+
				"files differ (%s, %s): start a node's processes in the same way, or name a topology with nodes of their own",
				p.Own, m, l.Card.Machine, beside[i].Machine)
		}
	}
	n.share = mostOnGPU(near)
	n.others = o
	if o.circle, err = l.Meet(ctx, o.mate, beside); err != nil {
		return n.reason(ctx, err)
	}
	n.reach = make([]*regions, len(o.mates)*len(n.gpus))
	for place := range n.reach {
		n.reach[place] = new(regions)
	}
	for _, g := range n.gpus {
		g.place = o.mate*len(n.gpus) + g.Rank
		n.reach[g.place] = &g.regions
	}
	return n.sharePage(ctx)
}

// byMachine are the ranks whose processes can share memory.
func byMachine(cards []card) (nodes [][]int) {
	seen, rank := map[string]int{}, 0
	for _, c := range cards {
		node, ok := seen[c.Machine]
		if !ok {
			node = len(nodes)
			seen[c.Machine], nodes = node, append(nodes, nil)
		}
		for range c.GPUs {
			nodes[node] = append(nodes[node], rank)
			rank++
		}
	}
	return nodes
}

// findMates looks for this process's node, and who else is in it; each process has so many ranks.
func (o *others) findMates(each int) error {
	home := make([]int, o.Size)
	for node, ranks := range o.nodes {
		for i, r := range ranks {
			first := ranks[i-i%each]
			if first%each != 0 || r != first+i%each || len(ranks)%each != 0 {
				return fmt.Errorf("process %d has ranks %d to %d, and the topology has nodes of ranks %v: start as many processes in "+
					"each node",
					r/each, r/each*each, (r/each+1)*each-1, o.nodes)
			}
			home[r/each] = node
		}
	}
	o.node = home[o.Own]
	for i, r := range o.nodes[o.node] {
		if i%each == 0 {
			o.mates = append(o.mates, r/each)
		}
	}
	o.mate = slices.Index(o.mates, o.Own)
	return nil
}

func (n *Node) cards(ctx context.Context, o *others, c descriptors.Card) ([]card, error) {
	mine := card{Card: c}
	for _, g := range n.gpus {
		id, err := g.Device.UUID()
		if err != nil {
			return nil, err
		}
		mine.GPUs = append(mine.GPUs, id)
	}
	return Tell(ctx, o.Processes, mine)
}

// mostOnGPU is how many ranks there are on a GPU at most.
func mostOnGPU(cards []card) (most int) {
	on := map[string]int{}
	for _, c := range cards {
		for _, id := range c.GPUs {
			on[id]++
			most = max(most, on[id])
		}
	}
	return most
}

// sharePage gives all processes of the node one word of aborts, and one gate.
func (n *Node) sharePage(ctx context.Context) error {
	if len(n.others.mates) == 1 {
		return nil
	}
	var page []int
	if n.others.mate == 0 {
		fd, err := descriptors.NewMemory(gpus.HostBytes)
		if err != nil {
			return err
		}
		page = append(page, fd)
	}
	_, copies, err := n.others.circle.Exchange(ctx, []byte("page"), page)
	page = slices.Concat(append(copies, page)...)
	defer closeAll(page)
	if err == nil && len(page) != 1 {
		err = fmt.Errorf("%d pages to share: must be 1", len(page))
	}
	if err != nil {
		return n.reason(ctx, err)
	}
	return n.set.Share(page[0])
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = syscall.Close(fd) // what it stands for is mapped, or of no use
	}
}

// shareRegions maps what other processes of the node have reserved since, and lets them map this one's.
func (n *Node) shareRegions(ctx context.Context) error {
	if n.others == nil || len(n.others.mates) == 1 {
		return nil
	}
	o := n.others
	var sizes []int64 // by GPU and region; 0: as before
	var fds []int
	for _, g := range n.gpus {
		for _, at := range g.all() {
			if o.offered[at] == *at {
				sizes = append(sizes, 0)
				continue
			}
			fd, err := (*at).Export()
			if err != nil {
				return err
			}
			o.offered[at], sizes, fds = *at, append(sizes, (*at).Size), append(fds, fd)
		}
	}
	text, err := json.Marshal(sizes)
	if err != nil {
		return err
	}
	messages, copies, err := o.circle.Exchange(ctx, text, fds)
	defer closeAll(slices.Concat(append(copies, fds)...))
	if err != nil {
		return n.reason(ctx, err)
	}
	for m, text := range messages {
		if m == o.mate {
			continue
		}
		if err := n.take(n.reach[m*len(n.gpus):(m+1)*len(n.gpus)], text, copies[m]); err != nil {
			return fmt.Errorf("memory of process %d: %w", o.mates[m], err)
		}
	}
	return nil
}

// take maps another process's memory, of which it says the sizes.
func (n *Node) take(reach []*regions, text []byte, fds []int) error {
	var sizes []int64
	if err := json.Unmarshal(text, &sizes); err != nil {
		return err
	}
	var places []**driver.Mapping
	for _, r := range reach {
		places = append(places, r.all()...)
	}
	for i, at := range places {
		if i >= len(sizes) || sizes[i] == 0 {
			continue
		}
		if len(fds) == 0 {
			return errors.New("too few descriptors")
		}
		fd := fds[0]
		fds = fds[1:]
		err := n.gpus[0].Do(func() (err error) {
			if *at != nil {
				err = (*at).Free()
			}
			if err == nil {
				*at, err = driver.Import(fd, sizes[i], n.set.Devices)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Share is how many ranks there are on a GPU at most, of whatever nodes.
func (n *Node) Share() int { return max(n.crowd, n.share) }

// Connect has messages between nodes go over a link, which ends with whatever else runs.
func (n *Node) Connect(l Link) { n.others.link = l }

// ConnectProxy has them go through a proxy where a method says so.
func (n *Node) ConnectProxy(p *proxy.Proxy) { n.others.proxy = p }

// number is that of a rank of the node among all of the schedule.
func (n *Node) number(place int) int {
	if n.others == nil {
		return place
	}
	return n.others.nodes[n.others.node][place]
}

// total is how many ranks there are.
func (n *Node) total() int {
	if n.others == nil {
		return len(n.gpus)
	}
	return n.others.Size * len(n.gpus)
}

// staged reports whether there are ranks whose memory others do not reach.
func (n *Node) staged() bool { return len(n.reach) < n.total() }

// together waits until all processes are here.
func (n *Node) together(ctx context.Context) error {
	if n.others == nil {
		return nil
	}
	return n.after(n.others.Barrier(ctx))
}

// agree is Agree where there are other processes.
func (n *Node) agree(ctx context.Context, err error) error {
	if n.others == nil {
		return err
	}
	return Agree(ctx, n.others.Processes, err)
}

// reasonWithin is how long control connections have to say why another process is gone, or has aborted.
const reasonWithin = time.Second

// reason is why the run ends, which follows from what another process has met.
func (n *Node) reason(ctx context.Context, err error) error {
	if n.others != nil {
		select {
		case <-ctx.Done():
		case <-time.After(reasonWithin):
		}
	}
	return cmp.Or(context.Cause(ctx), err)
}

// abortWithin is how long a library has to end what waits for other processes; NCCL takes seconds, and the process ends
// anyway.
const abortWithin = 500 * time.Millisecond

// Abandon ends whatever runs on all GPUs of the node. Nobody waits for that, and nothing is given back: the run is over.
func (n *Node) Abandon() {
	if n.lost.Swap(true) {
		return
	}
	n.set.Abort()
	if n.others != nil && n.others.link != nil { // not before processes have met
		n.others.link.Abort(abortWithin)
	}
}

// Abandoned reports whether Abandon has been called.
func (n *Node) Abandoned() bool { return n.lost.Load() }

// endWithin is how long a run on GPUs has to end when another process is gone: a compiler, a driver or a library may wait for
// what does not come.
const endWithin = 700 * time.Millisecond

// Within runs work to its end, or until soon after the context's: what then still runs is left to the end of this process. Without
// a node it waits.
func (n *Node) Within(ctx context.Context, work func() error) error {
	if n == nil {
		return work()
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(endWithin):
		n.Abandon()
		return context.Cause(ctx)
	}
}

// after ends the run with an error where there are other processes, which then can not go on either.
func (n *Node) after(err error) error {
	if err != nil && n.others != nil {
		n.Abandon()
	}
	return err
}
