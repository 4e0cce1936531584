package planner_test

import (
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/study/score"
	"railyard/topologies"
)

// A plan says how far it is from what no paths can beat: PCIe, which flows leave alone,
// counts in the bound. Where all direct links are alike, balanced shortest paths reach that of these.
func TestFlowsStateTheirDistance(t *testing.T) {
	ideal, err := cost.Get("ideal")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, algorithm string
		kind            collective.Kind
		share           float64
	}{{"dgx1-p100", "breadth_first", collective.AllToAll, 0.9999}, {"dgx1-v100", "short_flows", collective.AllToAll, 0.98}, {"dgx1-v100", "short_flows", collective.AllToAllV, 0.89}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		spec := collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}
		if c.kind == collective.AllToAllV { // one pair: no more than what its source sends out
			spec.Counts = matrix(8, func(i, j int) int64 {
				if i == 0 && j == 5 {
					return 1
				}
				return 0
			})
		}
		rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, score.New(topo, ideal), planner.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if share := rows[0].OfBound(); rows[0].Schedule.Algorithm != c.algorithm || share < c.share || share > 1 {
			t.Errorf("%s %v: %s, %.1f %% of the bound (%s)", c.name, c.kind, rows[0].Schedule.Algorithm, 100*share, rows[0].Bound.Cut)
		}
	}
}

// Of many ranks, fewer units of each pair fill the links as well: breadth-first trees reach
// 68 % of the bound here.
func TestFlowsOfManyRanks(t *testing.T) {
	ideal, err := cost.Get("ideal")
	if err != nil {
		t.Fatal(err)
	}
	topo := grid(t, "5, 5", 25, false)
	rows, err := planner.Plan(topo, collective.Spec{Kind: collective.AllToAll, Ranks: 25}, []units.Bytes{256 * units.MiB}, score.New(topo, ideal), planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(rows[0].Schedule, topo); err != nil {
		t.Fatal(err)
	}
	if share := rows[0].OfBound(); rows[0].Schedule.Algorithm != "short_flows" || share < 0.945 || share > 1 {
		t.Errorf("%s, %.1f %% of the bound (%s)", rows[0].Schedule.Algorithm, 100*share, rows[0].Bound.Cut)
	}
}

// Flows are right, and near the optimum (the linear programs' values, docs/planning.md; of
// scatter and gather, what the root's links carry).
func TestFlowsComeNearTheOptimum(t *testing.T) {
	for _, c := range []struct {
		name           string
		kind           collective.Kind
		optimum, share float64 // GB/s
	}{
		{"dgx1-p100", collective.AllToAll, 40, 0.99}, {"dgx1-v100", collective.AllToAll, 75, 0.96}, {"mi250x-node", collective.AllToAll, 75, 0.88},
		{"dgx1-p100", collective.SendRecv, 40, 0.99}, {"dgx1-v100", collective.SendRecv, 75, 0.96}, {"mi300x-node", collective.SendRecv, 256, 0.93},
		{"dgx1-v100", collective.Scatter, 150 * 8. / 7, 0.98}, {"dgx1-v100", collective.Gather, 150 * 8. / 7, 0.98}, {"mi250x-node", collective.Scatter, 300 * 16. / 14, 0.97},
	} {
		if share := flowRate(t, c.name, 0, c.kind) / c.optimum; share < c.share || share > 1 {
			t.Errorf("%s %v: %.1f %% of the optimum", c.name, c.kind, 100*share)
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

// Between nodes whose ranks are joined by direct links, flows take these and all adapters: shares
// are of what no schedule can beat (of send_recv on MI250X, with PCIe, which flows leave alone).
func TestFlowsBetweenNodes(t *testing.T) {
	for _, c := range []struct {
		name                      string
		scatter, gather, sendRecv float64
	}{{"dgx1-v100", 0.99, 0.89, 0.99}, {"dgx1-p100", 0.98, 0.82, 0.95}, {"mi250x-node", 0.96, 0.80, 0.79}, {"mi300x-node", 0.98, 0.98, 0.86}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		for kind, least := range map[collective.Kind]float64{collective.Scatter: c.scatter, collective.Gather: c.gather, collective.SendRecv: c.sendRecv} {
			rows, err := planner.Plan(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, []units.Bytes{units.GiB}, score.New(topo, profile(t, "ideal")), planner.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(rows[0].Schedule, topo); err != nil {
				t.Error(err)
			}
			if share := rows[0].OfBound(); !strings.HasSuffix(rows[0].Schedule.Algorithm, "flows") || share < least || share > 1 {
				t.Errorf("%s, %v: %s, %.1f %% of the bound (%s)", c.name, kind, rows[0].Schedule.Algorithm, 100*share, rows[0].Bound.Cut)
			}
		}
	}
}

// So it does on 16,384 GPUs, latencies included; the plan is proven right.
func TestSendRecvOfAWholeMachine(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 2048})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := planner.Plan(topo, collective.Spec{Kind: collective.SendRecv, Ranks: topo.NumRanks()}, []units.Bytes{units.GiB}, score.New(topo, profile(t, "line")), planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(rows[0].Schedule, topo); err != nil {
		t.Error(err)
	}
	if share := rows[0].OfBound(); rows[0].Schedule.Algorithm != "flows" || share < 0.89 || share > 1 {
		t.Errorf("%s, %.1f %% of the bound (%s)", rows[0].Schedule.Algorithm, 100*share, rows[0].Bound.Cut)
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
