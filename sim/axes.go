package sim

import (
	"encoding/binary"
	"slices"

	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// nodeAxes are the axes of the schedule's grid of nodes, and what all channels leave of the permutations
// along each. Where programs are those of first groups of nodes, and these the topology's, the axes are its tiers: the number
// that a group has in the one above it, of which groups of several sizes do not all have as many.
type nodeAxes struct {
	*nodeSymmetry
	channels   []schedule.Channel
	dims       []int32 // outermost first
	place      []int32 // by node: where it is in the grid (see symmetry.NewProduct)
	along      []schedule.Along
	turns      [][]int32 // by channel, of trees: where a turn by one node brings each phase
	label      func(node int) int
	asymmetric bool // nodes differ in what the schedule does
}

// newNodeAxes is nil where channels differ in their grids, or these are not of nodes.
func newNodeAxes(y *nodeSymmetry, t *topology.Topology, s *schedule.Schedule) *nodeAxes {
	x := &nodeAxes{nodeSymmetry: y, channels: s.Channels, place: symmetry.InPlace(len(y.first)), turns: make([][]int32, len(s.Channels))}
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
	tiers := x.byTiers(t, s)
	x.label = y.label(s, !tiers)
	return x
}

// axes are those of a channel along which nodes may be permuted.
func (x *nodeAxes) axes(s *schedule.Schedule, channel int) ([]int32, []schedule.Along) {
	if k := s.Channels[channel].Kinds; k != nil { // along one axis, on which nodes may stand in any order
		if x.asymmetric = true; x.inKinds(k) == nil {
			return nil, nil
		}
		return []int32{int32(len(x.first))}, []schedule.Along{schedule.AnyOrder}
	}
	local := x.local()
	if local == 0 {
		return nil, nil
	}
	if x.turns[channel] = x.treeTurn(s, channel, local); x.turns[channel] != nil {
		return []int32{int32(len(x.first))}, []schedule.Along{schedule.Turning}
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

// treeTurn is a channel's turn of trees (see schedule.TreeTurn) by a node of so many ranks.
func (x *nodeAxes) treeTurn(s *schedule.Schedule, channel int, local int32) []int32 {
	switch ch := &s.Channels[channel]; {
	case ch.Trees == nil || ch.Trees.Local != local:
		return nil
	case channel > 0 && ch.SharesPrograms(&s.Channels[channel-1]):
		return x.turns[channel-1]
	}
	return s.TreeTurn(channel)
}

// byTiers makes the topology's tiers of nodes the axes, if groups of the outermost one are what all channels take for nodes.
func (x *nodeAxes) byTiers(t *topology.Topology, s *schedule.Schedule) bool {
	tiers := t.NodeTiers()
	if len(tiers) == 0 {
		return false
	}
	for i := range s.Channels {
		k := s.Channels[i].Kinds
		if k == nil {
			return false
		}
		for n, in := range x.inKinds(k) {
			if in.group != tiers[0][n] {
				return false
			}
		}
	}
	groups := slices.Concat([][]int32{make([]int32, len(x.first))}, tiers, [][]int32{x.place}) // from all nodes to each
	x.dims, x.along, x.place = nil, nil, make([]int32, len(x.first))
	for i, of := range groups[1:] {
		number, next := map[int32]int32{}, map[int32]int32{} // of a group; in the one above it
		size := int32(0)
		for n, g := range of {
			if _, ok := number[g]; !ok {
				number[g] = next[groups[i][n]]
				next[groups[i][n]]++
			}
			size = max(size, number[g]+1)
		}
		for n, g := range of {
			x.place[n] = x.place[n]*size + number[g]
		}
		x.dims, x.along = append(x.dims, size), append(x.along, schedule.AnyOrder)
	}
	return true
}

// inKind is where a node is among what a channel's kinds take for nodes: a group of this kind, in which it has this place.
type inKind struct{ node, kind, group, place int32 }

// inKinds are those of all nodes; nil where groups are not of whole nodes.
func (y *nodeSymmetry) inKinds(k *schedule.Kinds) (out []inKind) {
	for group, kind := range k.Nodes {
		left := k.Ranks(group)
		for place := int32(0); left > 0 && len(out) < len(y.first); place++ {
			left -= y.size(len(out))
			out = append(out, inKind{int32(len(out)), kind, int32(group), place})
		}
		if left != 0 {
			return nil
		}
	}
	return out
}

// label tells nodes apart that the schedule does: the root's, and kinds of nodes, or of groups, in which, if they are to stay, each has
// its place.
func (y *nodeSymmetry) label(s *schedule.Schedule, stay bool) func(node int) int {
	keys := make([][]byte, len(y.first))
	if s.Spec.Kind.Rooted() {
		keys[y.node[s.Spec.Root]] = []byte{0}
	}
	for i := range s.Channels {
		if k := s.Channels[i].Kinds; k != nil {
			for n, in := range y.inKinds(k) {
				keys[n] = binary.AppendVarint(keys[n], int64(in.kind))
				if stay {
					keys[n] = binary.AppendVarint(keys[n], int64(in.place))
				}
			}
		}
	}
	names := make([]string, len(keys))
	for n, key := range keys {
		names[n] = string(key)
	}
	of := symmetry.Number(names).Of
	return func(n int) int { return int(of[n]) }
}

// groups are those to try along an axis, the largest first.
func (x *nodeAxes) groups(t *topology.Topology, axis int) (out []symmetry.Group) {
	along := x.along[axis]
	if along == schedule.AnyOrder {
		out = append(out, x.tree(t, axis, make([]int32, x.dims[axis])))
	}
	if along != schedule.Standing && !x.asymmetric {
		out = append(out, symmetry.Digits{{Size: x.dims[axis], Stride: 1, Xor: along == schedule.Flipping}})
	}
	return out
}

// tree is that of the coordinates along an axis, of which only those of one class are equivalent.
func (x *nodeAxes) tree(t *topology.Topology, axis int, classes []int32) *symmetry.Tree {
	inner, dealt := x.distributed(axis)
	return t.AxisTree(x.dims, x.place, axis, inner, func(n int) int {
		return (x.label(n)*len(dealt)+int(dealt[n]))*len(classes) + int(classes[x.coordinate(axis, int32(n))])
	})
}

// coordinate is a node's along an axis.
func (x *nodeAxes) coordinate(axis int, node int32) int32 {
	return symmetry.Radix(x.dims)[axis].Of(x.place[node])
}

// narrower is a group that leaves what programs do, where they do not bear out one along an axis inside of groups: messages may be cut
// otherwise before some coordinate than behind it. Coordinates are told apart by what those of each class do with those of each other,
// until nothing more comes of it. nil: there is none.
func (x *nodeAxes) narrower(t *topology.Topology, programs *schedule.Expander, whole *topology.Symmetry, axes []symmetry.Group,
	axis int) symmetry.Group {
	wide, is := axes[axis].(*symmetry.Tree)
	if !is || axis == 0 {
		return nil
	}
	classes := make([]int32, x.dims[axis])
	for c := range classes {
		classes[c] = int32(wide.Class(c))
	}
	stride := symmetry.Radix(x.dims)[axis].Stride
	for before := slices.Max(classes); ; {
		does := make([]uint64, len(classes)) // by coordinate
		for c := range does {
			does[c] = uint64(classes[c])
		}
		names := x.names(axis, classes)
		for channel, times := range x.times {
			if times == 0 || channel > 0 && x.channels[channel].SharesPrograms(&x.channels[channel-1]) {
				continue
			}
			for _, r := range x.asked(whole, axes, axis, channel) {
				n := x.node[r]
				c := x.coordinate(axis, n)
				at := symmetry.Mix(uint64(x.place[n]-c*stride), uint64(r-x.first[n]))
				does[c] += symmetry.Mix(at, programs.Outline(channel, r, names))
			}
		}
		classes = symmetry.Number(does).Of
		now := slices.Max(classes)
		if now == before {
			break
		}
		before = now
	}
	if int(slices.Max(classes))+1 == len(classes) {
		return nil
	}
	return x.tree(t, axis, classes)
}

// names are the ranks' by all but their coordinate along an axis, of which only the class counts.
func (x *nodeAxes) names(axis int, classes []int32) []int32 {
	stride := symmetry.Radix(x.dims)[axis].Stride
	out := make([][3]int32, len(x.node))
	for r, n := range x.node {
		c := x.coordinate(axis, n)
		out[r] = [3]int32{classes[c], x.place[n] - c*stride, int32(r) - x.first[n]}
	}
	return symmetry.Number(out).Of
}

// distributed says what becomes along an axis of coordinates that some groups do not have: these are dealt to those that they
// have, in turn, as long as there are as many for each. inner are the coordinates that go together so, by size of such groups, the
// largest first; and by node which ones are alike.
func (x *nodeAxes) distributed(axis int) (inner [][]int32, alike []int32) {
	alike = make([]int32, len(x.first))
	d := symmetry.Radix(x.dims)[axis]
	sizes := map[int32]int32{} // by group: how many coordinates it has
	for _, at := range x.place {
		above := at / d.Stride / d.Size
		sizes[above] = max(sizes[above], d.Of(at)+1)
	}
	seen := map[int32]bool{d.Size: true}
	for _, n := range sizes {
		seen[n] = true
	}
	for n := d.Size - 1; n > 0; n-- {
		if !seen[n] {
			continue
		}
		of := make([]int32, d.Size)
		for c := range of {
			of[c] = int32(c) % n
		}
		inner = append(inner, of)
		for node, at := range x.place {
			alike[node] *= 3
			if c := d.Of(at); c >= n {
				alike[node]++
				if c >= d.Size/n*n {
					alike[node]++
				}
			}
		}
	}
	return inner, symmetry.Number(alike).Of
}
