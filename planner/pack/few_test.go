package pack

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/model/collective"
)

// slowFew is the highest rate of each root at which k parts of it fit: the largest part
// such that every set of ranks takes in, in whole parts over each link, as many as the
// roots outside have (Edmonds). A part need be no other than some link's capacity over a
// whole number.
func slowFew(g *Graph, k int64) Fraction {
	var parts []Fraction
	for _, e := range g.Edges {
		for j := int64(1); j <= k*int64(g.Ranks); j++ {
			parts = append(parts, fraction(e.Cap, j))
		}
	}
	slices.SortFunc(parts, func(a, b Fraction) int { return b.Cmp(a) })
	for _, p := range parts {
		if slowFits(g, p, k) {
			return fraction(p.Num*k, p.Den)
		}
	}
	return Fraction{0, 1}
}

func slowFits(g *Graph, part Fraction, k int64) bool {
	for set := 1; set < 1<<g.Ranks-1; set++ {
		var in int64
		for _, e := range g.Edges {
			if set>>e.From&1 == 0 && set>>e.To&1 == 1 {
				in += e.Cap * part.Den / part.Num
			}
		}
		if in < k*int64(g.Ranks-bits.OnesCount(uint(set))) {
			return false
		}
	}
	return true
}

// inParts packs the trees of an all-gather exactly, in k parts or a divisor of it.
func inParts(t *testing.T, g *Graph, k int64) *Packing {
	t.Helper()
	bound, err := Bound(g)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(g, collective.AllGather, 0, Options{}, bound)
	if err := s.transfers(); err != nil {
		t.Fatal(err)
	}
	even, _, err := s.evenly()
	if err != nil {
		t.Fatal(err)
	}
	p, err := edmonds(even, k, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.consider(p)
	if err := s.best.Verify(g, 0); err != nil {
		t.Error(err)
	}
	return s.best
}

// In so many parts, and in the best number of at most eight where the bound takes more,
// nothing is faster than what is found.
func TestFewPartsAreTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	few, short := 0, 0
	for i := range 300 {
		g := randomGraph(r, 3+i%4, 0)
		best := Fraction{0, 1}
		for k := int64(1); k <= fewParts; k++ {
			want := slowFew(g, k)
			best = slices.MaxFunc([]Fraction{best, want}, Fraction.Cmp)
			got := inParts(t, g, k)
			if d := cmp.Or(got.Rate.Cmp(want), int(k%got.K)); d != 0 {
				t.Errorf("graph %d %v in %d parts: %v in %d, the best is %v", i, g.Edges, k, got.Rate, got.K, want)
			}
		}
		all := pack(t, g, Options{})
		if all.Rate != all.Bound.Rate {
			t.Errorf("graph %d: %v of %v", i, all.Rate, all.Bound.Rate)
		}
		if all.K <= fewParts {
			continue
		}
		few++
		if all.Few == nil || all.Few.K > fewParts || all.Few.Rate != best {
			t.Errorf("graph %d %v: the best of at most eight parts has %v, not %v", i, g.Edges, best, all.Few)
			continue
		}
		if best.Cmp(all.Rate) < 0 {
			short++
		}
	}
	if t.Logf("%d graphs take more than eight parts, eight reach less on %d", few, short); few < 20 || short < 15 {
		t.Error("too few graphs take many parts")
	}
}
