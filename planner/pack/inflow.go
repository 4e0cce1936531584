package pack

import "math"

// inflowBound lowers a bound to what ranks can take in together: in a graph in which
// every rank is parted into one that only sends and one that only takes in, the flow to
// the latter has to bring (N−1)·x to each. Backwards, and with one vertex of all that send, that is a cut
// between them and that one.
func inflowBound(g *Graph, have Result) (Result, error) {
	n := int32(g.Ranks)
	h := &Graph{Ranks: g.Ranks + 1, Vertices: g.Vertices + 1}
	for _, e := range g.Edges {
		back := Edge{From: e.To, To: n, Cap: e.Cap}
		if e.From >= n {
			back.To = e.From + 1
		}
		if e.To >= n {
			back.From = e.To + 1
		}
		h.Edges = append(h.Edges, back)
	}
	b := newBounding(h)
	b.x = fraction(mulMin(have.Rate.Num, int64(n-1), math.MaxInt64/4), have.Rate.Den)
	if err := b.lower(n); err != nil || b.sinkSide == nil {
		return have, err
	}
	have.Rate, have.Copies, have.Source = fraction(b.x.Num, b.x.Den*int64(n-1)), true, nil
	have.Crossing, _ = h.crossing(b.sinkSide)
	for r := range n {
		if b.sinkSide[r] {
			have.Source = append(have.Source, r)
		}
	}
	return have, nil
}
