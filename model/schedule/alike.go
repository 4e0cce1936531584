package schedule

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"railyard/model/collective"
	"railyard/model/symmetry"
)

// findMoves finds moves along the digits of a channel's ranks that leave it as it is: of
// every rank's program, they make that of the rank that it is moved to. Which axes move is
// tried on a few ranks, then proven for all of them, one program at a time. nil where
// there are none. Where enough or fewer ranks are left to run, no other axis is tried.
//
// Complexity: O(operations of all ranks).
func findMoves(x *Expander, channel int, digits []axis, enough int) *moves {
	switch x.s.Spec.Kind {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll:
	default: // ranks hold and want different things, or it makes no difference
		return nil
	}
	c := &comparison{x: x, channel: channel}
	for _, a := range digits { // outer ones first
		size := a.ranks.Size
		if size < 2 || x.s.Spec.Ranks/c.with(c.axes).Count() <= enough {
			continue
		}
		flips := a
		flips.ranks.Xor, flips.parts.Xor = true, true
		if c.tried(a) {
			c.axes = append(c.axes, a)
		} else if size&(size-1) == 0 && c.tried(flips) {
			c.axes = append(c.axes, flips)
		}
	}
	m := c.with(c.axes)
	if len(m.Digits) == 0 || !c.proven(m) {
		return nil
	}
	return m
}

// axesOf are the digits of a channel's grid, or of all ranks in one row, each with its
// place in chunk numbers; nil where those are not numbered like ranks.
func axesOf(s *Schedule, channel int) []axis {
	ch := &s.Channels[channel]
	grid := &Grid{Dims: []int32{int32(s.Spec.Ranks)}}
	if ch.Chunks%s.Spec.Ranks != 0 {
		grid.Unsplit = []int{0}
	}
	for p := range ch.Phases {
		if g := ch.Phases[p].Groups.Grid; g != nil && len(g.Dims) > len(grid.Dims) {
			grid = g
		}
	}
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

// comparison compares programs with moved ones.
type comparison struct {
	x       *Expander
	channel int
	axes    []axis
}

func (c *comparison) with(axes []axis) *moves {
	m := &moves{ranks: c.x.s.Spec.Ranks, chunks: c.x.s.Channels[c.channel].Chunks}
	for _, a := range axes {
		m.Digits, m.parts = append(m.Digits, a.ranks), append(m.parts, a.parts)
	}
	return m
}

// tries is how many ranks an axis is tried on.
const tries = 5

// tried reports whether the least moves along an axis make programs of programs on some
// ranks.
func (c *comparison) tried(a axis) bool {
	m := c.with([]axis{a})
	n := int32(m.ranks)
	for _, by := range a.ranks.Least() {
		for i := range int32(tries) {
			r := i * (n - 1) / (tries - 1)
			if !newComparer(c, m).same(r, m.rank(r, by), by) {
				return false
			}
		}
	}
	return true
}

// proven reports whether every rank's program is its original's, moved.
func (c *comparison) proven(m *moves) bool {
	originals, all := m.originals(), m.All()
	var known []bool
	for p := range c.x.s.Channels[c.channel].Phases {
		known = append(known, m.turn(&c.x.s.Channels[c.channel].Phases[p]))
	}
	var next atomic.Int64
	var differs atomic.Bool
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		group.Go(func() {
			k := newComparer(c, m)
			k.known = known
			for !differs.Load() {
				at := int(next.Add(1)) - 1
				if at >= len(all) {
					return
				}
				for _, r := range originals {
					if !k.same(r, m.rank(r, all[at]), all[at]) {
						differs.Store(true)
						return
					}
				}
			}
		})
	}
	group.Wait()
	return !differs.Load()
}

// comparer is the working memory of one comparison after the other.
type comparer struct {
	*comparison
	m        *moves
	of, with []Op
	moved    []Loc
	other    []Loc
	known    []bool // by phase: there is no need to compare, see turn
	by       int32
	to       []int32  // by chunk: where the move by by brings it
	stamp    []uint32 // by chunk: the set that it was last in
	now      uint32
}

func newComparer(c *comparison, m *moves) *comparer {
	return &comparer{comparison: c, m: m, by: -1, to: make([]int32, m.chunks), stamp: make([]uint32, m.chunks)}
}

// prepare looks up where a move brings all chunks.
func (c *comparer) prepare(by int32) {
	if c.by == by {
		return
	}
	c.by = by
	grain := c.m.grain()
	if grain == 0 {
		grain = int32(len(c.to))
	}
	for i := int32(0); i < int32(len(c.to)); i += grain {
		to := c.m.chunk(i, by)
		for j := range grain {
			c.to[i+j] = to + j
		}
	}
}

// same reports whether moving rank r's program gives rank q's.
func (c *comparer) same(r, q, by int32) bool {
	for p := range c.x.s.Channels[c.channel].Phases {
		if c.known != nil && c.known[p] {
			continue
		}
		c.prepare(by)
		c.of = c.x.AppendProgram(c.of[:0], c.channel, p, int(r))
		c.with = c.x.AppendProgram(c.with[:0], c.channel, p, int(q))
		if len(c.of) != len(c.with) {
			return false
		}
		for i := range c.of {
			if !c.sameOp(&c.of[i], &c.with[i], by) {
				return false
			}
		}
	}
	return true
}

// turn reports whether moves are turns of a phase's one group, whose programs are by
// construction the same at all positions: as many operations as there are pairs of ranks
// need not be compared.
func (m *moves) turn(ph *Phase) bool {
	turn := symmetry.Digits{{Size: int32(m.ranks), Stride: 1}}
	if !slices.Equal(m.Digits, turn) || !slices.Equal(m.parts, turn) || m.chunks != m.ranks || len(ph.Groups.List) != 1 {
		return false
	}
	g := &ph.Groups.List[0]
	for i, r := range g.Ranks {
		if int(r) != i {
			return false
		}
	}
	return len(g.Ranks) == m.ranks && g.Parts == nil && g.Whole == ChunkSet{} && turning(ph.Gen, ph.Op)
}

// turning reports whether a generator makes programs that name all others by how far
// behind they are, and chunks by whom they belong to.
func turning(gen string, op collective.Kind) bool {
	switch op {
	case collective.AllToAll, collective.AllGather, collective.ReduceScatter, collective.AllReduce:
		return gen == GenRing || gen == GenDirect
	}
	return false
}

func (c *comparer) sameOp(a, b *Op, by int32) bool {
	if a.Kind != b.Kind || len(a.Peers) != len(b.Peers) || (a.Peer < 0) != (b.Peer < 0) || a.Peer >= 0 && c.m.rank(a.Peer, by) != b.Peer {
		return false
	}
	for i, p := range a.Peers {
		if c.m.rank(p, by) != b.Peers[i] {
			return false
		}
	}
	return c.samePlace(a.Src, b.Src, by) && c.samePlace(a.Dst, b.Dst, by) && c.sameSum(a.Srcs, b.Srcs, by)
}

// samePlace reports whether moving a place gives another one; both have to be ascending.
func (c *comparer) samePlace(a, b Loc, by int32) bool {
	switch n := a.Set.Len(); {
	case a.Buf != b.Buf || n != b.Set.Len():
		return false
	case n == 0:
		return true
	case n == 1:
		copies := a.Set.First / int32(c.m.chunks) * int32(c.m.chunks)
		return copies+c.to[a.Set.First-copies] == b.Set.First
	}
	if to, ok := c.m.covered(a.Set, by); ok {
		return to == b.Set
	}
	n := int32(c.m.chunks)
	copies := a.Set.First / n
	if !b.Set.ascends() || b.Set.First/n != copies || b.Set.last()/int64(n) != int64(copies) || a.Set.last()/int64(n) != int64(copies) {
		return false
	}
	c.now++
	b.Set.Each(func(chunk int32) { c.stamp[chunk-copies*n] = c.now })
	same := true
	a.Set.Each(func(chunk int32) { same = same && chunk/n == copies && c.stamp[c.to[chunk-copies*n]] == c.now })
	return same // as many, and moves bring no two to one place
}

// sameSum compares summands in any order.
func (c *comparer) sameSum(a, b []Loc, by int32) bool {
	if len(a) != len(b) {
		return false
	}
	c.moved, c.other = append(c.moved[:0], a...), append(c.other[:0], b...)
	for i := range c.moved { // by how they begin, which is enough to tell copies apart
		c.moved[i].Set.First = c.m.chunk(c.moved[i].Set.First, by)
	}
	order := func(x, y Loc) int { return cmp.Or(int(x.Buf)-int(y.Buf), int(x.Set.First-y.Set.First)) }
	slices.SortFunc(c.moved, order)
	slices.SortFunc(c.other, order)
	back := c.m.inverse(by)
	for i := range c.moved {
		c.moved[i].Set.First = c.m.chunk(c.moved[i].Set.First, back)
		if !c.samePlace(c.moved[i], c.other[i], by) {
			return false
		}
	}
	return true
}
