package planner_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
)

// A part that still works, however slowly, costs a plan no more than one that is lost: whatever can be planned without it can be
// played beside it, by the ways that the plan names. (Operations of switches go through each GPU's own adapters, so none here.)
func TestSlowPartsCostNoMoreThanLostOnes(t *testing.T) {
	t.Parallel()
	machines := []struct {
		name  string
		nodes int
	}{{"dgx1-v100", 1}, {"mi300x-node", 1}, {"dgx-h100", 2}, {"dgx-a100", 2}, {"mi250x-node", 1}, {"pcie4-server", 1}, {"summit-node", 2}}
	kinds := []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.Broadcast,
		collective.AllToAll, collective.Scatter}
	sizes := []units.Bytes{64 << 10, 8 << 20, 256 << 20}
	for seed := range uint64(long.Or(7, 70)) {
		m := machines[seed%uint64(len(machines))]
		rng := rand.New(rand.NewPCG(seed, 9))
		whole := degraded(t, m.name, m.nodes)
		spec := collective.Spec{Kind: kinds[rng.IntN(len(kinds))], Ranks: whole.NumRanks()}
		slow := randomPart(rng, whole)
		lost := slow
		slow.Rate = []float64{0.5, 0.1, 0.01}[rng.IntN(3)]
		left, err := whole.Degrade([]topology.Fault{lost})
		if err != nil || left.NumRanks() < whole.NumRanks() {
			continue // nothing could be planned for all ranks
		}
		beside, err := whole.Degrade([]topology.Fault{slow})
		if err != nil {
			t.Fatal(err)
		}
		without, with := planned(t, left, spec, sizes), planned(t, beside, spec, sizes)
		for i := range sizes {
			a, b := without[i].Prediction.Time, with[i].Prediction.Time
			if b > a {
				t.Errorf("seed %d: %s, %v of %v: %v by %s, without it %v by %s", seed, beside.Name(), spec.Kind, sizes[i], b,
					planner.Name(with[i].Schedule), a, planner.Name(without[i].Schedule))
			}
			if err := schedule.Check(with[i].Schedule, beside); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if bound := with[i].Bound.Time; bound > b {
				t.Errorf("seed %d: %s, %v of %v: %v beats the bound %v", seed, beside.Name(), spec.Kind, sizes[i], b, bound)
			}
		}
	}
}

// randomPart is a link, both ways, or an adapter of a machine.
func randomPart(rng *rand.Rand, topo *topology.Topology) topology.Fault {
	name := topo.LinkName(topology.LinkID(rng.IntN(len(topo.Links()))))
	for _, end := range strings.Split(name, "->") {
		if d, ok := topo.Lookup(end); ok && topo.Devices()[d].Kind == topology.NIC {
			return topology.Fault{Part: topology.NICPart, Name: end}
		}
	}
	return topology.Fault{Name: strings.Replace(name, "->", "--", 1)}
}

func planned(t *testing.T, topo *topology.Topology, spec collective.Spec, sizes []units.Bytes) []planner.Row {
	t.Helper()
	rows, err := planner.Plan(topo, spec, sizes, score.New(topo, profile(t, "line")), planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
