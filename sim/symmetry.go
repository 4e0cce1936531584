package sim

import (
	"encoding/binary"
	"reflect"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// nodeSymmetry is a group of permutations of the nodes that leaves the schedule and the
// topology as they are: the first node of each orbit is compiled for all, and of connections
// one for all to which the group takes it. It spares compiling what folding would then find
// to be equal.
//
// Where in every phase everybody talks to everybody at once, or to all of the rail, nodes may
// go to any equivalent ones, which leaves a sender where it is and takes one of its peers to
// others: of these, the program then has the first one. Else nodes move along the axes of the
// schedule's grid, and no two of a sender's connections are one.
type nodeSymmetry struct {
	*topology.Symmetry
	node  []int32 // by rank
	first []int32 // by node: its first rank
	times []int32 // by channel: how many equal ones it stands for; 0: another stands for it
	joins bool    // peers may be equivalent
}

// findSymmetry is nil where the schedule's or the topology's structure shows none.
func findSymmetry(t *topology.Topology, s *schedule.Schedule) *nodeSymmetry {
	if t.NumNodes() < 2 || !s.Spec.Uniform() {
		return nil
	}
	y := &nodeSymmetry{first: make([]int32, t.NumNodes()), times: equalChannels(s)}
	for r := range t.NumRanks() {
		n := int32(t.NodeOf(r))
		if r == 0 || n != y.node[r-1] {
			y.first[n] = int32(r)
		}
		y.node = append(y.node, n)
	}
	if y.joins = everyPhase(s, y.toAnyNode); y.joins {
		if y.Symmetry, y.joins = topology.NewSymmetry(t, t.NodeTree(y.label(s))); y.joins {
			return y
		}
	}
	dims := y.axes(t, s)
	if dims == nil {
		return nil
	}
	var ok bool
	if y.Symmetry, ok = topology.NewSymmetry(t, dims); !ok {
		return nil
	}
	return y
}

func everyPhase(s *schedule.Schedule, holds func(*schedule.Channel, *schedule.Phase) bool) bool {
	for i := range s.Channels {
		for j := range s.Channels[i].Phases {
			if !holds(&s.Channels[i], &s.Channels[i].Phases[j]) {
				return false
			}
		}
	}
	return true
}

// label tells nodes apart that the schedule does: the root's, and kinds of bent rails.
func (y *nodeSymmetry) label(s *schedule.Schedule) func(node int) int {
	keys := make([]string, len(y.first))
	for n := range keys {
		var key []byte
		if s.Spec.Kind.Rooted() && int(y.node[s.Spec.Root]) == n {
			key = append(key, 0)
		}
		for i := range s.Channels {
			if b := s.Channels[i].Bends; b != nil {
				key = binary.AppendVarint(key, int64(b.Nodes[n]))
			}
		}
		keys[n] = string(key)
	}
	of := symmetry.Number(keys).Of
	return func(n int) int { return int(of[n]) }
}

// size is how many ranks a node has.
func (y *nodeSymmetry) size(node int) int32 {
	if node+1 < len(y.first) {
		return y.first[node+1] - y.first[node]
	}
	return int32(len(y.node)) - y.first[node]
}

// local is how many ranks each node has; 0 where they differ.
func (y *nodeSymmetry) local() int32 {
	for n := range y.first {
		if y.size(n) != y.size(0) {
			return 0
		}
	}
	return y.size(0)
}

// toAnyNode reports whether in a phase everybody talks to everybody at once, or to all of the
// node, or of the rail: in which order a program does that makes no difference to time, so
// that nodes may be put into any order.
func (y *nodeSymmetry) toAnyNode(ch *schedule.Channel, ph *schedule.Phase) bool {
	if ph.Gen == schedule.GenBends {
		for n := range y.first {
			if len(ch.Bends.Nodes) != len(y.first) || y.size(n) != ch.Bends.Ranks(n) {
				return false
			}
		}
		return true
	}
	g, local := ph.Groups.Grid, y.local()
	switch {
	case local == 0 || !toAll(ph) || !cyclic(ph) || ph.Op == collective.SendRecv:
		return false
	case g != nil: // teams of switches lie within a node
		return len(g.Dims) == 2 && g.Dims[1] == local && (ph.Gen == schedule.GenDirect || g.Axis == 1)
	}
	return ph.Gen == schedule.GenDirect && y.oneGroup(ph)
}

// oneGroup reports whether a phase has one group of all ranks in order.
func (y *nodeSymmetry) oneGroup(ph *schedule.Phase) bool {
	if len(ph.Groups.List) != 1 {
		return false
	}
	g := &ph.Groups.List[0]
	return g.Parts == nil && g.Whole == (schedule.ChunkSet{}) && slices.Equal(g.Ranks, upTo(len(y.node)))
}

// exclusive reports whether partners differ in one bit of their positions.
func exclusive(ph *schedule.Phase) bool {
	n := 0
	if len(ph.Groups.List) > 0 {
		n = len(ph.Groups.List[0].Ranks)
	}
	return ph.Gen == schedule.GenDoubling && (ph.Op != collective.AllReduce || n > 0 && n&(n-1) == 0)
}

// cyclic reports whether all positions of a phase's groups run the same program, with
// peers at the same distances.
func cyclic(ph *schedule.Phase) bool {
	switch ph.Op {
	case collective.ReduceScatter, collective.AllGather, collective.AllReduce, collective.AllToAll, collective.AllToAllV,
		collective.Barrier, collective.SendRecv:
		return ph.Gen == schedule.GenRing || toAll(ph)
	}
	return false
}

// toAll reports whether the ranks of a phase send to all others at once.
func toAll(ph *schedule.Phase) bool {
	return ph.Gen == schedule.GenDirect || ph.Gen == schedule.GenSwitch
}

// axes are the moves along the axes of the nodes' grid that leave all phases as they are; nil
// where there are none.
func (y *nodeSymmetry) axes(t *topology.Topology, s *schedule.Schedule) symmetry.Digits {
	if s.Spec.Kind.Rooted() || y.local() == 0 {
		return nil
	}
	x := &nodeAxes{nodeSymmetry: y, xor: map[int]bool{}}
	if !everyPhase(s, func(_ *schedule.Channel, ph *schedule.Phase) bool { return x.phase(ph) }) {
		return nil
	}
	if x.dims == nil {
		x.dims = t.NodeGrid() // nothing leaves the nodes
	}
	out := symmetry.Radix(x.dims)
	for axis, xor := range x.xor {
		out[axis].Xor = xor
	}
	return out
}

// nodeAxes narrows the moves of the nodes phase by phase.
type nodeAxes struct {
	*nodeSymmetry
	dims []int32      // of the grid of nodes, outermost first
	xor  map[int]bool // by axis that a phase runs along: moves are exclusive or, else addition modulo
}

// phase narrows the moves to those that leave a phase as it is.
func (x *nodeAxes) phase(ph *schedule.Phase) bool {
	g, local, nodes := ph.Groups.Grid, x.local(), int32(len(x.first))
	switch {
	case ph.Gen == schedule.GenOps || ph.Gen == schedule.GenTrees || ph.Gen == schedule.GenBends:
		return false
	case g == nil:
		power := nodes&(nodes-1) == 0 && local&(local-1) == 0
		return x.oneGroup(ph) && x.grid([]int32{nodes}) && (cyclic(ph) && x.axis(0, false) || power && exclusive(ph) && x.axis(0, true))
	}
	last := len(g.Dims) - 1
	switch {
	case g.Alternate || g.Dims[last] != local || !x.grid(g.Dims[:last]):
		return false
	case g.Axis == last: // inside the node
		return true
	case g.Order != nil:
		return false
	}
	return cyclic(ph) && x.axis(g.Axis, false) || exclusive(ph) && x.axis(g.Axis, true)
}

// grid fixes the dimensions.
func (x *nodeAxes) grid(dims []int32) bool {
	if x.dims == nil {
		x.dims = dims
	}
	return len(dims) > 0 && slices.Equal(x.dims, dims) && symmetry.Radix(dims).Count() == len(x.first)
}

// axis fixes the kind of move along an axis.
func (x *nodeAxes) axis(axis int, xor bool) bool {
	if was, fixed := x.xor[axis]; fixed {
		return was == xor
	}
	x.xor[axis] = xor
	return true
}

// equalChannels says for each channel how many it stands for: those that follow it and
// are equal in all but name.
func equalChannels(s *schedule.Schedule) []int32 {
	times := make([]int32, len(s.Channels))
	for i := range s.Channels {
		first := i
		for j := range i {
			if times[j] > 0 && reflect.DeepEqual(s.Channels[i], s.Channels[j]) {
				first = j
				break
			}
		}
		times[first]++
	}
	return times
}

// ranks are those of the first nodes of all orbits.
func (y *nodeSymmetry) ranks() []int32 {
	var out []int32
	for r, n := range y.node {
		if first, _ := y.Orbit(int(n)); first == int(n) {
			out = append(out, int32(r))
		}
	}
	return out
}

// standsFor is how many ranks one of a first node stands for.
func (y *nodeSymmetry) standsFor(rank int32) int32 {
	_, size := y.Orbit(int(y.node[rank]))
	return int32(size)
}

// canonical is the connection that stands for one, and how many of its sender's it stands for.
func (y *nodeSymmetry) canonical(src, dst int32) (from, to, count int32) {
	a, b := y.node[src], y.node[dst]
	first, _ := y.Orbit(int(a))
	second, n := y.Pair(int(a), int(b))
	return y.first[first] + src - y.first[a], y.first[second] + dst - y.first[b], int32(n)
}

// spread gives all ranks and links what those that stand for them carry.
func (y *nodeSymmetry) spread(r *Result, links int) {
	for i := range r.SentBytes {
		n := y.node[i]
		first, _ := y.Orbit(int(n))
		r.SentBytes[i] = r.SentBytes[y.first[first]+int32(i)-y.first[n]]
	}
	spreadLinks(r, y.Symmetry, links)
}
