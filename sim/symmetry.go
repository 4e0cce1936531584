package sim

import (
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
	// By channel, and how far nodes turn: where each phase comes from; nil: they stay. They move only where all nodes are one ring.
	back [][][]int32
}

// findSymmetry is nil where the schedule's or the topology's structure shows none. Of a plan that differs in slices alone, if there is one,
// it is the same.
func findSymmetry(t *topology.Topology, s *schedule.Schedule, programs *schedule.Expander, like *Plan) *nodeSymmetry {
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
	if like != nil && like.symmetry != nil {
		y.Symmetry, y.joins = like.symmetry.Symmetry, like.symmetry.joins
		y.back = slices.Repeat(like.symmetry.back[:1], len(s.Channels)) // channels of plans that share programs are all alike
		return y
	}
	x := newNodeAxes(y, t, s)
	if x == nil {
		return nil
	}
	axes := make([]symmetry.Group, len(x.dims))
	for a := range axes {
		axes[a] = symmetry.Digits{}
	}
	for a := len(axes) - 1; a >= 0; a-- {
		narrowed := false
		for groups := x.groups(t, a); len(groups) > 0; groups = groups[1:] {
			axes[a] = groups[0]
			sym, ok := topology.NewSymmetry(t, symmetry.NewProduct(x.dims, x.place, axes))
			if ok && x.bearsOut(programs, sym, axes, a) {
				_, tree := axes[a].(*symmetry.Tree)
				y.Symmetry, y.joins = sym, y.joins || tree
				break
			}
			if ok && !narrowed {
				if group := x.narrower(t, programs, sym, axes, a); group != nil {
					narrowed, groups = true, slices.Insert(groups, 1, group)
				}
			}
			axes[a] = symmetry.Digits{}
		}
	}
	if y.Symmetry == nil {
		return nil
	}
	for _, turn := range x.turns {
		y.back = append(y.back, turnedBack(turn, len(y.first)))
	}
	return y
}

// turnedBack says by how far nodes turn where phases come from, which a turn by one brings to others.
func turnedBack(turn []int32, nodes int) [][]int32 {
	if turn == nil {
		return nil
	}
	out := [][]int32{symmetry.InPlace(len(turn))}
	for n := 1; n < nodes; n++ {
		next := make([]int32, len(turn))
		for p, q := range turn {
			next[q] = out[n-1][p]
		}
		out = append(out, next)
	}
	return out
}

// bearsOut asks programs whether permutations along one axis leave the schedule as it is. Of what others leave, which are known to,
// one rank is asked for all, since permutations along several axes commute. So is the first group of nodes of each kind along axes inside
// of groups, as programs are moved to others by definition; and the first rank of a node where phases have a grid, with one rule for all.
func (x *nodeAxes) bearsOut(programs *schedule.Expander, whole *topology.Symmetry, axes []symmetry.Group, axis int) bool {
	only := slices.Repeat([]symmetry.Group{symmetry.Digits{}}, len(axes))
	only[axis] = axes[axis]
	var moves []func(rank int32) int32
	for _, move := range symmetry.NewProduct(x.dims, x.place, only).Generators() {
		moves = append(moves, func(rank int32) int32 {
			n := x.node[rank]
			return x.first[move(int(n))] + rank - x.first[n]
		})
	}
	for c, times := range x.times {
		if c > 0 && x.channels[c].SharesPrograms(&x.channels[c-1]) {
			continue
		}
		if times > 0 && !programs.BearsOut(c, x.asked(whole, axes, axis, c), moves, x.turns[c]) {
			return false
		}
	}
	return true
}

// asked are the ranks whose programs in a channel bear out permutations along an axis for all.
func (x *nodeAxes) asked(whole *topology.Symmetry, axes []symmetry.Group, axis, channel int) []int32 {
	switch {
	case x.turns[channel] != nil:
		return x.ranks(whole)
	case !x.asymmetric:
		return slices.DeleteFunc(x.ranks(whole), func(r int32) bool { return r != x.first[x.node[r]] })
	case axis == 0:
		return x.ranks(whole)
	}
	others := slices.Clone(axes)
	others[axis] = symmetry.Digits{}
	in := x.inKinds(x.channels[channel].Kinds)
	group := map[int32]int32{} // by kind: the first one
	for i := len(in) - 1; i >= 0; i-- {
		group[in[i].kind] = in[i].group
	}
	return slices.DeleteFunc(x.ranks(symmetry.NewProduct(x.dims, x.place, others)), func(r int32) bool {
		at := in[x.node[r]]
		return at.group != group[at.kind]
	})
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

// multiplicity is how many ranks one of a first node stands for.
func (y *nodeSymmetry) multiplicity(rank int32) int32 {
	_, size := y.Orbit(int(y.node[rank]))
	return int32(size)
}

// representative is the rank that stands for one.
func (y *nodeSymmetry) representative(rank int32) int32 {
	n := y.node[rank]
	first, _ := y.Orbit(int(n))
	return y.first[first] + rank - y.first[n]
}

// canonical is the connection that stands for one, and how many of its sender's it stands for.
func (y *nodeSymmetry) canonical(src, dst int32) (from, to, count int32) {
	a, b := y.node[src], y.node[dst]
	second, n := y.Pair(int(a), int(b))
	return y.representative(src), y.first[second] + dst - y.first[b], int32(n)
}

// phase is where one comes when its sender goes to the first of its orbit.
func (y *nodeSymmetry) phase(channel, phase, src int32) int32 {
	if back := y.back[channel]; back != nil {
		return back[y.node[src]][phase]
	}
	return phase
}

// spread gives all ranks what those send that stand for them.
func (y *nodeSymmetry) spread(r *Result) {
	for i := range r.SentBytes {
		n := y.node[i]
		first, _ := y.Orbit(int(n))
		r.SentBytes[i] = r.SentBytes[y.first[first]+int32(i)-y.first[n]]
	}
}
