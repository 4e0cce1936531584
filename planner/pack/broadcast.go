package pack

import "railyard/internal/maxflow"

// BroadcastBound is the exact rate at which one rank can send the same data to all
// others: the least of the largest flows from it to each of them.
func BroadcastBound(g *Graph, root int) Result {
	if g.Ranks < 2 {
		return Result{Rate: Fraction{0, 1}, Cut: "one rank has nothing to receive"}
	}
	var most int64
	f := maxflow.New(g.Vertices + 1)
	for _, e := range g.Edges {
		f.Arc(e.From, e.To, e.Cap)
		most += e.Cap
	}
	source := int32(g.Vertices)
	f.Arc(source, int32(root), most)
	x := most
	sinkSide := make([]bool, g.Vertices)
	for t := range g.Ranks {
		if t == root {
			continue
		}
		if got := f.Flow(source, int32(t), x); got < x {
			x = got
			for v := range sinkSide {
				sinkSide[v] = f.Beyond(int32(v))
			}
		}
		f.Reset()
		f.Arc(source, int32(t), most) // what t has got may come from there to others
	}
	out := g.result(Fraction{x, 1}, sinkSide)
	out.AlgBW = float64(x)
	out.Cut = g.explain(out)
	return out
}

// ScatterBound is the exact rate at which one rank can send to each other rank data of
// its own: the least of B⁺(S)/|ranks outside S| over the sets S with the root. Backwards, everybody sends to
// the root, as they do to every rank in an all-gather.
func ScatterBound(g *Graph, root int) (Result, error) {
	if g.Ranks < 2 {
		return Bound(g)
	}
	h, unit := g.Reversed().inUnits()
	b := newBounding(h)
	b.around(int32(root))
	if err := b.lower(int32(root)); err != nil {
		return Result{}, err
	}
	for v, sink := range b.sinkSide {
		b.sinkSide[v] = !sink
	}
	out := g.result(fraction(b.x.Num*unit, b.x.Den), b.sinkSide)
	out.AlgBW = out.Rate.Float() * float64(g.Ranks)
	out.Cut = g.explain(out)
	return out, nil
}
