package pack

import (
	"fmt"
	"math"
)

// inflowBound lowers a bound to what ranks can take in together: in a graph in which
// every rank is parted into one that only sends and one that only takes in, the flow to
// the latter has to bring (N−1)·x to each. Newton's method again.
func inflowBound(g *Graph, have Result) (Result, error) {
	n, v := int32(g.Ranks), int32(g.Vertices)
	// Vertices: one sink of all ranks (the only "rank"), the switches, then the ranks as
	// they take in; a flow comes from the source through the ranks' edges.
	h := &Graph{Ranks: 1, Vertices: 1 + int(v)}
	in := func(r int32) int32 { return 1 + r }
	var fed []Edge // from ranks: from the source, whatever it is
	for _, e := range g.Edges {
		to := in(e.To)
		if e.From < n {
			fed = append(fed, Edge{0, to, e.Cap})
			continue
		}
		h.Edges = append(h.Edges, Edge{in(e.From), to, e.Cap})
	}
	for x, sinks := have.Rate, []int32(nil); ; {
		total, demand, crossing := h.inflow(fed, x, n, &sinks)
		if total == demand {
			return have, nil
		}
		if total < 0 {
			return have, fmt.Errorf("pack: the rates of %d ranks exceed 64-bit arithmetic", n)
		}
		x = fraction(crossing, int64(len(sinks))*int64(n-1))
		have.Rate, have.Copies, have.Crossing = x, true, crossing
		have.Source = nil
		for r, k := int32(0), 0; r < n; r++ {
			if k < len(sinks) && sinks[k] == r {
				k++
			} else {
				have.Source = append(have.Source, r)
			}
		}
	}
}

// inflow is how much of (ranks−1)·x can reach each rank, all told, and the smallest cut:
// its ranks and what flows into it at most.
func (h *Graph) inflow(fed []Edge, x Fraction, n int32, sinks *[]int32) (total, demand, crossing int64) {
	each := mulMin(x.Num, int64(n-1), math.MaxInt64/4)
	demand = mulMin(each, int64(n), math.MaxInt64/4)
	if demand == math.MaxInt64/4 {
		return -1, demand, 0
	}
	// Reversed: the ranks' copies are fed by the source and everything flows to vertex 0.
	// Then the source's side of the cut is what cannot take in enough.
	d := newSparse(h.Vertices + 1)
	source := int32(h.Vertices)
	for r := range n {
		d.arc(source, 1+r, each)
	}
	for _, e := range h.Edges {
		d.arc(e.To, e.From, mulMin(e.Cap, x.Den, demand))
	}
	for _, e := range fed {
		d.arc(e.To, 0, mulMin(e.Cap, x.Den, demand))
	}
	total = d.flow(0, source, demand)
	if total == demand {
		return total, demand, 0
	}
	// d.level ≥ 0: on the side that still reaches vertex 0.
	*sinks = (*sinks)[:0]
	for r := range n {
		if d.level[1+r] < 0 {
			*sinks = append(*sinks, r)
		}
	}
	for _, list := range [][]Edge{h.Edges, fed} {
		for _, e := range list {
			if d.level[e.To] < 0 && (e.From == 0 || d.level[e.From] >= 0) {
				crossing += e.Cap
			}
		}
	}
	return total, demand, crossing
}
