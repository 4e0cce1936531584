package schedule

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/symmetry"
)

// Along is what a phase leaves of the permutations of the positions in its groups.
type Along uint8

// What is left.
const (
	AnyOrder Along = iota // all, but for the order of messages
	Turning               // moves by addition
	Flipping              // moves by exclusive or
	Standing              // none
)

// Along is what the phase's generator leaves of the permutations of positions: all where everybody
// talks to everybody at once, in which order programs do that being no matter; turns where all
// others are named by how far behind they are, and chunks by whom they belong to.
func (ph *Phase) Along() Along {
	n := 0
	if g := ph.Groups.Grid; g != nil {
		n = int(g.Dims[g.Axis])
	} else if len(ph.Groups.List) > 0 {
		n = len(ph.Groups.List[0].Ranks)
	}
	switch ph.Op {
	case collective.ReduceScatter, collective.AllGather, collective.AllReduce, collective.AllToAll, collective.AllToAllV,
		collective.Barrier:
		switch ph.Gen {
		case GenDirect, GenSwitch:
			return AnyOrder
		case GenRing:
			return Turning
		case GenDoubling: // partners differ in one bit of their positions
			if n&(n-1) == 0 {
				return Flipping
			}
		}
	case collective.SendRecv:
		return Turning
	}
	return Standing
}

// Narrow is what two phases leave together.
func (a Along) Narrow(b Along) Along {
	switch {
	case a == AnyOrder || a == b:
		return b
	case b == AnyOrder:
		return a
	}
	return Standing
}

// findMoves finds moves along the digits of a channel's ranks that leave it as it is: of
// every rank's program, they make that of the rank that it is moved to. Phases claim what they leave
// of the moves along each digit (see Along); a digit of which programs do not bear that out does not
// move. nil where none does. Where enough or fewer ranks are left to run, no other digit moves.
func findMoves(x *Expander, channel int, enough int) *moves {
	switch x.s.Spec.Kind {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.Barrier:
	default: // ranks hold and want different things, or it makes no difference
		return nil
	}
	for axes := claimedAxes(x.s, channel); ; {
		m := &moves{ranks: x.s.Spec.Ranks, chunks: x.s.Channels[channel].Chunks}
		for _, a := range axes {
			if m.ranks/m.Count() > enough {
				m.Digits, m.parts = append(m.Digits, a.ranks), append(m.parts, a.parts)
			}
		}
		wrong := slices.IndexFunc(m.Digits, func(d symmetry.Digit) bool { return !m.bearsOut(x, channel, d) })
		switch {
		case len(m.Digits) == 0:
			return nil
		case wrong < 0:
			return m
		}
		axes = slices.Delete(axes, wrong, wrong+1)
	}
}

// claimedAxes are the digits, outer ones first, along which all phases claim to leave moves, of ranks and of
// the chunks that are numbered like them.
func claimedAxes(s *Schedule, channel int) (out []axis) {
	axes := axesOf(s, channel)
	_, along := s.Axes(channel)
	for i, a := range axes {
		if a.ranks.Size < 2 || along[i] == Standing {
			continue
		}
		a.ranks.Xor, a.parts.Xor = along[i] == Flipping, along[i] == Flipping
		out = append(out, a)
	}
	return out
}

// Axes are the digits of ranks' numbers that a channel's phases go by, those of its grid or of all ranks in
// one row, and what all phases claim to leave of the moves along each: nothing where ranks hold or want different things.
func (s *Schedule) Axes(channel int) (dims []int32, along []Along) {
	ch := &s.Channels[channel]
	dims = s.gridOf(ch).Dims
	along = make([]Along, len(dims))
	if s.Spec.Kind.Rooted() || !s.Spec.Uniform() {
		return dims, slices.Repeat([]Along{Standing}, len(dims))
	}
	for p := range ch.Phases {
		for a := range dims {
			along[a] = along[a].Narrow(ch.Phases[p].alongAxis(dims, a))
		}
	}
	return dims, along
}

// gridOf is the grid of most dimensions of a channel's phases, or all ranks in one row.
func (s *Schedule) gridOf(ch *Channel) *Grid {
	grid := &Grid{Dims: []int32{int32(s.Spec.Ranks)}}
	if ch.Chunks%s.Spec.Ranks != 0 {
		grid.Unsplit = []int{0}
	}
	for p := range ch.Phases {
		if g := ch.Phases[p].Groups.Grid; g != nil && len(g.Dims) > len(grid.Dims) {
			grid = g
		}
	}
	return grid
}

// alongAxis is what a phase leaves of the moves along an axis of a grid.
func (ph *Phase) alongAxis(dims []int32, axis int) Along {
	g := ph.Groups.Grid
	switch {
	case generators[ph.Gen] == nil:
		return Standing
	case g == nil:
		if len(dims) > 1 || !ph.oneGroup(int(dims[0])) {
			return Standing
		}
		return ph.inOrder(ph.Groups.List[0].Ranks)
	case !slices.Equal(g.Dims, dims):
		return Standing
	case axis == g.Axis:
		return ph.inOrder(g.Order)
	}
	return AnyOrder
}

// oneGroup reports whether a phase has one group of all ranks, each with the chunk of its own number
// or with all.
func (ph *Phase) oneGroup(ranks int) bool {
	if len(ph.Groups.List) != 1 {
		return false
	}
	g := &ph.Groups.List[0]
	return g.Parts == nil && g.Whole == (ChunkSet{}) && len(g.Ranks) == ranks
}

// inOrder is what a phase leaves of the moves along its groups where positions are in some order (none:
// 0, 1, …): turns need equal steps round the group, exclusive or that order itself.
func (ph *Phase) inOrder(order []int32) Along {
	along := ph.Along()
	for i, at := range order {
		next, step := order[(i+1)%len(order)], order[1%len(order)]-order[0]
		if along == Flipping && int(at) != i || int(next-at-step)%len(order) != 0 {
			return Standing
		}
	}
	return along
}

// axesOf are the digits of a channel's grid, each with its place in chunk numbers; none where those are
// not numbered like ranks.
func axesOf(s *Schedule, channel int) []axis {
	ch := &s.Channels[channel]
	grid := s.gridOf(ch)
	ranks, parts := symmetry.Radix(grid.Dims), slices.Clone(grid.Dims)
	for _, a := range grid.Unsplit {
		parts[a] = 1
	}
	n := symmetry.Radix(parts).Count()
	if ranks.Count() != s.Spec.Ranks || ch.Chunks%n != 0 || s.Spec.Blocks() > 1 && n != s.Spec.Ranks {
		return nil
	}
	out := make([]axis, len(ranks))
	for a, d := range symmetry.Radix(parts) {
		out[a] = axis{ranks[a], symmetry.Digit{Size: ranks[a].Size}}
		if !slices.Contains(grid.Unsplit, a) {
			out[a].parts.Stride = d.Stride * int32(ch.Chunks/n) // chunks of a block, or of each number
		}
	}
	return out
}
