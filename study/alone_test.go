package study_test

import (
	"fmt"
	"testing"
	"time"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study"
)

// A row of a sweep is that of its size asked alone, to the byte, whatever the budget: on shipped machines as they are and with parts
// lost, slowed and changed. Sizes are in steps of four as pipelines' depths are, so that what one size foretells is asked at others.
func TestARowIsThatOfItsSizeAlone(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.AllToAll, collective.Broadcast}
	sizes := []units.Bytes{units.KiB, 3*units.MiB + 17, 64 * units.MiB, 256 * units.MiB, units.GiB}
	eachMachine(t, long.Or(8, 32), long.Or[uint64](1, 3), func(t *testing.T, m machine) {
		own, err := cost.MachineFor(m.Topology)
		if err != nil {
			t.Fatal(err)
		}
		for i, kind := range kinds {
			if (m.turn+i)%long.Or(12, 2) != 0 {
				continue
			}
			search := study.Search{Budget: planner.BudgetOf(50 * time.Millisecond)}
			if m.turn%4 == 0 {
				search.Budget = planner.DefaultBudget
			}
			asAlone(t, m, own, kind, search, sizes)
		}
	})
}

// The same where the budget ends before all candidates are looked at, and what they took decides which are.
func TestARowIsThatOfItsSizeAloneWhereTheBudgetEnds(t *testing.T) {
	topo, what, _ := changed("mi250x-node", 1, 0)
	own, err := cost.MachineFor(topo)
	if err != nil {
		t.Fatal(err)
	}
	for _, ms := range long.Or([]time.Duration{20, 100}, []time.Duration{20, 100, 300}) {
		asAlone(t, machine{Topology: topo, what: what}, own, collective.AllToAll,
			study.Search{Budget: planner.BudgetOf(ms * time.Millisecond)}, []units.Bytes{16 * units.MiB, 64 * units.MiB, 256 * units.MiB})
	}
}

func asAlone(t *testing.T, m machine, own *cost.Machine, kind collective.Kind, search study.Search, sizes []units.Bytes) {
	t.Helper()
	swept := answered(t, m.Topology, own, kind, search, sizes...)
	if swept == nil {
		return
	}
	for k, size := range sizes {
		alone := answered(t, m.Topology, own, kind, search, size)
		if a, b := written(&swept.Rows[k]), written(&alone.Rows[0]); a != b {
			t.Errorf("%s: %v of %v:\n%s\nof a sweep,\n%s\nalone", m.what, kind, size, a, b)
		}
	}
}

// written is all that a row says.
func written(r *study.Row) string {
	out := fmt.Sprintf("%v %s %v %+v %+v %+v", r.Size, planner.Name(r.Schedule), r.Schedule.Inputs, r.Prediction, r.Bound, r.NCCL)
	if r.RunnerUp != nil {
		out += fmt.Sprintf(", then %s in %v", planner.Name(r.RunnerUp), r.RunnerTime)
	}
	for _, x := range r.Why {
		out += fmt.Sprintf("\n%s %v %v %v %v", planner.Name(x.Schedule), x.Time, x.Pruned, x.TooLarge, x.Gain)
	}
	return out
}
