package pack

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/topology"
)

func pack(t testing.TB, g *Graph, o Options) *Packing {
	t.Helper()
	p, err := Pack(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(g, 0); err != nil {
		t.Fatalf("%s: %v", p.Method, err)
	}
	return p
}

func degraded(t testing.TB, topo *topology.Topology, fault string) *topology.Topology {
	t.Helper()
	left, err := topo.Degrade(gen.Faults(fault))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestPackReachesTheBound(t *testing.T) {
	type test struct {
		name   string
		topo   *topology.Topology
		share  float64
		height int
	}
	tests := []test{
		{"dgx1-p100", load(t, "dgx1-p100", 1), 1, 3},
		{"dgx1-v100", load(t, "dgx1-v100", 1), 1, 3},
		{"mi300x-node", load(t, "mi300x-node", 1), 1, 1},
		{"mi250x-node", load(t, "mi250x-node", 1), 1, 9},
		{"dgx2", load(t, "dgx2", 1), 1, 1},
		{"dgx-a100", load(t, "dgx-a100", 1), 1, 1},
		{"dgx-h100", load(t, "dgx-h100", 1), 1, 1},
		{"gb200-nvl72", load(t, "gb200-nvl72", 0), 1, 1},
		{"nvlink-network-256", load(t, "nvlink-network-256", 0), 1, 2},
		{"pcie4-server", load(t, "pcie4-server", 1), 1, 2},
		{"summit-node", load(t, "summit-node", 1), 1, 2},
		{"host", load(t, "host", 0), 1, 1},
		{"minsky", load(t, "minsky", 1), 0.899, 3}, // two GPUs do not use the way through their CPU
		{"dgx-a100 x2", load(t, "dgx-a100", 2), 1, 2},
		{"dgx-h100 x2", load(t, "dgx-h100", 2), 1, 2},
		{"dgx-h100 x4", load(t, "dgx-h100", 4), 1, 2},
		{"dgx-h100 x8", load(t, "dgx-h100", 8), 1, 2},
		{"dgx-h100 x16", load(t, "dgx-h100", 16), 1, 2},
		{"superpod-a100", load(t, "superpod-a100", 0), 1, 2},
		{"superpod-h100", load(t, "superpod-h100", 0), 1, 2},
		{"leaf-spine-roce", load(t, "leaf-spine-roce", 0), 1, 2},
		{"mi300x-node x2", load(t, "mi300x-node", 2), 1, 2},
		{"dgx2 x2", load(t, "dgx2", 2), 1, 2},
		{"dgx1-p100 x2", load(t, "dgx1-p100", 2), 1, 8},
		{"dgx1-v100 x2", load(t, "dgx1-v100", 2), 1, 4},
		{"summit-node x2", load(t, "summit-node", 2), 1, 5},
		{"pcie4-server x2", load(t, "pcie4-server", 2), 1, 10},
		{"mesh 4x3", grid(t, "4, 3", 12, false), 1, 5},
		{"mesh 5x5", grid(t, "5, 5", 25, false), 1, 8},
		{"mesh 7x13", grid(t, "7, 13", 91, false), 1, 18},
		{"mesh 16x16", grid(t, "16, 16", 256, false), 1, 30},
		{"torus 4x4", grid(t, "4, 4", 16, true), 1, 4},
		{"torus 5x5", grid(t, "5, 5", 25, true), 1, 4},
		{"torus 4x4x4", grid(t, "4, 4, 4", 64, true), 1, 6},
		{"torus 8x4x2", grid(t, "8, 4, 2", 64, true), 1, 9},
		{"torus 16x16", grid(t, "16, 16", 256, true), 1, 16},
		{"dgx-h100, a link lost", degraded(t, load(t, "dgx-h100", 1), "link:gpu0--nvswitch0"), 1, 1},
		{"dgx1-v100, a link lost", degraded(t, load(t, "dgx1-v100", 1), "link:gpu0--gpu3"), 1, 4},
		{"dgx1-v100, a GPU lost", degraded(t, load(t, "dgx1-v100", 1), "gpu:gpu5"), 1, 4},
		{"dgx-h100 x2, a NIC lost", degraded(t, load(t, "dgx-h100", 2), "nic:node0/nic0"), 1, 7},
		{"dgx-h100 x2, a GPU lost", degraded(t, load(t, "dgx-h100", 2), "gpu:node0/gpu0"), 0.98, 5},
		{"mesh 10x10, a link lost", degraded(t, grid(t, "10, 10", 100, false), "link:gpu44--gpu45"), 1, 20},
	}
	if long.Given() {
		tests = append(tests,
			test{"torus 8x8x16", grid(t, "8, 8, 16", 1024, true), 1, 16},
			test{"dgx-h100 x128", load(t, "dgx-h100", 128), 1, 2},
			test{"mi250x-node x2", load(t, "mi250x-node", 2), 1, 20},
			test{"torus 16x16, a link lost", degraded(t, grid(t, "16, 16", 256, true), "link:gpu44--gpu45"), 0.99, 24})
	}
	for _, c := range tests {
		g := fromTopology(t, c.topo)
		begin := time.Now()
		p, err := Pack(g, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		took := time.Since(begin).Seconds()
		if err := p.Verify(g, 0); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%-24s | %4d | %.2f | %.2f | %.4f | %s | %d | %d | %d | %.3f", c.name, g.Ranks, p.Bound.AlgBW/1e9,
			p.Rate.Float()*float64(g.Ranks)/1e9, p.Share, p.Method, p.K, p.Count(), p.Height, took)
		if p.Share < c.share || p.Height > c.height {
			t.Errorf("%s: share %.4f, height %d", c.name, p.Share, p.Height)
		}
	}
}

func TestPackOnRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 23))
	for i := range long.Or(8, 25) {
		g := randomGraph(r, 8+r.IntN(17), 0)
		if p := pack(t, g, Options{}); p.Share < 1 {
			t.Errorf("graph %d %v: %.4f of the bound", i, g.Edges, p.Share)
		}
	}
}

func TestVerifyRejects(t *testing.T) {
	g := fromTopology(t, load(t, "dgx1-v100", 1))
	for name, spoil := range map[string]func(*Packing){
		"a circle":           func(p *Packing) { p.Trees[0][0].Parent[1], p.Trees[0][0].Parent[2] = 2, 1 },
		"a second root":      func(p *Packing) { p.Trees[0][0].Parent[3] = -1 },
		"a root with parent": func(p *Packing) { p.Trees[0][0].Parent[0] = 1 },
		"no such rank":       func(p *Packing) { p.Trees[0][0].Parent[3] = 8 },
		"missing weight":     func(p *Packing) { p.Trees[5][0].Weight++ },
		"a missing root":     func(p *Packing) { p.Trees = p.Trees[1:] },
		"too fast":           func(p *Packing) { p.Rate.Num++ },
		"PCIe":               func(p *Packing) { p.Trees[0][0].Parent[7] = 0 },
		"a crowded link": func(p *Packing) {
			for _, list := range p.Trees {
				for i := range list {
					copy(list[i].Parent, list[0].Parent)
				}
			}
		},
	} {
		p := pack(t, g, Options{})
		spoil(p)
		if err := p.Verify(g, 0); err == nil {
			t.Errorf("%s passes", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// With fewer parts than the bound takes, the best is found that they allow.
func TestPackInFewParts(t *testing.T) {
	for _, c := range []struct {
		name string
		best [8]float64 // share of the bound by parts
	}{
		{"dgx1-p100", [8]float64{0.875, 0.875, 0.875, 1, 0.972, 0.954, 0.942, 1}},
		{"dgx1-v100", [8]float64{0.777, 0.933, 0.874, 0.933, 0.972, 1, 0.960, 0.982}},
		{"mi250x-node", [8]float64{0.777, 0.933, 1, 0.933, 0.972, 1, 0.960, 0.982}},
	} {
		g := fromTopology(t, load(t, c.name, 1))
		for i, want := range c.best {
			p := inParts(t, g, int64(i+1))
			if p.K > int64(i+1) || p.Share < want {
				t.Errorf("%s in %d parts: %d parts, share %.4f", c.name, i+1, p.K, p.Share)
			}
		}
	}
}

func TestPackDoesNotDependOnChance(t *testing.T) {
	for _, name := range []string{"dgx1-v100", "pcie4-server"} {
		g := fromTopology(t, load(t, name, 2))
		a, b := pack(t, g, Options{}), pack(t, fromTopology(t, load(t, name, 2)), Options{})
		if !slices.EqualFunc(a.Trees, b.Trees, func(x, y []Tree) bool {
			return slices.EqualFunc(x, y, func(s, t Tree) bool { return s.Weight == t.Weight && slices.Equal(s.Parent, t.Parent) })
		}) {
			t.Errorf("%s: two packings differ", name)
		}
	}
}
