package pack

import (
	"math/rand/v2"
	"testing"

	"railyard/internal/heap"
	"railyard/internal/long"
)

// leastGossip is what messages cost at least with which everybody learns what all know, whatever they carry: Dijkstra's
// algorithm on who knows what.
func leastGossip(n int, edges []branch) float64 {
	type state struct {
		knows uint32 // n bits for each
		cost  float64
	}
	queue, done := heap.New(func(a, b state) bool { return a.cost < b.cost }), map[uint32]bool{}
	var first uint32
	for v := range n {
		first |= 1 << (v*n + v)
	}
	all := uint32(1)<<(n*n) - 1
	for queue.Push(state{first, 0}); ; {
		s := queue.Pop()
		if s.knows == all {
			return s.cost
		}
		if done[s.knows] {
			continue
		}
		done[s.knows] = true
		for _, e := range edges {
			told := s.knows | s.knows>>(int(e.from)*n)&(1<<n-1)<<(int(e.to)*n)
			if !done[told] {
				queue.Push(state{told, s.cost + e.cost})
			}
		}
	}
}

// Whoever sums up and spreads in whatever way sends no less than along a tree to a rank and another from there.
func TestGossipTakesTwoTrees(t *testing.T) {
	for seed := range long.Or[uint64](60, 3000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 3 + rng.IntN(2)
		g := &Graph{Ranks: n, Vertices: n}
		for u := range int32(n) {
			for v := range int32(n) {
				if v == (u+1)%int32(n) || u != v && rng.IntN(3) > 0 {
					g.Edges = append(g.Edges, Edge{u, v, 1})
				}
			}
		}
		b := newTwoTrees(g)
		for i := range b.length {
			b.length[i] = float64(rng.IntN(12))
			b.out[i].cost = b.length[i]
		}
		trees, _ := b.cheapest()
		if gossip := leastGossip(n, b.out); gossip < trees {
			t.Errorf("seed %d: %d ranks learn all by messages of %v, trees take %v", seed, n, gossip, trees)
		}
	}
}
