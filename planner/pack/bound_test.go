package pack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/topologies"
)

func load(t testing.TB, name string, nodes int) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

func fromTopology(t testing.TB, topo *topology.Topology) *Graph {
	t.Helper()
	g, err := FromTopology(topo)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func bound(t testing.TB, g *Graph) Result {
	t.Helper()
	b, err := Bound(g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// grid is a mesh or torus of ranks with direct links only.
func grid(t testing.TB, dims string, n int, wrap bool) *topology.Topology {
	t.Helper()
	topo, err := topology.Parse("grid.yaml", fmt.Appendf(nil, `
schema: railyard.topology/v1
name: grid
source: test
date: 2026-11-21
classes:
  ici: {medium: nvlink, rate: 50GB/s, latency: 500ns, source: test, date: 2026-11-21}
devices:
  - {id: "gpu[0-%d]", kind: gpu}
links:
  - {grid: "gpu[0-%d]", dims: [%s], wrap: %t, class: ici}
`, n-1, n-1, dims, wrap), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// Exact optima that others have published or computed, in GB/s of the whole buffer.
func TestBoundIsThePublishedOptimum(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		num   int64 // GB/s times den
		den   int64
	}{
		{"dgx1-p100", 1, 640, 7},
		{"dgx1-v100", 1, 1200, 7},
		{"dgx2", 1, 160, 1},
		{"dgx-a100", 1, 2400, 7},
		{"dgx-a100", 2, 1040, 3},
		{"dgx-h100", 1, 3600, 7},
		{"dgx-h100", 2, 1600, 3},
		{"dgx-h100", 4, 16000, 31},
		{"dgx-h100", 8, 3200, 7},
		{"dgx-h100", 16, 1280, 3},
		{"dgx-h100", 32, 12800, 31},
		{"dgx-h100", 128, 51200, 127},
		{"mi250x-node", 1, 2400, 7},
		{"dgx2", 2, 5000, 31}, // two GPUs share an adapter: 5200/31 with switches that copy
	} {
		topo := load(t, c.name, c.nodes)
		g := fromTopology(t, topo)
		b := bound(t, g)
		n := int64(g.Ranks)
		if want := fraction(c.num*1e9, c.den*n); b.Rate != want {
			t.Errorf("%s x%d: rate %v (%.2f GB/s in all, %s), want %v (%.2f)", c.name, c.nodes, b.Rate, b.AlgBW/1e9, b.Cut, want,
				float64(c.num)/float64(c.den))
			continue
		}
		t.Logf("%s x%d: %.2f GB/s; %d vertices, %d edges; %s", c.name, c.nodes, b.AlgBW/1e9, g.Vertices, len(g.Edges), b.Cut)
	}
	for _, c := range []struct {
		dims     string
		n        int
		wrap     bool
		num, den int64
	}{{"5, 5", 25, false, 2500, 24}, {"4, 4, 4", 64, true, 64 * 300, 63}, {"16, 16", 256, false, 25600, 255},
		{"8, 8, 16", 1024, true, 1024 * 300, 1023}, {"32, 32", 1024, false, 102400, 1023}} {
		b := bound(t, fromTopology(t, grid(t, c.dims, c.n, c.wrap)))
		if want := fraction(c.num*1e9, c.den*int64(c.n)); b.Rate != want {
			t.Errorf("grid %s: rate %v, want %v", c.dims, b.Rate, want)
		}
	}
}

func TestEveryShippedTopologyHasABound(t *testing.T) {
	for _, name := range topologies.Names() {
		topo := load(t, name, 0)
		g := fromTopology(t, topo)
		b := bound(t, g)
		if b.Rate.Num <= 0 && g.Ranks > 1 {
			t.Errorf("%s: rate %v", name, b.Rate)
		}
		t.Logf("%s: %d ranks, %d vertices, %d edges, %.2f GB/s: %s", name, g.Ranks, g.Vertices, len(g.Edges), b.AlgBW/1e9, b.Cut)
	}
}

// randomGraph is connected by a ring, with further links of uneven capacities.
func randomGraph(r *rand.Rand, ranks, switches int) *Graph {
	n := ranks + switches
	var edges []Edge
	order := r.Perm(n)
	for i, v := range order {
		edges = append(edges, Edge{int32(v), int32(order[(i+1)%n]), 1 + r.Int64N(7)})
	}
	for range n + r.IntN(2*n) {
		u, v, c := int32(r.IntN(n)), int32(r.IntN(n)), 1+r.Int64N(9)
		edges = append(edges, Edge{u, v, c})
		if r.IntN(2) == 0 {
			edges = append(edges, Edge{v, u, c})
		}
	}
	g, err := New(ranks, n, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// slowBound tries all cuts.
func slowBound(g *Graph) Fraction {
	best := Fraction{math.MaxInt32, 1}
	sink := make([]bool, g.Vertices)
	for set := range 1 << g.Vertices {
		all := true
		for v := range sink {
			sink[v] = set>>v&1 == 0
			all = all && (v >= g.Ranks || !sink[v])
		}
		capacity, ranks := g.crossing(sink)
		if all || ranks == 0 {
			continue
		}
		if f := fraction(capacity, ranks); f.Cmp(best) < 0 {
			best = f
		}
	}
	return best
}

// slowInflow tries all sets of vertices that take in too little together.
func slowInflow(g *Graph) Fraction {
	best := Fraction{math.MaxInt32, 1}
	for set := range 1 << g.Vertices {
		ranks, capacity := int64(0), int64(0)
		for v := range g.Ranks {
			ranks += int64(set >> v & 1)
		}
		for _, e := range g.Edges {
			if set>>e.To&1 == 1 && (int(e.From) < g.Ranks || set>>e.From&1 == 0) {
				capacity += e.Cap
			}
		}
		if ranks > 0 {
			if f := fraction(capacity, ranks*int64(g.Ranks-1)); f.Cmp(best) < 0 {
				best = f
			}
		}
	}
	return best
}

// starGraph has ranks that hang on switches only, with adapters that several share.
func starGraph(r *rand.Rand, ranks, switches int) *Graph {
	var edges []Edge
	for v := range ranks {
		s := int32(ranks + r.IntN(switches))
		c := 1 + r.Int64N(9)
		edges = append(edges, Edge{int32(v), s, c}, Edge{s, int32(v), c + r.Int64N(2)*r.Int64N(3)})
	}
	for s := 1; s < switches; s++ {
		c := 1 + r.Int64N(20)
		up := int32(ranks + r.IntN(s))
		edges = append(edges, Edge{int32(ranks + s), up, c}, Edge{up, int32(ranks + s), c})
	}
	for range r.IntN(ranks) {
		u, v := int32(r.IntN(ranks)), int32(r.IntN(ranks+switches))
		edges = append(edges, Edge{u, v, 1 + r.Int64N(5)}, Edge{v, u, 1 + r.Int64N(5)})
	}
	g, err := New(ranks, ranks+switches, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// sharedGraph has ranks on a switch, two of which share each adapter to another.
func sharedGraph(r *rand.Rand, ranks int) *Graph {
	main, leaf := int32(ranks), int32(ranks+1)
	fast, slow := 3+r.Int64N(3), 1+r.Int64N(4)
	var edges []Edge
	for v := range int32(ranks) {
		edges = append(edges, Edge{v, main, fast}, Edge{main, v, fast + r.Int64N(6)/5})
		out, in := leaf+1+v/2*2, leaf+2+v/2*2
		if v%2 == 0 {
			edges = append(edges, Edge{out, leaf, slow}, Edge{leaf, in, slow})
		}
		edges = append(edges, Edge{v, out, slow}, Edge{in, v, slow + r.Int64N(2)})
	}
	g, err := New(ranks, ranks+2+(ranks+1)/2*2, edges)
	if err != nil {
		panic(err)
	}
	return g
}

func slowBroadcast(g *Graph, root int) int64 {
	best := int64(math.MaxInt64)
	sink := make([]bool, g.Vertices)
	for set := range 1 << g.Vertices {
		all := true
		for v := range sink {
			sink[v] = set>>v&1 == 0
			all = all && (v >= g.Ranks || !sink[v])
		}
		if capacity, _ := g.crossing(sink); !all && !sink[root] {
			best = min(best, capacity)
		}
	}
	return best
}

func slowScatter(g *Graph, root int) Fraction {
	best := Fraction{math.MaxInt32, 1}
	sink := make([]bool, g.Vertices)
	for set := range 1 << g.Vertices {
		for v := range sink {
			sink[v] = set>>v&1 == 0
		}
		if capacity, inside := g.crossing(sink); !sink[root] && int(inside) < g.Ranks {
			if f := fraction(capacity, int64(g.Ranks)-inside); f.Cmp(best) < 0 {
				best = f
			}
		}
	}
	return best
}

func TestBoundEqualsTheLeastOfAllCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	lower := 0
	for i := range 400 {
		ranks := 2 + r.IntN(6)
		g := randomGraph(r, ranks, r.IntN(min(4, 10-ranks)))
		switch i % 3 {
		case 1:
			g = starGraph(r, ranks, 1+r.IntN(3))
		case 2:
			ranks = 2 + r.IntN(3)
			g = sharedGraph(r, ranks)
		}
		b, err := cutBound(g)
		if want := slowBound(g); err != nil || b.Rate != want {
			t.Fatalf("graph %d %v: %v, want %v", i, g.Edges, b.Rate, want)
		}
		inflow := slowInflow(g)
		if full := bound(t, g); inflow.Cmp(b.Rate) >= 0 && full.Rate != b.Rate || inflow.Cmp(b.Rate) < 0 && full.Rate != inflow {
			t.Fatalf("graph %d: %v, want the lesser of %v and %v", i, full.Rate, b.Rate, inflow)
		} else if full.Copies {
			lower++
		}
		if small, err := cutBound(g.reduced()); err != nil || small.Rate != b.Rate {
			t.Fatalf("graph %d: reduced, the bound is %v instead of %v", i, small.Rate, b.Rate)
		}
		if f := fraction(b.Crossing, int64(len(b.Source))); f != b.Rate {
			t.Fatalf("graph %d: the cut gives %v, the bound %v", i, f, b.Rate)
		}
		root := r.IntN(ranks)
		if got, want := BroadcastBound(g, root).Rate, slowBroadcast(g, root); got != fraction(want, 1) {
			t.Fatalf("graph %d: broadcast %v, want %d", i, got, want)
		}
		if got, err := ScatterBound(g, root); err != nil || got.Rate != slowScatter(g, root) {
			t.Fatalf("graph %d: scatter %v, %v; want %v", i, got.Rate, err, slowScatter(g, root))
		}
	}
	if t.Logf("%d of 400 bounds need that switches do not copy", lower); lower < 20 {
		t.Error("too few bounds need that switches do not copy")
	}
}

func TestOneRankHasNoBound(t *testing.T) {
	g, err := New(1, 2, []Edge{{0, 1, 5}, {1, 0, 5}})
	if err != nil {
		t.Fatal(err)
	}
	even, errs := make([]Result, 5), make([]error, 5)
	even[0], errs[0] = Bound(g)
	even[1], errs[1] = AllReduceBound(g)
	even[2], errs[2] = ScatterBound(g, 0)
	even[3], even[4] = BroadcastBound(g, 0), PairsBound(g, each)
	for i, b := range even {
		if errs[i] != nil || b.Rate.Num != 0 || b.Cut == "" {
			t.Errorf("%d: %+v, %v", i, b, errs[i])
		}
	}
	if _, err := PackFor(g, collective.Broadcast, 0, Options{}); err == nil {
		t.Error("trees for one rank")
	}
}

func BenchmarkBound(b *testing.B) {
	for _, nodes := range []int{16, 128} {
		topo := load(b, "dgx-h100", nodes)
		b.Run(fmt.Sprintf("%d GPUs", topo.NumRanks()), func(b *testing.B) {
			for b.Loop() {
				bound(b, fromTopology(b, topo))
			}
		})
	}
}

func each(_, _ int) int64 { return 1 }

// Optima of the whole buffer in GB/s, from linear programs.
func TestAllToAllBound(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		num   int64
		den   int64
	}{
		{"dgx1-p100", 1, 40, 1}, {"dgx1-v100", 1, 75, 1}, {"mi250x-node", 1, 75, 1}, {"dgx2", 1, 160, 1},
		{"dgx-a100", 1, 2400, 7}, {"dgx-a100", 2, 50, 1}, {"dgx-h100", 1, 3600, 7}, {"dgx-h100", 2, 100, 1},
		{"dgx-h100", 4, 200, 3}, {"dgx-h100", 128, 51200, 1016},
	} {
		g := fromTopology(t, load(t, c.name, c.nodes))
		if got, want := PairsBound(g, each).Rate, fraction(c.num*1e9, c.den*int64(g.Ranks)); got != want {
			t.Errorf("%s x%d: %v (%.3f GB/s), want %v", c.name, c.nodes, got, got.Float()*float64(g.Ranks)/1e9, want)
		}
	}
}
