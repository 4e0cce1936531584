package pack

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCheapestFrom compares with all ways to give each vertex a parent.
func TestCheapestFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	trees := 0
	for range 400 {
		n := 2 + rng.IntN(5)
		root := rng.IntN(n)
		cost := make([][]float64, n)
		for u := range cost {
			for range n {
				x := float64(1 + rng.IntN(20))
				if rng.IntN(4) == 0 {
					x = math.Inf(1)
				}
				cost[u] = append(cost[u], x)
			}
		}
		want := exhaustive(root, cost, make([]int, n), 0)
		got := math.Inf(1)
		if parent := cheapestFrom(root, cost); parent != nil {
			got = costOf(root, cost, parent)
		}
		if got != want {
			t.Fatalf("root %d of %v: %v, want %v", root, cost, got, want)
		}
		if n > 2 && !math.IsInf(want, 1) {
			trees++
		}
	}
	if trees < 100 {
		t.Errorf("only %d graphs with a tree", trees)
	}
}

// costOf is infinite where parents are no tree.
func costOf(root int, cost [][]float64, parent []int) (sum float64) {
	for v := range parent {
		at := v
		for steps := 0; at != root; steps++ {
			if steps == len(parent) {
				return math.Inf(1)
			}
			at = parent[at]
		}
		if v != root {
			sum += cost[parent[v]][v]
		}
	}
	return sum
}

func exhaustive(root int, cost [][]float64, parent []int, v int) float64 {
	if v == len(parent) {
		return costOf(root, cost, parent)
	}
	if v == root {
		return exhaustive(root, cost, parent, v+1)
	}
	best := math.Inf(1)
	for u := range parent {
		if parent[v] = u; u != v {
			best = min(best, exhaustive(root, cost, parent, v+1))
		}
	}
	return best
}
