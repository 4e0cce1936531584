package ncclgraph

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/schedule"
)

// Machine is what a schedule does not say: where ranks are and what NCCL measured.
type Machine struct {
	Node []int   // by rank
	Dev  []int64 // by rank: its number on the node
	// One makes the file of node This alone, for plans that are not alike on all nodes.
	One  bool
	This int
	// NIC is the NIC of a GPU, by its number on the node; nil on a single node.
	NIC func(dev int64) int64
	// Channels are as many as NCCL's own search finds, of such speeds: each is a thread block, which moves no more than its speed. 0:
	// as many as the plan has.
	Channels               int
	SpeedIntra, SpeedInter float64 // GB/s a channel
	TypeIntra, TypeInter   string
}

const chains = "NCCL's trees are chains inside a node, in the order in which the plan's trees are walked from the root; " +
	"between nodes it builds its own"

// Export makes the graphs of a schedule whose channels are rings or trees over all
// ranks. NCCL joins nodes by itself, so only the order inside a node counts; it must be
// the same on all nodes unless the file is for one. The notes say what NCCL cannot follow.
func Export(s *schedule.Schedule, m Machine) (*Graphs, []string, error) {
	if err := s.Plain(); err != nil {
		return nil, nil, err
	}
	x := schedule.NewExpander(s)
	ring := Graph{ID: RingID, Pattern: RingPattern}
	tree := Graph{ID: TreeID, Pattern: TreePattern}
	var notes []string
	for c := range s.Channels {
		order, isRing, err := orderOf(x, s, c)
		if err != nil {
			return nil, nil, fmt.Errorf("channel %d: %w", c, err)
		}
		ch, err := m.channel(order)
		if err != nil {
			return nil, nil, fmt.Errorf("channel %d: %w", c, err)
		}
		if isRing {
			ring.Channels = append(ring.Channels, ch)
			continue
		}
		if !slices.Contains(notes, chains) {
			notes = append(notes, chains)
		}
		tree.Channels = append(tree.Channels, ch)
	}
	out := &Graphs{}
	for _, g := range []Graph{ring, tree} {
		if len(g.Channels) > 0 {
			m.complete(&g)
			out.Graphs = append(out.Graphs, g)
		}
	}
	return out, notes, out.Validate()
}

// complete gives a graph as many channels as NCCL's own search finds, or the next multiple of the plan's, which take turns as in
// ncclTopoDupChannels (src/graph/search.cc:1036), and fills in what they have in common. More channels share the rate.
func (m *Machine) complete(g *Graph) {
	plan := g.Channels
	found := cmp.Or(m.Channels, len(plan))
	for len(g.Channels) < found && len(g.Channels)+len(plan) <= maxFound {
		g.Channels = append(g.Channels, plan...)
	}
	share := min(float64(found)/float64(len(g.Channels)), 1)
	g.SpeedIntra, g.SpeedInter, g.TypeIntra, g.TypeInter = m.SpeedIntra*share, m.SpeedInter*share, m.TypeIntra, m.TypeInter
	g.SameChannels = true
	for _, c := range g.Channels {
		g.SameChannels = g.SameChannels && slices.Equal(c.GPUs, g.Channels[0].GPUs)
		if len(c.Nets) == 2 && c.Nets[0] != c.Nets[1] {
			g.CrossNIC = 1 // 2 would have NCCL exchange neighbouring channels on odd nodes (src/graph/connect.cc)
		}
	}
}

// orderOf is the order in which a channel visits the ranks: along its ring, or down its
// tree from the root.
func orderOf(x *schedule.Expander, s *schedule.Schedule, channel int) (order []int, ring bool, err error) {
	n := s.Spec.Ranks
	next := make([][]int, n)
	edges := 0
	for r := range n {
		for p := range s.Channels[channel].Phases {
			for _, op := range x.AppendProgram(nil, channel, p, r) {
				if op.Kind == schedule.Send && !slices.Contains(next[r], int(op.Peer)) {
					next[r] = append(next[r], int(op.Peer))
					edges++
				}
			}
		}
	}
	order = walk(next, 0)
	if edges == n && len(order) == n && n > 2 {
		return order, true, nil
	}
	if n == 2 && edges == 2 && s.Channels[channel].Phases[0].Gen == schedule.GenRing {
		return order, true, nil
	}
	return treeOrder(next, s, channel)
}

// walk follows sends, each rank once, depth first.
func walk(next [][]int, from int) []int {
	seen := make([]bool, len(next))
	var order []int
	stack := []int{from}
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[r] {
			continue
		}
		seen[r] = true
		order = append(order, r)
		stack = append(stack, next[r]...)
	}
	return order
}

// treeOrder walks the tree of a channel from its root.
func treeOrder(next [][]int, s *schedule.Schedule, channel int) ([]int, bool, error) {
	links := map[[2]int]bool{}
	both := make([][]int, len(next))
	for r, list := range next {
		for _, to := range list {
			key := [2]int{min(r, to), max(r, to)}
			if !links[key] {
				links[key] = true
				both[r], both[to] = append(both[r], to), append(both[to], r)
			}
		}
	}
	root := 0
	for _, ph := range s.Channels[channel].Phases {
		if ph.Gen == schedule.GenTree && len(ph.Groups.List) == 1 {
			root = int(ph.Groups.List[0].Ranks[ph.Root])
		}
	}
	order := walk(both, root)
	if len(links) != len(next)-1 || len(order) != len(next) {
		return nil, false, fmt.Errorf("is neither a ring nor a tree over all ranks, and NCCL has nothing else: " +
			"plan with --algo ring or double_binary_tree")
	}
	return order, false, nil
}

// channel is the part of an order on a node, which must be alike on all nodes.
func (m *Machine) channel(order []int) (Channel, error) {
	parts := map[int][]int{}
	var nodes []int
	for _, r := range m.rotated(order) {
		n := m.Node[r]
		if parts[n] == nil {
			nodes = append(nodes, n)
		}
		parts[n] = append(parts[n], r)
	}
	single := len(nodes) == 1 || m.One
	devs := func(n int) []GPU {
		var out []GPU
		for _, r := range parts[n] {
			g := GPU{m.Dev[r], -1}
			if single {
				g.Rank = r
			}
			out = append(out, g)
		}
		return out
	}
	first := nodes[0]
	if m.One {
		first = m.This
	}
	c := Channel{GPUs: devs(first)}
	for _, n := range nodes {
		if !m.One && !slices.Equal(devs(n), c.GPUs) {
			return c, fmt.Errorf("visits the GPUs of node %d in another order than those of node %d: "+
				"make a file for each node (--node)", n, first)
		}
	}
	if len(nodes) > 1 && m.NIC != nil && len(c.GPUs) > 0 {
		c.Nets = []int64{m.NIC(c.GPUs[0].Dev), m.NIC(c.GPUs[len(c.GPUs)-1].Dev)}
	}
	return c, nil
}

// Orders are the ranks that the channels of a graph of this machine visit, on the first node or, of a file for one, on that.
func (m *Machine) Orders(g *Graph) (out [][]int) {
	rank := map[int64]int{}
	for r, node := range m.Node {
		if node == m.This {
			rank[m.Dev[r]] = r
		}
	}
	for _, c := range g.Channels {
		var order []int
		for _, gpu := range c.GPUs {
			order = append(order, rank[gpu.Dev])
		}
		out = append(out, order)
	}
	return out
}

// rotated begins an order where it enters a node.
func (m *Machine) rotated(order []int) []int {
	for i, r := range order {
		if prev := order[(i+len(order)-1)%len(order)]; m.Node[prev] != m.Node[r] {
			return append(slices.Clone(order[i:]), order[:i]...)
		}
	}
	return order
}
