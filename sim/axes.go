package sim

import (
	"reflect"
	"slices"

	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// nodeAxes are the axes of the schedule's grid of nodes, and what all channels leave of the permutations along each.
type nodeAxes struct {
	*nodeSymmetry
	channels []schedule.Channel
	dims     []int32 // outermost first
	along    []schedule.Along
	kinds    *schedule.Kinds // nodes differ in what the schedule does
	place    []int32         // by node: where it is in the grid (see symmetry.NewProduct); nil: at its number
	root     int             // −1: none
}

// newNodeAxes is nil where channels differ in their grids, or these are not of nodes.
func newNodeAxes(y *nodeSymmetry, s *schedule.Schedule) *nodeAxes {
	x := &nodeAxes{nodeSymmetry: y, channels: s.Channels, kinds: s.Channels[0].Kinds, root: -1}
	if s.Spec.Kind.Rooted() {
		x.root = int(y.node[s.Spec.Root])
	}
	for i := range s.Channels {
		dims, along := x.axes(s, i)
		if dims == nil || i > 0 && (!slices.Equal(dims, x.dims) || !reflect.DeepEqual(s.Channels[i].Kinds, x.kinds)) {
			return nil
		}
		if x.dims = dims; i == 0 {
			x.along = along
		}
		for a := range dims {
			x.along[a] = x.along[a].Narrow(along[a])
		}
	}
	if x.kinds != nil {
		x.place = x.kinds.Place
	}
	if x.place == nil && symmetry.Radix(x.dims).Count() != len(y.first) {
		return nil
	}
	return x
}

// axes are those of a channel along which nodes may be permuted.
func (x *nodeAxes) axes(s *schedule.Schedule, channel int) ([]int32, []schedule.Along) {
	if k := s.Channels[channel].Kinds; k != nil {
		if len(k.Nodes) != len(x.first) {
			return nil, nil
		}
		for n := range x.first {
			if x.size(n) != k.Ranks(n) {
				return nil, nil
			}
		}
		dims, _ := k.Grid()
		return dims, slices.Repeat([]schedule.Along{schedule.AnyOrder}, len(dims))
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

// groups are those to try along an axis, the largest first.
func (x *nodeAxes) groups(t *topology.Topology, axis int) (out []symmetry.Group) {
	along := x.along[axis]
	if along == schedule.AnyOrder {
		out = append(out, x.tree(t, axis))
	}
	if along != schedule.Standing && x.kinds == nil {
		out = append(out, symmetry.Digits{{Size: x.dims[axis], Stride: 1, Xor: along == schedule.Flipping}})
	}
	return out
}

// tree are the permutations along an axis that leave the topology and what the schedule says of nodes as they are.
func (x *nodeAxes) tree(t *topology.Topology, axis int) *symmetry.Tree {
	if x.kinds == nil {
		return t.AxisTree(x.dims, nil, axis, nil, func(n int) int {
			if n == x.root {
				return 1
			}
			return 0
		})
	}
	_, axes := x.kinds.Grid()
	var within [][]int32
	for _, of := range axes[axis].Within {
		within = append(within, of)
	}
	d, classes := symmetry.Radix(x.dims)[axis], int(slices.Max(axes[axis].Of))+1
	return t.AxisTree(x.dims, x.place, axis, within, func(n int) int {
		at := int32(n)
		if x.place != nil {
			at = x.place[n]
		}
		return int(x.kinds.Nodes[n])*classes + int(axes[axis].Of[d.Of(at)])
	})
}
