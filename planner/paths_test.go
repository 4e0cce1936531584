package planner_test

import (
	"bytes"
	"strings"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// islands are twice four GPUs, each four on a fast switch, all on a slow one.
func islands(t *testing.T) *topology.Topology {
	t.Helper()
	topo, err := topology.Parse("islands", []byte(`
schema: railyard.topology/v1
name: islands
source: test
date: 2026-11-23
classes:
  fast: {medium: nvlink, rate: 300GB/s, latency: 500ns, source: test, date: 2026-11-23}
  slow: {medium: nvlink, rate: 30GB/s, latency: 500ns, source: test, date: 2026-11-23}
devices:
  - {id: "gpu[0-7]", kind: gpu}
  - {id: "sw[0-2]", kind: nvswitch}
links:
  - {from: "gpu[0-3]", to: sw0, class: fast}
  - {from: "gpu[4-7]", to: sw1, class: fast}
  - {from: "gpu[0-7]", to: sw2, class: slow}
`), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// What stays on an island leaves the slow switch to what crosses, in every collective: within 3 % of what no schedule can beat.
// Divided evenly among both switches it takes twice as long.
func TestPathsLeaveSlowSwitchesToWhatNeedsThem(t *testing.T) {
	topo, ideal := islands(t), profile(t, "ideal")
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.Broadcast} {
		row := treesOn(t, topo, kind, 256)
		if share := row.OfBound(); share < 0.97 || share > 1 {
			t.Errorf("%v: %.2f %% of the bound", kind, 100*share)
		}
		even := *row.Schedule
		even.Paths = nil
		slow, err := sim.Run(topo, &even, units.GiB, ideal, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if slow.Time < row.Prediction.Time*3/2 {
			t.Errorf("%v: %v without paths, %v with them", kind, slow.Time, row.Prediction.Time)
		}
	}
}

// Plans with paths are right, come back from a file as they were, and take the same time folded or not, no less than their bound.
func TestPathsOfSchedules(t *testing.T) {
	ideal, named := profile(t, "ideal"), 0
	for _, family := range []string{"planes", "mixed"} {
		for seed := range int64(4) {
			topo := gen.Unseen(family, seed)
			if topo.NumRanks() > 24 {
				continue
			}
			s, err := planner.Build(topo, collective.Spec{Kind: collective.Broadcast, Ranks: topo.NumRanks()}, "packed_trees",
				planner.Options{Slices: 16})
			if err != nil {
				t.Fatal(err)
			}
			named += len(s.Paths)
			var file bytes.Buffer
			if err := schedule.Encode(&file, s); err != nil {
				t.Fatal(err)
			}
			back, err := schedule.Decode(&file)
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(back, topo); err != nil {
				t.Errorf("%s %d: %v", family, seed, err)
			}
			folded, err := sim.Run(topo, s, units.GiB, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := sim.CompileFlat(topo, back, ideal)
			if err != nil {
				t.Fatal(err)
			}
			flat, err := plan.Run(units.GiB, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if flat.Time != folded.Time {
				t.Errorf("%s %d: %v, unfolded %v", family, seed, folded.Time, flat.Time)
			}
		}
	}
	if named == 0 {
		t.Error("no plan names a path")
	}
}

// Paths over switches that a topology has not, or has lost, are refused.
func TestPathsOverLostSwitches(t *testing.T) {
	topo := islands(t)
	s := treesOn(t, topo, collective.AllGather, 4).Schedule
	for _, c := range []struct {
		edit func(*schedule.Schedule)
		want string
	}{
		{func(s *schedule.Schedule) { s.Paths[0].Stripes[0].Over = [][]string{{"sw9"}} }, `takes "sw9", which islands has not`},
		{func(s *schedule.Schedule) { s.Paths[0].Stripes[0].Over = nil }, "do not join gpu"},
		{func(s *schedule.Schedule) { s.Paths[0].Stripes[0].Weight = 0 }, "weight 0"},
		{func(s *schedule.Schedule) { s.Paths[0].Stripes = nil }, "0 stripes"},
		{func(s *schedule.Schedule) { s.Paths[0].To = 99 }, "must be two of the 8 ranks"},
		{func(s *schedule.Schedule) { s.Paths[1] = s.Paths[0] }, "each once"},
	} {
		var file bytes.Buffer
		if err := schedule.Encode(&file, s); err != nil {
			t.Fatal(err)
		}
		wrong, err := schedule.Decode(&file)
		if err != nil {
			t.Fatal(err)
		}
		c.edit(wrong)
		if err := schedule.Check(wrong, topo); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}
