package sim

import (
	"reflect"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// symmetry says that all nodes do alike, so that the lanes of the first one stand for
// all: the schedule looks the same after any move of the nodes along the axes of its
// grid, and the topology has that automorphism as well. It spares compiling what
// folding would then find to be equal.
type symmetry struct {
	group        *topology.Symmetry
	nodes, local int32   // number of nodes, ranks in each
	dims         []int32 // of the grid of nodes, outermost first
	xor          []bool  // by axis: moves are exclusive or, else addition modulo
	fixed        []bool  // by axis: a phase runs along it, which decides xor
	times        []int32 // by channel: how many equal ones it stands for; 0: another stands for it
	level        bool    // nodes may be put in any order within each group of dims: see levels
}

// findSymmetry is nil where the schedule's or the topology's structure shows none.
func findSymmetry(t *topology.Topology, s *schedule.Schedule) *symmetry {
	nodes := t.NumNodes()
	if nodes < 2 || s.Spec.Ranks%nodes != 0 || s.Spec.Kind.Rooted() || !s.Spec.Uniform() {
		return nil
	}
	y := &symmetry{nodes: int32(nodes), local: int32(s.Spec.Ranks / nodes)}
	if !y.grid(t, s) {
		return nil
	}
	if y.level {
		y.group, y.level = topology.NewSymmetry(t, append(y.generators(), y.swaps()...))
	}
	if !y.level {
		var ok bool
		if y.group, ok = topology.NewSymmetry(t, y.generators()); !ok {
			return nil
		}
	}
	y.times = equalChannels(s)
	return y
}

// grid finds the moves that leave all phases as they are.
func (y *symmetry) grid(t *topology.Topology, s *schedule.Schedule) bool {
	if y.anyOrder(s) {
		y.setDims(t.NodeGrid())
		y.level = true
		return y.dims != nil
	}
	for i := range s.Channels {
		for j := range s.Channels[i].Phases {
			if !y.phase(&s.Channels[i].Phases[j]) {
				return false
			}
		}
	}
	return true
}

// phase narrows the moves to those that leave a phase as it is.
func (y *symmetry) phase(ph *schedule.Phase) bool {
	if ph.Gen == schedule.GenOps || ph.Gen == schedule.GenTrees {
		return false
	}
	g := ph.Groups.Grid
	if g == nil {
		if !y.oneGroup(ph) {
			return false
		}
		xor := exclusive(ph) && y.nodes&(y.nodes-1) == 0 && y.local&(y.local-1) == 0
		return y.setDims([]int32{y.nodes}) && (cyclic(ph) && y.setAxis(0, false) || xor && y.setAxis(0, true))
	}
	last := len(g.Dims) - 1
	if g.Alternate || g.Dims[last] != y.local || !y.setDims(g.Dims[:last]) {
		return false
	}
	switch {
	case g.Axis == last:
		return true // inside the node
	case g.Order != nil:
		return false
	case cyclic(ph):
		return y.setAxis(g.Axis, false)
	case exclusive(ph):
		return y.setAxis(g.Axis, true)
	}
	return false
}

// oneGroup reports whether a phase has one group of all ranks in order.
func (y *symmetry) oneGroup(ph *schedule.Phase) bool {
	if len(ph.Groups.List) != 1 {
		return false
	}
	g := &ph.Groups.List[0]
	if g.Parts != nil || g.Whole != (schedule.ChunkSet{}) || len(g.Ranks) != int(y.nodes*y.local) {
		return false
	}
	for i, r := range g.Ranks {
		if r != int32(i) {
			return false
		}
	}
	return true
}

// anyOrder reports whether all phases let everybody talk to everybody at once, or to all
// of the node, or of the rail: in which order a program does that makes no difference to
// time, so that any moves of the nodes will do.
func (y *symmetry) anyOrder(s *schedule.Schedule) bool {
	for i := range s.Channels {
		for j := range s.Channels[i].Phases {
			if !y.toAnyNode(&s.Channels[i].Phases[j]) {
				return false
			}
		}
	}
	return true
}

// toAnyNode reports that of a phase.
func (y *symmetry) toAnyNode(ph *schedule.Phase) bool {
	if !toAll(ph) || !cyclic(ph) || ph.Op == collective.SendRecv {
		return false
	}
	if g := ph.Groups.Grid; g != nil {
		return len(g.Dims) == 2 && g.Dims[0] == y.nodes
	}
	return y.oneGroup(ph)
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

func (y *symmetry) setDims(dims []int32) bool {
	if y.dims == nil {
		product := int32(1)
		for _, d := range dims {
			product *= d
		}
		y.dims, y.xor = dims, nil
		return len(dims) > 0 && product == y.nodes
	}
	return reflect.DeepEqual(y.dims, dims)
}

// setAxis fixes the kind of move along an axis.
func (y *symmetry) setAxis(axis int, xor bool) bool {
	if y.xor == nil {
		y.xor, y.fixed = make([]bool, len(y.dims)), make([]bool, len(y.dims))
	}
	if !y.fixed[axis] {
		y.fixed[axis], y.xor[axis] = true, xor
	}
	return y.xor[axis] == xor
}

// generators are moves by one (or by each power of two) along each axis.
func (y *symmetry) generators() []func(int) int {
	if y.xor == nil {
		y.xor = make([]bool, len(y.dims))
	}
	var out []func(int) int
	stride := 1
	for a := len(y.dims) - 1; a >= 0; a-- {
		size, step := int(y.dims[a]), stride
		if !y.xor[a] {
			out = append(out, topology.Turn(size, step))
		} else {
			for bit := 1; bit < size; bit *= 2 {
				out = append(out, func(n int) int { return n ^ bit*step })
			}
		}
		stride *= size
	}
	return out
}

// swaps exchange the first two groups of nodes along each axis. Together with the
// generators they put the groups of any group into any order.
func (y *symmetry) swaps() []func(int) int {
	var out []func(int) int
	stride := 1
	for a := len(y.dims) - 1; a >= 0; a-- {
		step := stride
		out = append(out, func(n int) int {
			switch n / step {
			case 0:
				return n + step
			case 1:
				return n - step
			}
			return n
		})
		stride *= int(y.dims[a])
	}
	return out
}

// routed is the connection whose route stands for that of a canonical one: where nodes
// may be put in any order, to the first node that is as far away.
func (y *symmetry) routed(src, dst int32) (int32, int32) {
	if !y.level {
		return src, dst
	}
	node, far := dst/y.local, int32(0)
	for stride, a := int32(1), len(y.dims)-1; a >= 0; a-- {
		if node/stride%y.dims[a] != 0 {
			far = stride
		}
		stride *= y.dims[a]
	}
	return src, far*y.local + dst%y.local
}

// move is where node b goes when node a goes to node 0.
func (y *symmetry) move(a, b int32) int32 {
	out, stride := int32(0), int32(1)
	for i := len(y.dims) - 1; i >= 0; i-- {
		d := y.dims[i]
		x, z := a/stride%d, b/stride%d
		if y.xor[i] {
			out += (z ^ x) * stride
		} else {
			out += (z - x + d) % d * stride
		}
		stride *= d
	}
	return out
}

// canonical is the connection from a to b when a's node goes to node 0.
func (y *symmetry) canonical(a, b int32) (int32, int32) {
	return a % y.local, y.move(a/y.local, b/y.local)*y.local + b%y.local
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
