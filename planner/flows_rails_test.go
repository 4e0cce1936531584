package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// What a lost or slow adapter carried is shared out among the others of its node, in
// all-to-alls as well, instead of doubling what one of them has to do.
func TestAllToAllsLeaveByRailsWithRoom(t *testing.T) {
	uneven := matrix(32, func(i, j int) int64 { return int64((i*7+j*13)%29) * 1000 })
	for i, c := range []struct {
		name, fault string
		nodes       int
		counts      [][]int64
		share, gain float64 // of the bound, and over direct, at least
	}{
		{"dgx-h100", "nic:node1/nic3", 2, nil, 0.99, 1.6},
		{"dgx-h100", "nic:node1/nic3", 4, nil, 0.99, 1.7},
		{"dgx-h100", "nic:node1/nic3=0.5", 4, nil, 0.98, 1.7},
		{"dgx-h100", "gpu:node0/gpu1=0.5", 4, nil, 0.93, 1.4},
		{"dgx-h100", "switch:leaf0", 4, nil, 0.99, 1.7},
		{"dgx-h100", "nic:node1/nic3", 4, uneven, 0.9, 1.4},
		{"dgx2", "nic:node0/nic3", 2, nil, 0.99, 1.15},
		{"dgx1-v100", "nic:node0/nic1=0.5", 2, nil, 0.97, 1.6},
	} {
		if !long.Given() && i%3 != 1 {
			continue
		}
		whole, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		topo, err := whole.Degrade(gen.Faults(c.fault))
		if err != nil {
			t.Fatal(err)
		}
		spec := collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}
		if c.counts != nil {
			spec = collective.Spec{Kind: collective.AllToAllV, Ranks: topo.NumRanks(), Counts: c.counts}
		}
		best, direct := bestOf(t, topo, spec, "ideal", ""), bestOf(t, topo, spec, "ideal", "direct")
		if share := best.OfBound(); share < c.share || share > 1 {
			t.Errorf("%s × %d, %s: %s, %.1f %% of the bound (%s)", c.name, c.nodes, c.fault, planner.Name(best.Schedule), 100*share,
				best.Bound.Cut)
		}
		if gain := direct.Prediction.Time.Seconds() / best.Prediction.Time.Seconds(); gain < c.gain {
			t.Errorf("%s × %d, %s: only %.2f times as fast as direct", c.name, c.nodes, c.fault, gain)
		}
	}
}
