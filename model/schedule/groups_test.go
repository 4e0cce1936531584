package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/model/symmetry"
)

// A group of a grid works on all chunks that have its digits along the fixed axes, and each member is
// responsible for those of its own digit: in whatever order the axes lie.
func TestSetsOfGrids(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 20261123))
	seen := 0
	for range 3000 {
		g := Grid{}
		for range 1 + rng.IntN(4) {
			g.Dims = append(g.Dims, 1+rng.Int32N(4))
		}
		g.Axis = rng.IntN(len(g.Dims))
		for a := range g.Dims {
			if a != g.Axis && rng.IntN(2) == 0 {
				g.Fixed = append(g.Fixed, a)
			}
		}
		if validateAxes(&g) != nil {
			continue
		}
		seen++
		radix, chunks := symmetry.Radix(g.Dims), 1
		for _, d := range g.Dims {
			chunks *= int(d)
		}
		rank := rng.IntN(chunks)
		m := gridMember(&g, chunks, rank)
		for digit := int32(-1); digit < g.Dims[g.Axis]; digit++ {
			var want, have []int32
			for c := range int32(chunks) {
				own := digit < 0 || radix[g.Axis].Of(c) == digit
				for _, a := range g.Fixed {
					own = own && radix[a].Of(c) == radix[a].Of(int32(rank))
				}
				if own {
					want = append(want, c)
				}
			}
			m.gridSet(digit).Each(func(c int32) { have = append(have, c) })
			if slices.Sort(have); !slices.Equal(have, want) {
				t.Fatalf("%+v, rank %d, digit %d: chunks %v instead of %v", g, rank, digit, have, want)
			}
		}
	}
	if seen < 1000 {
		t.Errorf("%d grids were valid", seen)
	}
}
