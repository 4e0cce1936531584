package planner_test

import (
	"math"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// sharp makes a network's switches work on the data, too.
var sharp = []string{"models.leaf-switch.reduction=true", "models.leaf-switch.multicast=true", "models.spine-switch.reduction=true",
	"models.spine-switch.multicast=true"}

// Where switches work on the data, plans come to the optimum that this makes possible: an
// all-reduce of N bytes crosses each of n ranks' links with N·(n+1)/n in either direction, or each
// node's once. All-gather and reduce-scatter have a rank's own part on its links for nothing.
func TestInNetworkReachesTheBound(t *testing.T) {
	ideal := cost.Ideal
	for _, c := range []struct {
		name    string
		nodes   int
		set     []string
		algo    string
		kind    collective.Kind
		slices  int
		optimum float64 // GB/s
		share   float64
		lost    string
	}{
		{"dgx-h100", 1, nil, "in_network", collective.AllReduce, 256, 400, 0.99, ""},
		{"dgx-h100", 1, nil, "in_network", collective.AllGather, 1, 514.29, 0.8749, ""},
		{"dgx-h100", 1, nil, "in_network", collective.ReduceScatter, 1, 514.29, 0.8749, ""},
		{"dgx-h100", 1, nil, "in_network", collective.Broadcast, 1, 450, 0.9999, ""},
		{"dgx-h100", 1, nil, "in_network", collective.Reduce, 1, 450, 0.9999, ""},
		{"gb200-nvl72", 0, nil, "in_network", collective.AllReduce, 256, 900 * 72 / 73.0, 0.99, ""},
		{"dgx-h100", 2, nil, "hierarchical_in_network", collective.AllReduce, 256, 400, 0.98, ""},
		{"dgx-h100", 4, nil, "hierarchical_in_network", collective.AllReduce, 256, 266.67, 0.98, ""},
		{"dgx-h100", 4, sharp, "hierarchical_in_network", collective.AllReduce, 256, 400, 0.98, ""},
		// a lost adapter costs what it carried
		{"dgx-h100", 2, nil, "rerouted_in_network", collective.AllReduce, 64, 350, 0.95, "nic:node1/nic3"},
		{"dgx-h100", 2, nil, "rerouted_in_network", collective.AllReduce, 64, 350, 0.95, "gpu:node0/gpu5"},
		// all ranks own equal parts,
		{"dgx-h100", 1, nil, "in_network", collective.AllReduce, 256, (7*450 + 400) / 9.0, 0.89, "link:gpu0--nvswitch1=0.5"},
		{"dgx-h100", 1, nil, "in_network", collective.AllReduce, 256, 350, 0.88, "link:gpu0--nvswitch1"},
		{"dgx-a100", 1, []string{"models.nvswitch2.reduction=true", "models.nvswitch2.multicast=true"}, "in_network", collective.AllReduce,
			256, 300 * 8 / 9.0, 0.99, ""},
	} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		if c.lost != "" {
			if topo, err = topo.Degrade(gen.Faults(c.lost)); err != nil {
				t.Fatal(err)
			}
		}
		spec := collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}
		s, err := planner.Build(topo, spec, c.algo, planner.Options{Slices: c.slices})
		if err != nil {
			t.Fatal(err)
		}
		if err := schedule.Check(s, topo); err != nil {
			t.Error(err)
		}
		size := units.GiB
		r, err := sim.Run(topo, s, size, ideal, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bound := collective.LowerBound(topo, spec, size).Time
		if got := float64(size) / bound.Seconds() / 1e9; math.Abs(got-c.optimum) > 0.01 {
			t.Errorf("%d × %s %v: bound %.2f GB/s, want %.2f", c.nodes, c.name, c.kind, got, c.optimum)
		}
		if share := float64(bound) / float64(r.Time); share < c.share || share > 1 {
			t.Errorf("%d × %s %v: %.2f %% of the bound", c.nodes, c.name, c.kind, 100*share)
		}
		if topo.NumRanks() > 16 {
			continue
		}
		flat, err := sim.CompileFlat(topo, s, ideal)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := flat.Time(size); err != nil || got != r.Time {
			t.Errorf("%d × %s %v: %v folded, %v unfolded (%v)", c.nodes, c.name, c.kind, r.Time, got, err)
		}
	}
}

// Bounds from the structure never exceed what the simulator says.
func TestInNetworkBoundsHold(t *testing.T) {
	line := cost.Line
	for _, c := range []struct {
		nodes int
		set   []string
	}{{1, nil}, {3, nil}, {2, sharp}} {
		topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: c.nodes, GPUs: 4, Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		bounds := planner.NewBounds(topo, line)
		for _, algo := range []string{"in_network", "hierarchical_in_network"} {
			for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
				collective.Broadcast, collective.Reduce} {
				s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, algo, planner.Options{Slices: 4})
				if err != nil {
					continue // does not apply
				}
				for _, size := range []units.Bytes{1 << 10, 1 << 20, 1 << 30} {
					r, err := sim.Run(topo, s, size, line, sim.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if b := bounds.Time(s, size); b > r.Time || 20*b < r.Time {
						t.Errorf("%d nodes, %s %v of %v: bound %v, time %v", c.nodes, algo, kind, size, b, r.Time)
					}
				}
			}
		}
	}
}

// Plans let switches work only where the topology says that they do.
func TestInNetworkNeedsTheSwitches(t *testing.T) {
	h100, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a100, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: 8}
	for _, topo := range []*topology.Topology{a100, h100.WithoutInNetwork()} {
		if _, err := planner.Build(topo, spec, "in_network", planner.Options{}); !planner.NotApplicable(err) {
			t.Errorf("%s: %v", topo.Name(), err)
		}
	}
	s, err := planner.Build(h100, spec, "in_network", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(s, a100); err == nil {
		t.Error("checked on switches that only forward")
	}
	if _, err := sim.Compile(a100, s, &cost.Profile{}); err == nil {
		t.Error("simulated on switches that only forward")
	}
	if conform(t, h100) == 0 {
		t.Error("nothing was proven")
	}
}
