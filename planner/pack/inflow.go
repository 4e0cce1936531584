package pack

import (
	"fmt"
	"math"

	"railyard/internal/maxflow"
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
	d := maxflow.New(h.Vertices + 1)
	source := int32(h.Vertices)
	for r := range n {
		d.Arc(source, 1+r, each)
	}
	for _, e := range h.Edges {
		d.Arc(e.To, e.From, mulMin(e.Cap, x.Den, demand))
	}
	for _, e := range fed {
		d.Arc(e.To, 0, mulMin(e.Cap, x.Den, demand))
	}
	total = d.Flow(source, 0, demand)
	if total == demand {
		return total, demand, 0
	}
	*sinks = (*sinks)[:0]
	for r := range n {
		if !d.Beyond(1 + r) { // it cannot reach vertex 0 any more
			*sinks = append(*sinks, r)
		}
	}
	for _, list := range [][]Edge{h.Edges, fed} {
		for _, e := range list {
			if !d.Beyond(e.To) && (e.From == 0 || d.Beyond(e.From)) {
				crossing += e.Cap
			}
		}
	}
	return total, demand, crossing
}
