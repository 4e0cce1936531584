package schedule

import (
	"cmp"
	"slices"
)

// comparer is the working memory of one comparison after the other.
type comparer struct {
	x        *Expander
	channel  int
	m        *moves
	of, with []Op
	moved    []Loc
	other    []Loc
	by       int32
	to       []int32  // by chunk: where the move by by brings it
	stamp    []uint32 // by chunk: the set that it was last in
	now      uint32
}

func newComparer(x *Expander, channel int, m *moves) *comparer {
	return &comparer{x: x, channel: channel, m: m, by: -1, to: make([]int32, m.chunks), stamp: make([]uint32, m.chunks)}
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

// covered is where a move brings a set of all numbers that are alike below its stride, in
// one copy: what moves at or above the stride leaves it as it is. ok is false for others.
func (m *moves) covered(s ChunkSet, by int32) (to ChunkSet, ok bool) {
	if s.Outer > 1 || int(s.Stride)*int(s.Count) != m.chunks {
		return s, false
	}
	low := s.First % int32(m.chunks)
	if low >= s.Stride {
		return s, false
	}
	for _, d := range m.parts {
		if d.Stride > 0 && d.Stride%s.Stride != 0 && s.Stride%(d.Stride*d.Size) != 0 {
			return s, false
		}
	}
	to = s
	to.First += m.chunk(low, by)%s.Stride - low
	return to, true
}
