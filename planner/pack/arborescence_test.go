package pack

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowArborescence tries every choice of an edge into each vertex.
func slowArborescence(n int, root int32, edges []branch) float64 {
	least := math.Inf(1)
	parent := make([]int32, n)
	var choose func(v int32, cost float64)
	choose = func(v int32, cost float64) {
		switch {
		case int(v) == n:
			if height(parent, root) >= 0 {
				least = min(least, cost)
			}
		case v == root:
			parent[v] = -1
			choose(v+1, cost)
		default:
			for _, e := range edges {
				if e.to == v {
					parent[v] = e.from
					choose(v+1, cost+e.cost)
				}
			}
		}
	}
	choose(0, 0)
	return least
}

func TestArborescenceCostsTheLeast(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 2 + rng.IntN(5)
		var edges []branch
		for u := range int32(n) {
			for v := range int32(n) {
				if u != v && rng.IntN(3) > 0 {
					edges = append(edges, branch{u, v, float64(rng.IntN(20))})
				}
			}
		}
		root := int32(rng.IntN(n))
		want, got := slowArborescence(n, root, edges), math.Inf(1)
		if into := arborescence(n, root, edges); into != nil {
			parent := make([]int32, n)
			got = 0
			for v, i := range into {
				if parent[v] = -1; i >= 0 {
					parent[v] = edges[i].from
					got += edges[i].cost
				}
			}
			if height(parent, root) < 0 {
				t.Fatalf("seed %d: %v is no tree of %d", seed, parent, root)
			}
		}
		if got != want {
			t.Errorf("seed %d: %d vertices cost %v, at least %v", seed, n, got, want)
		}
	}
}
