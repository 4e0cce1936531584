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

// TestKeepBoundsLongPlans: an old plan that takes long to play is bounded where it cannot be faster than the new one, and played otherwise.
func TestKeepBoundsLongPlans(t *testing.T) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	left, err := whole.Degrade(gen.Faults("nic:node1/nic3"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := planner.Build(whole, collective.Spec{Kind: collective.AllGather, Ranks: whole.NumRanks()}, "ring", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	score := &working{simulated: newSimulated(t, left, profile(t, "line"))}
	took, err := score.Time(old, units.GiB, units.MaxTime)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		work  int64
		now   units.Time
		least bool
	}{{1 << 40, 1, true}, {1 << 40, units.MaxTime, false}, {1, 1, false}} {
		score.work = c.work
		k, err := planner.Keep(left, score.profile, old, units.GiB, score, c.now)
		if err != nil || k.Least != c.least || k.Time > took || !k.Least && k.Time != took || k.Time < min(c.now, took/2) {
			t.Errorf("work %d, beside %v: %+v (%v), played it takes %v", c.work, c.now, k, err, took)
		}
	}
}

// working is a simulation of which so much work is said.
type working struct {
	*simulated
	work int64
}

func (w *working) Work(*schedule.Schedule) int64 { return w.work }

// estimating is a simulation that compiles nothing, and counts what it was asked to.
type estimating struct {
	*simulated
	asked int
}

func (e *estimating) Estimate(*schedule.Schedule, units.Bytes) (units.Time, error) {
	e.asked++
	return 0, planner.ErrTooLarge
}

// TestKeepCompilesTreesWhereTheyMayBeFaster: old trees of many ranks are compiled only where they may be faster than the new plan.
func TestKeepCompilesTreesWhereTheyMayBeFaster(t *testing.T) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 16})
	if err != nil {
		t.Fatal(err)
	}
	left, err := whole.Degrade(gen.Faults("nic:node1/nic3"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := planner.Build(whole, collective.Spec{Kind: collective.AllGather, Ranks: whole.NumRanks()}, "packed_trees", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	line := profile(t, "line")
	least := planner.LeastTime(left, line, old, units.GiB)
	for _, now := range []units.Time{least - 1, least, least + 1} {
		score := &estimating{simulated: newSimulated(t, left, line)}
		k, err := planner.Keep(left, line, old, units.GiB, score, now)
		if err != nil || k != (planner.Kept{Time: least, Least: true}) || (score.asked > 0) != (least < now) {
			t.Errorf("beside %v: %+v (%v), compiled %d times; it takes at least %v", now, k, err, score.asked, least)
		}
	}
}
