package pack

import (
	"math/rand/v2"
	"testing"
	"time"

	"railyard/model/topology"
)

func pack(t testing.TB, g *Graph, o Options) *Packing {
	t.Helper()
	p, err := Pack(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(g); err != nil {
		t.Fatalf("%s: %v", p.Method, err)
	}
	return p
}

func TestPackReachesTheBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		topo   *topology.Topology
		share  float64
		height int
	}{
		{"dgx1-p100", load(t, "dgx1-p100", 1), 1, 4},
		{"dgx1-v100", load(t, "dgx1-v100", 1), 1, 4},
		{"mi300x-node", load(t, "mi300x-node", 1), 1, 1},
		{"mi250x-node", load(t, "mi250x-node", 1), 1, 10},
		{"dgx2", load(t, "dgx2", 1), 1, 1},
		{"dgx-a100", load(t, "dgx-a100", 1), 1, 1},
		{"dgx-h100", load(t, "dgx-h100", 1), 1, 1},
		{"gb200-nvl72", load(t, "gb200-nvl72", 0), 1, 1},
		{"dgx-a100 x2", load(t, "dgx-a100", 2), 1, 2},
		{"dgx-h100 x2", load(t, "dgx-h100", 2), 1, 2},
		{"dgx-h100 x4", load(t, "dgx-h100", 4), 1, 2},
		{"dgx-h100 x8", load(t, "dgx-h100", 8), 1, 2},
		{"dgx-h100 x16", load(t, "dgx-h100", 16), 1, 2},
		{"dgx2 x2", load(t, "dgx2", 2), 0.96, 2},
		{"mesh 4x3", grid(t, "4, 3", 12, false), 1, 5},
		{"mesh 5x5", grid(t, "5, 5", 25, false), 1, 8},
		{"mesh 16x16", grid(t, "16, 16", 256, false), 1, 30},
		{"torus 4x4", grid(t, "4, 4", 16, true), 1, 4},
		{"torus 5x5", grid(t, "5, 5", 25, true), 1, 4},
		{"torus 4x4x4", grid(t, "4, 4, 4", 64, true), 1, 6},
		{"torus 8x4x2", grid(t, "8, 4, 2", 64, true), 1, 9},
		{"torus 16x16", grid(t, "16, 16", 256, true), 1, 16},
	} {
		g := fromTopology(t, c.topo)
		begin := time.Now()
		p := pack(t, g, Options{})
		t.Logf("%-14s bound %.2f, packed %.2f GB/s (%.4f): %s, k %d, %d trees, height %d, %.3fs %s", c.name,
			p.Bound.AlgBW/1e9, p.AlgBW/1e9, p.Share, p.Method, p.K, p.Count(), p.Height, time.Since(begin).Seconds(), p.Note)
		if p.Share < c.share || p.Height > c.height {
			t.Errorf("%s: share %.4f, height %d", c.name, p.Share, p.Height)
		}
	}
}

func TestPackOnRandomGraphs(t *testing.T) {
	for _, kind := range []struct {
		name        string
		make        func(*rand.Rand, int, int) *Graph
		worst, mean float64
	}{{"links and switches", randomGraph, 1, 1}, {"ranks behind switches", starGraph, 0.5, 0.8}} {
		r := rand.New(rand.NewPCG(5, 23))
		worst, total, count, exact, most := 1.0, 0.0, 0, 0, 0
		for range 120 {
			g := kind.make(r, 8+r.IntN(17), 1+r.IntN(4))
			p := pack(t, g, Options{Effort: 1})
			worst = min(worst, p.Share)
			total += p.Share
			count++
			most = max(most, p.Height)
			if p.Share == 1 {
				exact++
			}
		}
		mean := total / float64(count)
		t.Logf("%s: %d graphs: worst %.4f, mean %.4f, %d exact, height up to %d", kind.name, count, worst, mean, exact, most)
		if worst < kind.worst || mean < kind.mean {
			t.Errorf("%s: worst %.4f, mean %.4f", kind.name, worst, mean)
		}
	}
}
