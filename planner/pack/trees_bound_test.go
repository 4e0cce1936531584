package pack

import (
	"math/rand/v2"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/heap"
	"railyard/internal/long"
	"railyard/model/collective"
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
		a := newArcs(n)
		for u := range int32(n) {
			for v := range int32(n) {
				if v == (u+1)%int32(n) || u != v && rng.IntN(3) > 0 {
					a.add(u, v, []taken{{int32(len(a.list)), 1}})
				}
			}
		}
		b := newPricedTrees(a, collective.AllReduce, 0)
		var edges []branch
		for i, x := range a.list {
			b.weight[i] = float64(rng.IntN(12))
			edges = append(edges, branch{x.from, x.to, b.weight[i]})
		}
		if gossip, trees := leastGossip(n, edges), b.cheapest(); gossip < trees {
			t.Errorf("seed %d: %d ranks learn all by messages of %v, trees take %v", seed, n, gossip, trees)
		}
	}
}

// No packing of trees along the same arcs beats the bound, and settled ones come near it where hosts and adapters are shared.
func TestTreesBound(t *testing.T) {
	for _, c := range []struct {
		seed   int64
		kind   collective.Kind
		enough float64
	}{{16204, collective.AllGather, 0.98}, {16204, collective.AllReduce, 0.97}, {16301, collective.Reduce, 0.97},
		{16303, collective.AllReduce, 0.97}} {
		topo := gen.Unseen("servers", c.seed)
		p, err := ForTopology(topo, c.kind, 0, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rate := p.Rate.Float()
		if PerRoot(c.kind) {
			rate *= float64(topo.NumRanks())
		}
		bound := TreesBound(topo, c.kind, 0)
		if share := rate / bound; share > 1 || share < c.enough {
			t.Errorf("%s, %v: trees reach %.1f %% of the bound of trees (%v)", topo.Name(), c.kind, 100*share, p.Method)
		}
	}
}
