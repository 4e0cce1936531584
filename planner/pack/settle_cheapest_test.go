package pack

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
)

// loaded is a settling of graphs never seen, with seeded loads.
func loaded(t *testing.T, family string, seed int64) *settling {
	t.Helper()
	g, err := FromTopology(gen.Unseen(family, seed))
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(g, collective.AllGather, 0, Options{}, Result{})
	if err := s.transfers(); err != nil {
		t.Fatal(err)
	}
	x := newSettling([]*arcs{s.arcs()}, s.rootsOf(1))
	x.arcs, x.steep, x.near, x.limit = x.ways[0], firstSteep, 0.1, math.MaxInt32
	rng := rand.New(rand.NewPCG(uint64(seed), 3))
	for i := range x.load {
		x.load[i] = rng.Float64() * x.full
	}
	return x
}

// cheapestBySearch is what the cheapest hop costs among all ways over switches.
func (x *settling) cheapestBySearch(at, to int32, passed []int32) float64 {
	if at == to {
		return 0
	}
	if slices.Contains(passed, at) || len(passed) > 0 && int(at) < x.ranks {
		return math.Inf(1)
	}
	least := math.Inf(1)
	for _, i := range x.out[at] {
		least = min(least, x.price(&x.list[i], 0)+x.cheapestBySearch(x.list[i].to, to, append(passed, at)))
	}
	return least
}

// Hops are the cheapest of all ways over switches, and trees of them span all ranks, whatever their limit, and load what their hops take.
func TestCheapestTrees(t *testing.T) {
	for _, family := range []string{"servers", "mixed", "planes", "directed"} {
		for seed := range int64(4) {
			x := loaded(t, family, 400+seed)
			x.allHops()
			for _, h := range x.cheapest.hops {
				if want := x.cheapestBySearch(h.from, h.to, nil); math.Abs(h.cost-want) > 1e-9*want {
					t.Fatalf("%s %d: the hop from %d to %d costs %v, at least %v", family, seed, h.from, h.to, h.cost, want)
				}
			}
			for _, limit := range []int32{math.MaxInt32, 3} {
				x.limit = limit
				before, root := slices.Clone(x.load), int32(seed)%int32(x.ranks)
				tree := x.cheapestTree(root)
				if height(tree.parent, root) < 0 {
					t.Fatalf("%s %d: %v is no tree of %d", family, seed, tree.parent, root)
				}
				x.carry(&unit{root, []*grown{tree}}, -1)
				for r, l := range x.load {
					if math.Abs(l-before[r]) > 1e-9*x.full {
						t.Fatalf("%s %d: a tree that was taken off leaves %v on %d, which had %v", family, seed, l, r, before[r])
					}
				}
			}
		}
	}
}
