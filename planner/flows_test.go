package planner_test

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// Flows are right, and near the optimum (the linear programs' values, docs/planning.md).
func TestFlowsComeNearTheOptimum(t *testing.T) {
	ideal, err := cost.Get("ideal")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		optimum, share float64 // GB/s
	}{{"dgx1-p100", 40, 0.99}, {"dgx1-v100", 75, 0.96}, {"mi250x-node", 75, 0.88}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, "flows", planner.Options{Slices: 256})
		if err != nil {
			t.Fatal(err)
		}
		if err := schedule.Check(s, topo); err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(topo, s, units.GiB, ideal, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(units.GiB) / r.Time.Seconds() / 1e9 / c.optimum; share < c.share || share > 1 {
			t.Errorf("%s: %.1f %% of the optimum", c.name, 100*share)
		}
	}
}
