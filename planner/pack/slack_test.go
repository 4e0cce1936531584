package pack

import (
	"math/rand/v2"
	"testing"
)

// Sets that are listed say the same as flows, while trees grow.
func TestSlackIsWhatFlowsSay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	questions := 0
	for range 200 {
		n := 3 + r.IntN(mostListed-2)
		g := &Graph{Ranks: n, Vertices: n}
		for u := range int32(n) {
			for v := range int32(n) {
				if u != v && r.IntN(3) > 0 {
					g.Edges = append(g.Edges, Edge{From: u, To: v, Cap: 1 + r.Int64N(4)})
				}
			}
		}
		x, err := Bound(g)
		if err != nil {
			continue // somebody is out of reach
		}
		caps, k := inWhole(g, x.Rate)
		var starts []start
		for v := range int32(n) {
			starts = append(starts, start{v, k})
		}
		e := newGrowth(g, caps, starts, r.Uint64())
		for range 10 * n {
			b := e.bundles[r.IntN(len(e.bundles))]
			u := int32(r.IntN(n))
			if b.depth[u] < 0 || len(e.out[u]) == 0 {
				continue
			}
			v := e.out[u][r.IntN(len(e.out[u]))]
			want := min(e.cap[u][v], b.count)
			if b.depth[v] >= 0 || want == 0 {
				continue
			}
			questions++
			m, _ := e.room(b, u, v, want)
			if byFlow, _ := e.roomByFlow(b, u, v, want); m != byFlow {
				t.Fatalf("%d ranks: %d, by flow %d", n, m, byFlow)
			}
			e.extend(b, b.depth[u], r.IntN(2) == 0)
		}
	}
	if questions < 1000 {
		t.Errorf("only %d questions were asked", questions)
	}
}
