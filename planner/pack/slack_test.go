package pack

import (
	"math/rand/v2"
	"testing"
)

// Every set's slack is the capacity of the edges into it less the trees of roots outside.
func TestSlackOfSets(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 55))
	for range 200 {
		g := randomGraph(r, 2+r.IntN(6), 0)
		var starts []start
		for v := range int32(g.Ranks) {
			if r.IntN(2) == 0 {
				starts = append(starts, start{v, 1 + r.Int64N(9)})
			}
		}
		caps := make([]int64, len(g.Edges))
		for i := range caps {
			caps[i] = r.Int64N(20)
		}
		e := newGrowth(g, caps, starts, 1)
		for x := 1; x < 1<<g.Ranks; x++ {
			var want int64
			for i, edge := range g.Edges {
				if x>>edge.From&1 == 0 && x>>edge.To&1 == 1 {
					want += caps[i]
				}
			}
			for _, s := range starts {
				if x>>s.root&1 == 0 {
					want -= s.count
				}
			}
			if got := e.slack[x]; got != want {
				t.Fatalf("%v, set %b: %d, want %d", g.Edges, x, got, want)
			}
		}
	}
}
