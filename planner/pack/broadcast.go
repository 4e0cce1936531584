package pack

// BroadcastBound is the exact rate at which one rank can send the same data to all
// others: the least of the largest flows from it to each of them.
func BroadcastBound(g *Graph, root int) Result {
	f := newFlows(g)
	var most int64
	for _, e := range g.Edges {
		most += e.Cap
	}
	f.set(1, most, 0)
	f.setFeed(root, most)
	x := most
	sinkSide := make([]bool, g.Vertices)
	for t := range g.Ranks {
		if t == root {
			continue
		}
		if got := f.run(int32(t), x); got < x {
			x = got
			for v := range sinkSide {
				sinkSide[v] = f.reached(int32(v))
			}
		}
		f.reset()
		f.setFeed(t, most)
	}
	out := g.result(Fraction{x, 1}, sinkSide)
	out.AlgBW = float64(x)
	out.Cut = g.explain(out)
	return out
}
