package ncclgraph

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Import makes the schedule of a collective that NCCL runs over the channels of a file's rings or trees, each with an equal
// share of the data, pipelined in so many pieces; node is each rank's. A ring goes through the nodes in their order, on each as
// the file says, since NCCL joins nodes so (connectRings in src/graph/connect.cc). What joins the trees of nodes is not in the
// file, so trees are of one node, or of one domain of NVLink: there they are chains, the first GPU on top. The root is rank 0.
func (g *Graphs) Import(kind collective.Kind, tree bool, pieces int, node []int) (*schedule.Schedule, error) {
	id, name := RingID, "ring"
	if tree {
		id, name = TreeID, "tree"
	}
	i := slices.IndexFunc(g.Graphs, func(x Graph) bool { return x.ID == id })
	if i < 0 || len(g.Graphs[i].Channels) == 0 {
		return nil, fmt.Errorf("the file has no %s", name)
	}
	x := &g.Graphs[i]
	s := &schedule.Schedule{Algorithm: name, Spec: collective.Spec{Kind: kind, Ranks: len(node)}, Protocol: schedule.Simple,
		Inputs: map[string]string{"imported": "nccl-graph"}}
	if !tree && !slices.Contains(ofRings, kind) || tree && kind != collective.AllReduce {
		return nil, fmt.Errorf("NCCL has no %s for %v", name, kind)
	}
	groups, err := x.groups(node)
	if err != nil {
		return nil, err
	}
	if tree && len(groups) > 1 {
		return nil, fmt.Errorf("line %d: graph %d: its trees are those of a node, the topology has %d: NCCL joins them by trees that the "+
			"file does not hold; import for one node (--nodes 1), or its rings", x.line, x.ID, len(groups))
	}
	for c := range x.Channels {
		ch := schedule.Channel{Share: 1, Slices: pieces, Chunks: 1}
		order, err := x.order(c, groups)
		if err != nil {
			return nil, err
		}
		if tree {
			ch.Phases = chain(order)
		} else {
			ch.Phases = ring(kind, order)
			if !kind.Rooted() {
				ch.Chunks = len(order)
			}
		}
		s.Channels = append(s.Channels, ch)
	}
	return s, s.Validate()
}

// ofRings is what NCCL does by rings.
var ofRings = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
	collective.Reduce}

func ring(kind collective.Kind, order []int32) []schedule.Phase {
	acc := schedule.Scratch
	if kind == collective.AllReduce {
		acc = schedule.Output
	}
	ph := schedule.Phase{Gen: schedule.GenRing, Op: kind, Groups: over(order), Src: schedule.Input, Acc: acc, Dst: schedule.Output}
	if kind.Rooted() {
		ph.Root = slices.Index(order, 0)
	}
	return []schedule.Phase{ph}
}

// chain is a reduction up to the first rank, and a broadcast down again.
func chain(order []int32) []schedule.Phase {
	parents := make(schedule.RankList, len(order))
	for i := range parents {
		parents[i] = int32(i) - 1
	}
	up := schedule.Phase{Gen: schedule.GenTree, Op: collective.Reduce, Groups: over(order), Src: schedule.Input, Acc: schedule.Scratch,
		Dst: schedule.Output, Parents: parents}
	down := up
	down.Op, down.Src, down.Acc = collective.Broadcast, schedule.Output, schedule.Output
	return []schedule.Phase{up, down}
}

func over(order []int32) schedule.Groups {
	return schedule.Groups{List: []schedule.Group{{Ranks: order}}}
}

// groups are the ranks that channels go through one after another: those of each node, or all where the file has all of them.
func (g *Graph) groups(node []int) ([][]int32, error) {
	n := len(g.Channels[0].GPUs)
	if n == len(node) {
		all := make([]int32, n)
		for r := range all {
			all[r] = int32(r)
		}
		return [][]int32{all}, nil
	}
	var out [][]int32
	for r := range node {
		if r == 0 || node[r] != node[r-1] {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], int32(r))
	}
	for i, ranks := range out {
		if len(ranks) != n {
			return nil, fmt.Errorf("line %d: graph %d: channels visit %d GPUs, node %d of the topology has %d: "+
				"choose them with --gpus, or another topology", g.line, g.ID, n, i, len(ranks))
		}
	}
	return out, nil
}

// order is that in which a channel visits the ranks of all groups. Where crossnic is 2, odd nodes have the neighbouring
// channel's (connectRings).
func (g *Graph) order(channel int, groups [][]int32) ([]int32, error) {
	var out []int32
	for i, ranks := range groups {
		c := channel
		if other := c ^ 1; g.CrossNIC == 2 && i%2 == 1 && len(g.Channels)%2 == 0 {
			c = other
		}
		gpus := g.Channels[c].GPUs
		sorted := slices.SortedFunc(slices.Values(gpus), before)
		for k := range gpus {
			if (gpus[k].Rank < 0) != (gpus[0].Rank < 0) {
				return nil, fmt.Errorf("line %d: graph %d channel %d: some GPUs have a rank, others none", g.Channels[c].line, g.ID, c)
			}
			at, _ := slices.BinarySearchFunc(sorted, gpus[k], before)
			out = append(out, ranks[at])
		}
	}
	return out, nil
}

// before is the order of ranks: by number, where none has one by device.
func before(a, b GPU) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Dev, b.Dev)) }

// names are what the graphs are for, by id.
var names = []string{"ring", "tree", "CollNet chain", "NVLS", "CollNet direct"}

// Summary says in a line for each graph what NCCL's search has found.
func (g *Graphs) Summary() (out []string) {
	for i := range g.Graphs {
		x := &g.Graphs[i]
		text := fmt.Sprintf("%s: %d channels in %d orders, each %g GB/s inside a node (%s)", names[x.ID], len(x.Channels), x.orders(),
			x.SpeedIntra, x.TypeIntra)
		if len(x.Channels) > 0 && len(x.Channels[0].Nets) > 0 {
			text += fmt.Sprintf(", %g GB/s between nodes (%s)", x.SpeedInter, x.TypeInter)
		}
		out = append(out, text)
	}
	return out
}

// orders is how many of the channels' orders differ.
func (g *Graph) orders() (n int) {
	for i, c := range g.Channels {
		if !slices.ContainsFunc(g.Channels[:i], func(o Channel) bool { return slices.Equal(o.GPUs, c.GPUs) }) {
			n++
		}
	}
	return n
}
