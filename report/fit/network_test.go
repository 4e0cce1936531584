package fit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// measuredNetwork are rows of messages between all pairs that take α and bytes at a share of the line rate, with noise of
// one per cent, and slower by what slow says.
func measuredNetwork(t *testing.T, topo *topology.Topology, alpha, share float64, slow func(a, b int) float64) (rows []measurement.Link,
	ranks []int) {
	random := rand.New(rand.NewPCG(1, 2))
	router := topology.NewRouter(topo)
	for r := range topo.NumRanks() {
		ranks = append(ranks, r)
	}
	for a := range ranks {
		for b := a + 1; b < len(ranks); b++ {
			route, err := router.Route(a, b)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []units.Bytes{8, units.MiB, 16 * units.MiB} {
				for range 5 {
					us := alpha
					if size > 8 {
						us += size.Over(route.Rate).Microseconds() / share
					}
					rows = append(rows, measurement.Link{Kind: "net_pair", Src: fmt.Sprint(a), Dst: fmt.Sprint(b), Bytes: size,
						Value: us * slow(a, b) * (1 + 0.01*random.NormFloat64()), Unit: "us"})
				}
			}
		}
	}
	return rows, ranks
}

func hosts(t *testing.T, nodes int) *topology.Topology {
	topo, err := topology.Load(topologies.Source, "leaf-spine-roce", topology.Options{Nodes: nodes, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

func TestFromNetwork(t *testing.T) {
	topo := hosts(t, 6)
	rows, ranks := measuredNetwork(t, topo, 20, 0.6, func(int, int) float64 { return 1 })
	n, err := FromNetwork(rows, topo, ranks)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range n.Curve.Segments {
		if got := s.Alpha.Microseconds(); got < 19.5 || got > 20.5 || s.Efficiency < 0.59 || s.Efficiency > 0.61 {
			t.Errorf("from %v on: α %.2f µs and %.3f of the line, want 20 and 0.6", s.From, got, s.Efficiency)
		}
	}
	if len(n.Suspects) > 0 {
		t.Errorf("noise is suspected: %v", n.Suspects)
	}
	if _, err := FromNetwork(nil, topo, ranks); err == nil || !strings.Contains(err.Error(), "no rows net_pair") {
		t.Errorf("%v", err)
	}
	rows[0].Src = "9"
	if _, err := FromNetwork(rows, topo, ranks); err == nil || !strings.Contains(err.Error(), `from "9"`) {
		t.Errorf("%v", err)
	}
}

// TestSuspects: what was made slow is named, nothing else, and noise is not.
func TestSuspects(t *testing.T) {
	topo := hosts(t, 16)
	if tiers := topo.Tiers(); len(tiers) != 2 || tiers[1].Groups < likes {
		t.Fatalf("tiers %+v: this test needs leaves", tiers)
	}
	leaf := func(process int) int32 { return topo.Tiers()[1].Of[process] }
	for want, slow := range map[string]func(a, b int) float64{
		"":               func(int, int) float64 { return 1 },
		"node 3":         func(a, b int) float64 { return 1 + 0.5*one(a == 3 || b == 3) },
		"leaf 1":         func(a, b int) float64 { return 1 + one((leaf(a) == 1) != (leaf(b) == 1)) },
		"nodes 2 and 7":  func(a, b int) float64 { return 1 + 0.3*one(a == 2 && b == 7) },
		"node 5, node 9": func(a, b int) float64 { return (1 + one(a == 5 || b == 5)) * (1 + 0.4*one(a == 9 || b == 9)) },
	} {
		rows, ranks := measuredNetwork(t, topo, 20, 0.6, slow)
		n, err := FromNetwork(rows, topo, ranks)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range n.Suspects {
			got = append(got, s.What)
			if s.Slower < 1.2 || s.Look == "" {
				t.Errorf("%v", s)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("suspected: %v, want %s", n.Suspects, want)
		}
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
