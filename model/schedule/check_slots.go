package schedule

import (
	"railyard/model/collective"
	"railyard/model/units"
)

// placeGrid holds the places of a buffer that a rank uses: first, first + step, first + 2·step, …
type placeGrid struct{ first, step int32 }

// scratchGrid is the widest grid that holds the places of scratch that a program names. On rails a rank keeps the chunks of
// its own rail: of thousands of ranks, every eighth place of millions.
func scratchGrid(prog []Op) (g placeGrid) {
	some := false
	for i := range prog {
		for _, l := range prog[i].places() {
			if l.Buf != Scratch || l.Set.Len() == 0 {
				continue
			}
			if !some {
				g.first, some = l.Set.First, true
			}
			g.step = units.GCD(g.step, max(g.first, l.Set.First)-min(g.first, l.Set.First))
			g.first = min(g.first, l.Set.First)
			if l.Set.Count > 1 {
				g.step = units.GCD(g.step, l.Set.Stride)
			}
			if l.Set.Outer > 1 {
				g.step = units.GCD(g.step, l.Set.OuterStride)
			}
		}
	}
	g.step = max(g.step, 1)
	return g
}

// slot is where a place of a buffer is kept: of those of scratch a rank uses a few, and of the places that an all_to_allv
// numbers there, n times as many as of its input, none that lie on a grid.
func (k *checker) slot(r int, b Buffer, c int32) int32 {
	m := &k.mem[r]
	switch {
	case b != Scratch:
		return c
	case k.s.Spec.Kind != collective.AllToAllV:
		return (c - m.grid.first) / m.grid.step
	}
	return int32(m.slots.Of(c))
}
