package pack

import (
	"fmt"
	"math"

	"railyard/internal/maxflow"
)

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
// its own: the least of B⁺(S)/|ranks outside S| over the sets S with the root. Reversed
// it is that of a gather.
func ScatterBound(g *Graph, root int) (Result, error) {
	if g.Ranks < 2 {
		return Bound(g)
	}
	unit := g.unit()
	sinkSide := make([]bool, g.Vertices)
	for v := range sinkSide {
		sinkSide[v] = v != root
	}
	for net := new(maxflow.Network); ; {
		crossing, inside := g.crossing(sinkSide)
		outside := int64(g.Ranks) - inside
		x := fraction(crossing/unit, outside)
		if x.Num > math.MaxInt64/4/int64(g.Ranks) || crossing/unit > math.MaxInt64/4/x.Den {
			return Result{}, fmt.Errorf("pack: the rates of %d ranks exceed 64-bit arithmetic", g.Ranks)
		}
		net.Clear(g.Vertices + 1)
		sink := int32(g.Vertices)
		for _, e := range g.Edges {
			net.Arc(e.From, e.To, mulMin(e.Cap/unit, x.Den, math.MaxInt64/4))
		}
		for r := range int32(g.Ranks) {
			if int(r) != root {
				net.Arc(r, sink, x.Num)
			}
		}
		need := x.Num * int64(g.Ranks-1)
		if net.Flow(int32(root), sink, need) == need {
			out := g.result(fraction(x.Num*unit, x.Den), sinkSide)
			out.AlgBW = out.Rate.Float() * float64(g.Ranks)
			out.Cut = g.explain(out)
			return out, nil
		}
		for v := range sinkSide {
			sinkSide[v] = net.Beyond(int32(v))
		}
	}
}
