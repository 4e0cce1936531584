//go:build cgo

package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/block"
)

// Node is this machine's GPUs, ready to run: those of all ranks, or this process's among those of several.
type Node struct {
	set      *gpus.Set
	gpus     []*gpu
	reach    []*regions    // memory of the ranks of the node, which all of them address
	share    int           // most ranks of the node on a GPU
	crowd    int           // most ranks on a GPU, where several processes have met
	Deadline time.Duration // of a single wait on a GPU
	gates    uint32        // opened so far
	others   *others       // nil where all ranks are this process's
	lost     atomic.Bool   // an abort has left what nobody waits for any more
}

// gpu is one rank.
type gpu struct {
	*gpus.GPU
	regions
	place   int // among the ranks of its node
	marks   []driver.Event
	counter driver.Ptr
	began   driver.Event
	ended   driver.Event
	modules map[string]driver.Module
	shared  *driver.HostMemory // with a proxy
}

// regions are a rank's memory: its own, or another process's as this one addresses it.
type regions struct{ input, output, pool *driver.Mapping }

func (r *regions) all() []**driver.Mapping { return []**driver.Mapping{&r.input, &r.output, &r.pool} }

// The places in host memory behind the word that aborts.
const (
	gateAt   = 64
	reportAt = 128
)

// Open takes the first ranks GPUs. The error says in one line what is missing.
func Open(ranks int) (*Node, error) { return open(gpus.Options{Ranks: ranks, Share: 1}) }

// OpenFrom takes ranks GPUs from the one of a number on, or the first ones where the process sees no more.
func OpenFrom(first, ranks int) (*Node, error) {
	return open(gpus.Options{Ranks: ranks, Share: 1, First: first})
}

// OpenShared puts up to share ranks on each GPU, ranks that follow one another on different ones:
// to check what needs more ranks than there are GPUs. Times mean nothing then.
func OpenShared(ranks, share int) (*Node, error) {
	return open(gpus.Options{Ranks: ranks, Share: share})
}

func open(o gpus.Options) (*Node, error) {
	if o.Ranks < 1 {
		return nil, fmt.Errorf("%d ranks: must be at least 1", o.Ranks)
	}
	if o.Share < 1 {
		return nil, fmt.Errorf("%d ranks on each GPU: must be at least 1", o.Share)
	}
	set, err := gpus.Open(o)
	if err != nil {
		return nil, err
	}
	node := &Node{set: set, share: o.Share, Deadline: 10 * time.Second}
	for _, g := range set.GPUs {
		x := &gpu{GPU: g, place: g.Rank, modules: map[string]driver.Module{}}
		node.gpus, node.reach = append(node.gpus, x), append(node.reach, &x.regions)
	}
	if err := node.each((*gpu).open); err != nil {
		node.Close()
		return nil, err
	}
	return node, nil
}

// each runs a job on all GPUs' threads at once and waits for all.
func (n *Node) each(work func(*gpu) error) error { return gpus.Each(n.gpus, work) }

// open makes what runs need besides the stream.
func (g *gpu) open() (err error) {
	if g.Major < 7 {
		name, err := g.Device.Name()
		return errors.Join(fmt.Errorf("%s is %s: the kernels need sm_70 or newer", name, g.Arch), err)
	}
	for range 256 {
		e, err := driver.NewEvent(false)
		if err != nil {
			return err
		}
		g.marks = append(g.marks, e)
	}
	if g.began, err = driver.NewEvent(true); err != nil {
		return err
	}
	if g.ended, err = driver.NewEvent(true); err != nil {
		return err
	}
	g.counter, err = driver.Alloc(256)
	return err
}

// Close gives everything back.
func (n *Node) Close() {
	if !n.lost.Load() {
		_ = n.each((*gpu).unshare)
		_ = n.set.Close() // what is left goes with the process
	}
	n.gpus = nil
}

// Each runs work for each of this process's ranks on its thread, all at once, and puts back the GPU that is the thread's.
func (n *Node) Each(work func(rank int) error) error {
	return n.each(func(g *gpu) error { return errors.Join(work(g.Rank), g.Use()) })
}

// Ranks is the number of GPUs.
func (n *Node) Ranks() int { return len(n.gpus) }

// GPU is the name of this machine's GPUs, "" where there are none.
func GPU() string {
	if driver.Load() != nil {
		return ""
	}
	name, _ := driver.Device(0).Name() // "" matches no profile
	return name
}

// Multiprocessors is the number that each GPU has.
func (n *Node) Multiprocessors() int { return n.gpus[0].Multiprocessors }

// Driver describes the machine for a measurement's head: GPU, driver API, compiler.
func (n *Node) Driver() string {
	name, _ := driver.Device(0).Name()
	nvrtc, _ := driver.LoadCompiler()
	return fmt.Sprintf("%s ×%d, driver %s, CUDA %d.%d, NVRTC %s", name, len(n.gpus), driver.ModuleVersion(), driver.Version()/1000,
		driver.Version()%1000/10, nvrtc)
}

// reserve makes input and output memory of at least so many bytes on every GPU of the node, and a
// pool; what is large enough stays. All processes reserve as much.
func (n *Node) reserve(ctx context.Context, input, output, pool int64) error {
	if err := n.together(ctx); err != nil { // nobody uses the memory any more
		return err
	}
	err := n.agree(ctx, n.each(func(g *gpu) error {
		return errors.Join(driver.Synchronize(), g.Reserve(&g.input, input), g.Reserve(&g.output, output), g.Reserve(&g.pool, pool))
	}))
	if err != nil {
		return err
	}
	return n.shareRegions(ctx)
}

// failure is the error of an aborted run; nil where there was none. It clears the word, which others may
// have to see yet where there are such: whoever aborted must load programs anew.
func (n *Node) failure(ctx context.Context) error {
	if !n.set.Aborted() {
		return nil
	}
	if n.others == nil {
		defer func() {
			clear(n.set.Host.Bytes[reportAt:])
			n.set.Resume()
		}()
	}
	r := n.set.Host.Bytes[reportAt:]
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(r[4*i:]) }
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if u(0) == 0 {
		return n.reason(ctx, n.others.why(errors.New("a kernel aborted")))
	}
	want, got := binary.LittleEndian.Uint64(r[32:]), binary.LittleEndian.Uint64(r[40:])
	return fmt.Errorf("deadline of %v passed: rank %d, block %d, operation %d (%s), slice %d: waits for %s "+
		"of %s %d: flag wanted %#x, got %#x",
		n.Deadline, n.number(int(u(1))), u(2), u(3), block.Kind(u(6)), u(4),
		map[bool]string{true: "a packet", false: [...]string{"message", "release"}[u(7)%2]}[u(6) >= 4],
		map[bool]string{true: "packet source", false: "rank"}[u(6) >= 4], u(5), want, got)
}

// settle waits for the streams of all GPUs; when ctx ends it aborts what runs.
func (n *Node) settle(ctx context.Context) error {
	err := n.set.Wait(ctx, func() error {
		if n.others == nil {
			n.set.Abort()
			return nil
		}
		return n.after(context.Cause(ctx))
	})
	if err != nil {
		return err
	}
	return n.failure(ctx)
}
