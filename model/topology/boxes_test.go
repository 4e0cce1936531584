package topology_test

import (
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

// Trays of a rack are one box; nodes with switches of their own are not, whatever lies behind these.
func TestBoxes(t *testing.T) {
	for _, x := range []struct {
		name         string
		nodes, boxes int
		gpus         int // of the first box
	}{
		{"gb200-nvl72", 18, 1, 72}, {"gb200-nvl72", 20, 2, 72}, {"gb200-nvl72", 36, 2, 72}, {"nvlink-network-256", 4, 4, 8},
		{"superpod-h100", 3, 3, 8}, {"dgx1-v100", 2, 2, 8}, {"pcie4-server", 2, 2, 8},
	} {
		topo, err := topology.Load(topologies.Source, x.name, topology.Options{Nodes: x.nodes})
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for r := range topo.NumRanks() {
			if topo.BoxOf(r) == topo.BoxOf(0) {
				first++
			}
		}
		if topo.NumBoxes() != x.boxes || first != x.gpus {
			t.Errorf("%d nodes of %s: %d boxes, the first of %d GPUs", x.nodes, x.name, topo.NumBoxes(), first)
		}
	}
}

// Ranks with the same links to switches have routes like one another's: each pair's as a router finds it that was asked for nothing else.
func TestRoutesOfLikePairs(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "gb200-nvl72", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	shared := topology.NewRouter(topo)
	for a := range topo.NumRanks() {
		for b := range topo.NumRanks() {
			if a == b {
				continue
			}
			got, err := shared.Route(a, b)
			want, alone := topology.NewRouter(topo).Route(a, b)
			if err != nil || alone != nil || len(got.Hops) != len(want.Hops) || got.Rate != want.Rate || got.Latency != want.Latency {
				t.Fatalf("%d to %d: %v, alone %v; %v, %v", a, b, got, want, err, alone)
			}
			for i, h := range want.Hops {
				if got.Hops[i] != h {
					t.Fatalf("%d to %d: hop %d is %v, alone %v", a, b, i, got.Hops[i], h)
				}
			}
		}
	}
}
