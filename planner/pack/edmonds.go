package pack

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/symmetry"
	"railyard/model/units"
)

// edmonds packs trees into a graph of ranks alone so that all of its bound is reached
// (Edmonds; with capacities: Bérczi and Frank, Bang-Jensen). Every root starts with one
// bundle of k equal trees that hold only the root. An edge is added to as many trees of
// a bundle as leaves enough for the others: every set X of ranks must keep as much
// capacity into it as there are trees without a rank in X. One maximal flow tells how
// many; the bundle parts where that is not all of it. Edges nearest to the roots come
// first, in all bundles by turns, which keeps trees low. Which of equally near edges
// comes first is left to chance: until about so many arcs have been looked at, it is tried again,
// and the lowest, then the fewest trees are taken.
func edmonds(g *Graph, k int64, effort int) (*Packing, error) {
	caps, each, err := parts(g, k, func(h *Graph) (Fraction, error) {
		b, err := Bound(h)
		return b.Rate, err
	})
	if err != nil {
		return nil, err
	}
	return lowest(g, caps, symmetry.InPlace(g.Ranks), each, effort)
}

// arborescences is the same for one root, at the rate of its broadcast.
func arborescences(g *Graph, root int, k int64, effort int) (*Packing, error) {
	caps, each, err := parts(g, k, func(h *Graph) (Fraction, error) { return BroadcastBound(h, root).Rate, nil })
	if err != nil {
		return nil, err
	}
	return lowest(g, caps, []int32{int32(root)}, each, effort)
}

// parts are the capacities in parts of the data of each root, and how many parts there
// are: as many as it takes to reach the bound, or k.
func parts(g *Graph, k int64, bound func(*Graph) (Fraction, error)) ([]int64, int64, error) {
	x, err := bound(g)
	if err != nil {
		return nil, 0, err
	}
	if x.Num == 0 {
		return nil, 0, fmt.Errorf("pack: transfers do not reach every rank")
	}
	caps, each := inWhole(g, x)
	if k == 0 && each > mostParts {
		k = mostParts
	}
	if k > 0 {
		caps, err = forParts(g, x, k, bound)
		each = k
	}
	return caps, each, err
}

// mostParts is into how many parts data is cut at most: one with many divisors.
const mostParts = 5040

// lowest grows k trees of each root again and again, until about so many arcs have been looked at, and
// keeps the lowest, then the fewest.
func lowest(g *Graph, caps []int64, roots []int32, k int64, effort int) (*Packing, error) {
	var best []*bundle
	least := 0
	for try, work := uint64(0), 0; try == 0 || try < mostTries && work < effort; try++ {
		e := newGrowth(g, caps, roots, k, try)
		if err := e.grow(); err != nil {
			return nil, err
		}
		work += e.net.Work + 1000
		h := 0
		for _, s := range e.bundles {
			h = max(h, int(slices.Max(s.depth)))
		}
		if best == nil || h < least || h == least && len(e.bundles) < len(best) {
			best, least = e.bundles, h
		}
	}
	p := &Packing{K: k, Trees: make([][]Tree, g.Ranks), Method: "packed trees"}
	for _, s := range best {
		p.Trees[s.root] = append(p.Trees[s.root], Tree{Weight: s.count, Parent: s.parent})
	}
	return p, nil
}

// mostTries is how often packing is tried at most.
const mostTries = 64

// inWhole makes capacities and rate integers without a common factor.
func inWhole(g *Graph, x Fraction) ([]int64, int64) {
	unit := x.Num
	for _, e := range g.Edges {
		unit = units.GCD(unit, e.Cap*x.Den)
	}
	caps := make([]int64, len(g.Edges))
	for i, e := range g.Edges {
		caps[i] = e.Cap * x.Den / unit
	}
	return caps, x.Num / unit
}

// forParts are the capacities in parts, rounded down, at the highest rate at which k
// parts of each root fit.
func forParts(g *Graph, x Fraction, k int64, bound func(*Graph) (Fraction, error)) (caps []int64, failed error) {
	const steps = 1 << 16
	unit := g.unit()
	fit := func(step float64) bool { // with parts of so small a part of the rate
		part := x.Float() / float64(unit) / float64(k) / step // rate of one part
		caps = make([]int64, len(g.Edges))
		h := &Graph{Ranks: g.Ranks, Vertices: g.Vertices, Edges: slices.Clone(g.Edges)}
		for i, e := range g.Edges {
			caps[i] = int64(float64(e.Cap/unit)/part + 1e-9)
			h.Edges[i].Cap = caps[i]
		}
		rate, err := bound(h)
		failed = cmp.Or(failed, err)
		return err != nil || rate.Cmp(Fraction{k, 1}) >= 0
	}
	if fit(1) {
		return caps, failed
	}
	lo, hi := 1.0, 2.0
	for ; !fit(hi); hi *= 2 {
		lo = hi
	}
	for i := 0; i < 40 && hi-lo >= 1.0/steps/16; i++ {
		if mid := (lo + hi) / 2; fit(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	fit(hi)
	return caps, failed
}
