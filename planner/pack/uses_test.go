package pack

import (
	"fmt"
	"testing"
	"time"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
)

// star is GPUs on a switch, one of them with a slower link, in GB/s.
func star(t testing.TB, gpus int, fast, slow string) *topology.Topology {
	t.Helper()
	topo, err := topology.Parse("star.yaml", fmt.Appendf(nil, `
schema: railyard.topology/v1
name: star
source: test
date: 2026-11-21
classes:
  fast: {medium: nvlink, rate: %s, latency: 500ns, source: test, date: 2026-11-21}
  slow: {medium: nvlink, rate: %s, latency: 500ns, source: test, date: 2026-11-21}
devices:
  - {id: "gpu[0-%d]", kind: gpu}
  - {id: sw, kind: nvswitch}
links:
  - {from: "gpu[0-%d]", to: sw, class: fast}
  - {from: gpu%d, to: sw, class: slow}
`, fast, slow, gpus-1, gpus-2, gpus-1), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

func TestTreesOfUnequalRootsReachTheBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		topo   *topology.Topology
		kind   collective.Kind
		height int
		share  float64
	}{
		{"mesh 4x3", grid(t, "4, 3", 12, false), collective.AllReduce, 5, 1},
		{"mesh 5x5", grid(t, "5, 5", 25, false), collective.AllReduce, 8, 1},
		{"mesh 10x10", grid(t, "10, 10", 100, false), collective.AllReduce, 23, 1},
		{"mesh 16x16", grid(t, "16, 16", 256, false), collective.AllReduce, 23, 1},
		{"torus 4x4x4", grid(t, "4, 4, 4", 64, true), collective.AllReduce, 8, 1},
		{"star", star(t, 8, "50GB/s", "10GB/s"), collective.AllReduce, 3, 1},
		{"star of 4", star(t, 4, "50GB/s", "20GB/s"), collective.AllReduce, 3, 1},
		{"dgx1-v100", load(t, "dgx1-v100", 1), collective.AllReduce, 3, 1},
		{"dgx1-p100", load(t, "dgx1-p100", 1), collective.AllReduce, 3, 1},
		{"mi250x-node", load(t, "mi250x-node", 1), collective.AllReduce, 8, 1},
		{"dgx2", load(t, "dgx2", 1), collective.AllReduce, 1, 1},
		{"dgx-h100 x4", load(t, "dgx-h100", 4), collective.AllReduce, 2, 1},
		{"dgx-h100 x2, a NIC lost", degraded(t, load(t, "dgx-h100", 2), "nic:node0/nic0"), collective.AllReduce, 7, 0.95},
		{"mesh 5x5", grid(t, "5, 5", 25, false), collective.Broadcast, 12, 1},
		{"dgx1-v100", load(t, "dgx1-v100", 1), collective.Broadcast, 7, 1},
		{"dgx1-v100", load(t, "dgx1-v100", 1), collective.Reduce, 7, 1},
		{"dgx-h100", load(t, "dgx-h100", 1), collective.Broadcast, 2, 1},
		{"dgx2", load(t, "dgx2", 1), collective.Reduce, 2, 1},
		{"dgx-h100 x2", load(t, "dgx-h100", 2), collective.Broadcast, 4, 0.9},
		{"dgx2 x2", load(t, "dgx2", 2), collective.Broadcast, 4, 1},
	} {
		if c.topo.NumRanks() > long.Or(100, 256) {
			continue
		}
		g := fromTopology(t, c.topo)
		begin := time.Now()
		p, err := PackFor(g, c.kind, 0, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		took := time.Since(begin).Seconds()
		if err := p.Verify(g, 0); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%-24s %d | %.2f | %.2f | %.4f | %s | %d | %d | %d | %.3f", c.name, c.kind, p.Bound.AlgBW/1e9,
			p.Rate.Float()/1e9, p.Share, p.Method, p.K, p.Count(), p.Height, took)
		if p.Share < c.share || p.Height > c.height {
			t.Errorf("%s: share %.4f, height %d", c.name, p.Share, p.Height)
		}
	}
}
