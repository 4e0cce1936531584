package sim

import (
	"encoding/binary"
	"reflect"
	"slices"

	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// nodeSymmetry is a group of permutations of the nodes that leaves the schedule, which claims it and
// bears it out, and the topology as they are: the first node of each orbit is compiled for all, and of connections
// one for all to which the group takes it. It spares compiling what folding would then find
// to be equal.
//
// Along each axis of the schedule's grid of nodes, a group of its own permutes them. Where
// everybody talks to everybody along it at once, coordinates may go to any equivalent ones,
// which leaves a sender where it is and takes one of its peers to others: of these, the program
// then has the first one. Where rings run, or partners differ in a bit, all move as far.
type nodeSymmetry struct {
	*topology.Symmetry
	node  []int32 // by rank
	first []int32 // by node: its first rank
	times []int32 // by channel: how many equal ones it stands for; 0: another stands for it
	joins bool    // peers may be equivalent
}

// findSymmetry is nil where the schedule's or the topology's structure shows none.
func findSymmetry(t *topology.Topology, s *schedule.Schedule, programs *schedule.Expander) *nodeSymmetry {
	if t.NumNodes() < 2 {
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
	x := newNodeAxes(y, s)
	if x == nil {
		return nil
	}
	axes := make([]symmetry.Group, len(x.dims))
	for a := range axes {
		axes[a] = symmetry.Digits{}
	}
	for a := range axes {
		for _, group := range x.groups(t, a) {
			axes[a] = group
			if sym, ok := topology.NewSymmetry(t, symmetry.NewProduct(x.dims, axes)); ok && x.bearsOut(programs, sym, a, group) {
				_, tree := group.(*symmetry.Tree)
				y.Symmetry, y.joins = sym, y.joins || tree
				break
			}
			axes[a] = symmetry.Digits{}
		}
	}
	if y.Symmetry == nil {
		return nil
	}
	return y
}

// bearsOut asks the programs of the first nodes of a group's orbits whether permutations along one of its axes
// leave the schedule as it is; of a grid's phases, which have one rule for all coordinates along the other axes, the first rank's.
func (x *nodeAxes) bearsOut(programs *schedule.Expander, whole *topology.Symmetry, axis int, group symmetry.Group) bool {
	ranks, d := x.ranks(whole), symmetry.Radix(x.dims)[axis]
	if !x.asymmetric {
		ranks = slices.DeleteFunc(ranks, func(r int32) bool { return r != x.first[x.node[r]] })
	}
	var moves []func(rank int32) int32
	for _, move := range group.Generators() {
		moves = append(moves, func(rank int32) int32 {
			n := x.node[rank]
			c := d.Of(n)
			return x.first[n+(int32(move(int(c)))-c)*d.Stride] + rank - x.first[n]
		})
	}
	for c, times := range x.times {
		if times > 0 && !programs.BearsOut(c, ranks, moves) {
			return false
		}
	}
	return true
}

// label tells nodes apart that the schedule does: the root's, and kinds of nodes.
func (y *nodeSymmetry) label(s *schedule.Schedule) func(node int) int {
	keys := make([]string, len(y.first))
	for n := range keys {
		var key []byte
		if s.Spec.Kind.Rooted() && int(y.node[s.Spec.Root]) == n {
			key = append(key, 0)
		}
		for i := range s.Channels {
			if k := s.Channels[i].Kinds; k != nil && n < len(k.Nodes) {
				key = binary.AppendVarint(key, int64(k.Nodes[n]))
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

// nodeAxes are the axes of the schedule's grid of nodes, and what all channels leave of the permutations
// along each.
type nodeAxes struct {
	*nodeSymmetry
	dims       []int32 // outermost first
	along      []schedule.Along
	label      func(node int) int
	asymmetric bool // nodes differ in what the schedule does
}

// newNodeAxes is nil where channels differ in their grids, or these are not of nodes.
func newNodeAxes(y *nodeSymmetry, s *schedule.Schedule) *nodeAxes {
	x := &nodeAxes{nodeSymmetry: y, label: y.label(s)}
	for i := range s.Channels {
		dims, along := x.axes(s, i)
		if dims == nil || i > 0 && !slices.Equal(dims, x.dims) || symmetry.Radix(dims).Count() != len(y.first) {
			return nil
		}
		if x.dims = dims; i == 0 {
			x.along = along
		}
		for a := range dims {
			x.along[a] = x.along[a].Narrow(along[a])
		}
	}
	return x
}

// axes are those of a channel along which nodes may be permuted.
func (x *nodeAxes) axes(s *schedule.Schedule, channel int) ([]int32, []schedule.Along) {
	if k := s.Channels[channel].Kinds; k != nil { // along one axis, on which nodes may stand in any order
		if x.asymmetric = true; !x.kinds(k) {
			return nil, nil
		}
		return []int32{int32(len(x.first))}, []schedule.Along{schedule.AnyOrder}
	}
	local := x.local()
	if local == 0 {
		return nil, nil
	}
	dims, along := s.Axes(channel)
	switch last := len(dims) - 1; {
	case last == 0:
		return []int32{int32(len(x.first))}, along
	case dims[last] == local:
		return dims[:last], along[:last]
	}
	return nil, nil
}

// kinds reports whether a channel's kinds are those of these nodes.
func (x *nodeAxes) kinds(k *schedule.Kinds) bool {
	for n := range x.first {
		if len(k.Nodes) != len(x.first) || x.size(n) != k.Ranks(n) {
			return false
		}
	}
	return true
}

// groups are those to try along an axis, the largest first.
func (x *nodeAxes) groups(t *topology.Topology, axis int) (out []symmetry.Group) {
	along := x.along[axis]
	if along == schedule.AnyOrder {
		out = append(out, t.AxisTree(x.dims, axis, x.label))
	}
	if along != schedule.Standing && !x.asymmetric {
		out = append(out, symmetry.Digits{{Size: x.dims[axis], Stride: 1, Xor: along == schedule.Flipping}})
	}
	return out
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
func (y *nodeSymmetry) ranks(nodes symmetry.Group) []int32 {
	var out []int32
	for r, n := range y.node {
		if first, _ := nodes.Orbit(int(n)); first == int(n) {
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
