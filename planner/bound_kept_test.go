package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// What is said of old plans that are too large to simulate holds for all that can be, and
// tells what a lost adapter costs them.
func TestLeastTimeOfOldPlans(t *testing.T) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	line := profile(t, "line")
	left, err := whole.Degrade(gen.Faults("nic:node2/nic3"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := []collective.Kind{collective.AllToAll, collective.AllReduce, collective.Broadcast, collective.AllGather,
		collective.ReduceScatter, collective.Reduce}
	for _, kind := range kinds[:long.Or(2, len(kinds))] {
		spec := collective.Spec{Kind: kind, Ranks: whole.NumRanks()}
		list, err := planner.Candidates(whole, spec, "", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Channels[0].Depth() > 4 {
				continue
			}
			for _, size := range []units.Bytes{64 * units.KiB, units.GiB} {
				r, err := sim.Run(left, s, size, line, sim.Options{})
				if err != nil {
					t.Fatal(err)
				}
				least := planner.LeastTime(left, line, s, size)
				share := float64(least) / float64(r.Time)
				if share > 1 {
					t.Errorf("%v by %s, %v: at least %v, but takes %v", kind, planner.Name(s), size, least, r.Time)
				}
				if tells := kind == collective.AllToAll && planner.Name(s) == "direct"; tells && size == units.GiB && share < 0.95 {
					t.Errorf("%v by %s, %v: at least %v of %v", kind, planner.Name(s), size, least, r.Time)
				}
				t.Logf("%v by %s, %v: at least %.0f %%", kind, planner.Name(s), size, 100*share)
			}
		}
	}
}
