package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// A plan says how far it is from what no paths can beat: PCIe, which flows leave alone,
// counts in the bound. Shares are docs/evidence/planning-methods.md's; of one pair there is no more than what its source sends out.
func TestFlowsStateTheirDistance(t *testing.T) {
	pair := matrix(8, func(i, j int) int64 { return int64(1 - min(i+max(j-5, 5-j), 1)) }) // 0 to 5
	for _, c := range []struct {
		name  string
		spec  collective.Spec
		share float64
	}{
		{"dgx1-p100", collective.Spec{Kind: collective.AllToAll, Ranks: 8}, 0.9999},
		{"dgx1-v100", collective.Spec{Kind: collective.AllToAll, Ranks: 8}, 0.98},
		{"dgx1-v100", collective.Spec{Kind: collective.AllToAllV, Ranks: 8, Counts: pair}, 0.89},
	} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		row := bestOf(t, topo, c.spec, "ideal", "")
		if share := row.OfBound(); share < c.share || share > 1 {
			t.Errorf("%s %v: %s, %.1f %% of the bound (%s)", c.name, c.spec.Kind, planner.Name(row.Schedule), 100*share, row.Bound.Cut)
		}
		notBehindClassical(t, topo, row, "ideal")
	}
}

// Of many ranks, fewer units of each pair fill the links as well: 95 % of the bound on a 5×5 mesh
// (docs/evidence/planning-methods.md), where breadth-first trees reach 68 %; of 4×4 by default.
func TestFlowsOfManyRanks(t *testing.T) {
	topo := grid(t, "4, 4", 16, false)
	if long.Given() {
		topo = grid(t, "5, 5", 25, false)
	}
	row := bestOf(t, topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, "ideal", "")
	trees := bestOf(t, topo, row.Schedule.Spec, "ideal", "breadth_first")
	if share := row.OfBound(); share < 1.3*trees.OfBound() || share > 1 {
		t.Errorf("%s, %.1f %% of the bound (%s); breadth-first trees %.1f %%", planner.Name(row.Schedule), 100*share, row.Bound.Cut,
			100*trees.OfBound())
	}
}

// Flows are right, and near the optimum (the linear programs' values, docs/evidence/planning-methods.md; of
// scatter and gather, what the root's links carry).
func TestFlowsComeNearTheOptimum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		kind           collective.Kind
		optimum, share float64 // GB/s
	}{
		{"dgx1-p100", collective.AllToAll, 40, 0.99}, {"dgx1-v100", collective.AllToAll, 75, 0.96},
		{"mi250x-node", collective.AllToAll, 75, 0.88},
		{"dgx1-p100", collective.SendRecv, 40, 0.99}, {"dgx1-v100", collective.SendRecv, 75, 0.96},
		{"mi300x-node", collective.SendRecv, 256, 0.93},
		{"dgx1-v100", collective.Scatter, 150 * 8. / 7, 0.98}, {"dgx1-v100", collective.Gather, 150 * 8. / 7, 0.98},
		{"mi250x-node", collective.Scatter, 300 * 16. / 14, 0.97},
	} {
		if share := flowRate(t, c.name, 0, c.kind) / c.optimum; share < c.share || share > 1 {
			t.Errorf("%s %v: %.1f %% of the optimum", c.name, c.kind, 100*share)
		}
	}
}

// Where links behind switches are shared, what others pass on is early enough only in an order: 32 GPUs on a switch and links come to
// 100 % of the bound, of two kinds behind a slow switch to 94.
func TestOrderedFlowsBehindSwitches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		family string
		seed   int64
		share  float64
	}{{"mixed", 7001, 0.98}, {"two kinds", 7002, 0.92}, {"boxes", 7002, 0.92}} {
		topo := gen.Unseen(c.family, c.seed)
		row := bestOf(t, topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, "ideal", "ordered_flows")
		if share := row.OfBound(); share < c.share || share > 1 {
			t.Errorf("%s: %.1f %% of the bound", topo.Name(), 100*share)
		}
	}
}

// What goes from node to node takes all rails.
func TestSendRecvTakesAllRails(t *testing.T) {
	for name, rails := range map[string]float64{"dgx-h100": 8 * 50, "dgx-a100": 8 * 25} {
		for _, nodes := range []int{2, 3} {
			if share := flowRate(t, name, nodes, collective.SendRecv) / rails; share < 0.97 || share > 1 {
				t.Errorf("%d × %s: %.1f %% of what a node's adapters carry", nodes, name, 100*share)
			}
		}
	}
}

// Where an adapter is lost, the others of its node carry what it did, in equal parts.
func TestSendRecvTakesRailsThatAreLeft(t *testing.T) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	topo, err := whole.Degrade(gen.Faults("nic:node1/nic3"))
	if err != nil {
		t.Fatal(err)
	}
	row := bestOf(t, topo, collective.Spec{Kind: collective.SendRecv, Ranks: topo.NumRanks()}, "ideal", "")
	if share := row.OfBound(); share < 0.88 || share > 1 {
		t.Errorf("%s, %.1f %% of the bound (%s)", planner.Name(row.Schedule), 100*share, row.Bound.Cut)
	}
}

// Between nodes whose ranks are joined by direct links, plans take these and all adapters: shares
// are docs/evidence/planning-methods.md's, of what no schedule can beat (of send_recv on MI250X, with PCIe, which flows leave alone).
func TestFlowsBetweenNodes(t *testing.T) {
	for _, c := range []struct {
		name                      string
		scatter, gather, sendRecv float64
		long                      bool
	}{
		{"dgx1-v100", 0.99, 0.89, 0.99, false}, {"dgx1-p100", 0.98, 0.82, 0.95, true},
		{"mi250x-node", 0.96, 0.80, 0.79, true}, {"mi300x-node", 0.98, 0.98, 0.86, true},
	} {
		if c.long && !long.Given() {
			continue
		}
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		for kind, least := range map[collective.Kind]float64{collective.Scatter: c.scatter, collective.Gather: c.gather,
			collective.SendRecv: c.sendRecv} {
			row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "ideal", "")
			if share := row.OfBound(); share < least || share > 1 {
				t.Errorf("%s, %v: %s, %.1f %% of the bound (%s)", c.name, kind, planner.Name(row.Schedule), 100*share, row.Bound.Cut)
			}
			if long.Given() {
				notBehindClassical(t, topo, row, "ideal")
			}
		}
	}
}

// So it does on 128 GPUs, and in the long tier on 16,384, latencies included; the plan is proven right. A message
// takes one adapter, a plan all eight: of these, nine tenths at least.
func TestSendRecvOfAWholeMachine(t *testing.T) {
	t.Parallel()
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: long.Or(16, 2048)})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.SendRecv, Ranks: topo.NumRanks()}
	row, direct := bestOf(t, topo, spec, "line", ""), bestOf(t, topo, spec, "line", "direct")
	if share := row.OfBound(); share > 1 || row.Prediction.Time.Seconds() > direct.Prediction.Time.Seconds()/7 {
		t.Errorf("%s, %.1f %% of the bound (%s); %v, direct %v", planner.Name(row.Schedule), 100*share, row.Bound.Cut, row.Prediction.Time,
			direct.Prediction.Time)
	}
}

// flowRate is the rate of a GiB by flows, in GB/s; the schedule is proven right.
func flowRate(t *testing.T, name string, nodes int, kind collective.Kind) float64 {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "flows", planner.Options{Slices: 256})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(s, topo); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(topo, s, units.GiB, profile(t, "ideal"), sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return float64(units.GiB) / r.Time.Seconds() / 1e9
}
