package schedule

import (
	"slices"

	"railyard/model/units"
)

// Chunks that no program tells apart are one to the checker, a grain: in a one-shot all-reduce over 8,192 ranks, whose buffers have as
// many chunks as there are ranks, everybody sends all of them to everybody; on rails, nodes of 8 adapters have 7 chunks each once one of
// them has lost an adapter. Which these are, representatives' programs say; a proof counts only if all programs that are looked at
// keep to it. Where chunks are numbered by digits, and to thread blocks, whose chunks are of one size, all grains are as large.

// grains are those of a channel. Those of every block are alike, so that a grain's number in its block tells its size.
type grains struct {
	per int32   // chunks of a block
	at  []int32 // by chunk of a block, and behind the last one: the number of the grain that begins there; −1: none does
}

// ends finds which chunks of a block are the first of a row that the programs of some ranks work on, or the next one behind it; and
// behind the last one.
func (x *Expander) ends(channel int, ranks []int32) []bool {
	per := x.s.Channels[channel].Chunks / x.s.Spec.Blocks()
	ends := make([]bool, per+1)
	ends[0], ends[per] = true, true
	if per < 2 {
		return ends
	}
	seen := map[ChunkSet]bool{}
	note := func(l Loc) {
		if l.Set.Len() > 0 && !seen[l.Set] {
			seen[l.Set] = true
			l.Set.rows(func(first, count int32) {
				ends[first%int32(per)], ends[(first+count)%int32(per)] = true, true
			})
		}
	}
	var ops []Op
	for _, r := range ranks {
		for p := range x.s.Channels[channel].Phases {
			ops = x.AppendProgram(ops[:0], channel, p, int(r))
			for i := range ops {
				note(ops[i].Src)
				note(ops[i].Dst)
				for _, l := range ops[i].Srcs {
					note(l)
				}
			}
		}
	}
	if m := x.kinds[channel]; m != nil && x.s.Spec.Blocks() == 1 {
		m.sameEnds(ends)
	}
	return ends
}

// sameEnds makes whole grains of every node's chunks in a band, and of those of all nodes of a kind the same.
func (m *kindMoves) sameEnds(ends []bool) {
	n := len(m.Nodes)
	for at := range m.Of[0].Chunks {
		band := m.start[at*n:]
		for kind, nodes := range m.nodesOf {
			some := make([]bool, m.Of[kind].Chunks[at]+1)
			some[0], some[len(some)-1] = true, true
			for _, node := range nodes {
				for i := range some {
					some[i] = some[i] || ends[band[node]+int32(i)]
				}
			}
			for _, node := range nodes {
				copy(ends[band[node]:], some)
			}
		}
	}
}

// rows visits the rows of consecutive chunks that a set consists of.
func (c ChunkSet) rows(visit func(first, count int32)) {
	for o := range max(c.Outer, 1) {
		first := c.First + o*c.OuterStride
		if c.Stride == 1 {
			visit(first, c.Count)
			continue
		}
		for i := range c.Count {
			visit(first+i*c.Stride, 1)
		}
	}
}

// uneven are as few grains as there can be.
func uneven(ends []bool) *grains {
	g := &grains{per: int32(len(ends)) - 1, at: slices.Repeat([]int32{-1}, len(ends))}
	n := int32(0)
	for i, end := range ends {
		if end {
			g.at[i] = n
			n++
		}
	}
	return g
}

// even are grains of one size.
func even(ends []bool) *grains {
	size := int32(0)
	for i, end := range ends {
		if end {
			size = units.GCD(size, int32(i))
		}
	}
	all := make([]bool, len(ends))
	for i := 0; i < len(all); i += int(size) {
		all[i] = true
	}
	return uneven(all)
}

// count is how many grains a block has.
func (g *grains) count() int32 { return g.at[g.per] }

// number is that of the grain that begins at a place; −1: none does.
func (g *grains) number(place int32) int32 {
	if at := g.at[place%g.per]; at >= 0 {
		return place/g.per*g.count() + at
	}
	return -1
}

// coarse is a set of whole grains, by their numbers; whole reports whether a set is one.
func (g *grains) coarse(set ChunkSet) (out ChunkSet, whole bool) {
	if out = set; set.Len() == 0 {
		return set, true
	}
	out.First = g.number(set.First)
	inner, chunks, size := set.Count, int32(1), int32(1) // rows next to one another, of so many chunks, and grains
	if set.Stride == 1 || set.Count == 1 {
		inner, chunks, size = 1, set.Count, g.number(set.First+set.Count)-out.First
		out.Count = size
	} else {
		out.Stride = g.number(set.First+set.Stride) - out.First
	}
	if set.Outer > 1 {
		out.OuterStride = g.number(set.First+set.OuterStride) - out.First
	}
	whole = true
	for o := range max(set.Outer, 1) {
		for i := range inner {
			first, to := set.First+i*set.Stride+o*set.OuterStride, out.First+i*out.Stride+o*out.OuterStride
			whole = whole && to >= 0 && g.number(first) == to && g.number(first+chunks) == to+size
		}
	}
	return out, whole
}

// Coarse is the schedule, and its expansion, with as few chunks as grains of one size leave.
func (s *Schedule) Coarse() (*Schedule, *Expander) {
	x, all := NewExpander(s), unmoved(s).originals()
	by := make([]*grains, len(s.Channels))
	for c := range by {
		by[c] = even(x.ends(c, all))
	}
	y := x.inGrains(by)
	return y.s, y
}

// coarse expands a channel by grains that the programs of ranks that may stand for all never tell apart; nil where each is one chunk,
// or no rank stands for another.
func (x *Expander) coarse(channel int) *Expander {
	by := make([]*grains, len(x.s.Channels))
	if m := x.kinds[channel]; m != nil {
		by[channel] = uneven(x.ends(channel, m.originals()))
	} else {
		claimed := moves{ranks: x.s.Spec.Ranks}
		for _, a := range claimedAxes(x.s, channel) {
			claimed.Digits = append(claimed.Digits, a.ranks)
		}
		if len(claimed.Digits) == 0 {
			return nil
		}
		by[channel] = even(x.ends(channel, claimed.originals()))
	}
	if by[channel].count() == by[channel].per {
		return nil
	}
	return x.inGrains(by)
}

// inGrains expands in those of some channels.
func (x *Expander) inGrains(by []*grains) *Expander {
	s := *x.s
	s.Channels = slices.Clone(s.Channels)
	y := &Expander{s: &s, fine: x, grains: by, kinds: make([]*kindMoves, len(by))}
	for c, g := range by {
		if ch := &s.Channels[c]; g != nil {
			ch.Chunks = s.Spec.Blocks() * int(g.count())
			if ch.Kinds != nil {
				ch.Kinds = ch.Kinds.inGrains(g)
				y.kinds[c] = newKindMoves(ch.Kinds)
			}
		}
	}
	return y
}

// inGrains are kinds of nodes with grains in place of chunks: of nodes of a kind as many, or what they do is not the same.
func (k *Kinds) inGrains(g *grains) *Kinds {
	out, m := &Kinds{Nodes: k.Nodes, Of: slices.Clone(k.Of)}, newKindMoves(k)
	for i := range out.Of {
		first := m.nodesOf[i][0]
		out.Of[i].Chunks = slices.Clone(out.Of[i].Chunks)
		for band := range out.Of[i].Chunks {
			at := m.start[band*len(k.Nodes)+int(first):]
			out.Of[i].Chunks[band] = g.number(at[1]) - g.number(at[0])
		}
	}
	return out
}

// appendCoarse appends a program of x.fine in grains.
func (x *Expander) appendCoarse(dst []Op, channel, phase, rank int) []Op {
	first, g := len(dst), x.grains[channel]
	dst = x.fine.AppendProgram(dst, channel, phase, rank)
	if g == nil {
		return dst
	}
	in := func(set *ChunkSet) {
		coarse, whole := g.coarse(*set)
		*set, x.torn = coarse, x.torn || !whole
	}
	for i := first; i < len(dst); i++ {
		op := &dst[i]
		in(&op.Src.Set)
		in(&op.Dst.Set)
		op.Srcs = slices.Clone(op.Srcs)
		for j := range op.Srcs {
			in(&op.Srcs[j].Set)
		}
	}
	return dst
}
