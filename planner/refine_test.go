package planner_test

import (
	"strconv"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

// shapeOf are a plan's slices, as they were asked for, and its channels.
func shapeOf(t *testing.T, s *schedule.Schedule) (slices, channels int) {
	slices, err := strconv.Atoi(s.Inputs["slices"])
	if err != nil {
		t.Fatalf("%s: %v", planner.Name(s), err)
	}
	return slices, len(s.Channels)
}

// No plan is faster by more than what ends a search if it has half or twice as many slices, or channels where it has slices, but for
// fewer channels than the algorithm wants: what the budget suffices for by far on one node.
func TestNoShapeBesideAPlanIsFaster(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dgx-h100", "mi300x-node", "dgx1-v100", "pcie4-server"} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.AllReduce, collective.Broadcast, collective.AllGather, collective.Gather} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			for _, size := range []units.Bytes{4 * units.MiB, 256 * units.MiB} {
				by := score.New(topo, profile(t, "line"))
				rows, err := planner.Plan(topo, spec, []units.Bytes{size}, by, planner.PlanOptions{})
				if err != nil {
					t.Fatal(err)
				}
				row := rows[0]
				slices, channels := shapeOf(t, row.Schedule)
				own, err := planner.Build(topo, spec, row.Schedule.Algorithm, planner.Options{Slices: slices})
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range beside(slices, channels, len(own.Channels)) {
					other, err := planner.Build(topo, spec, row.Schedule.Algorithm, o)
					if err != nil {
						continue // there is none in that shape
					}
					if at, err := by.Time(other, size, units.MaxTime); err == nil && float64(at) < 0.99*float64(row.Prediction.Time) {
						t.Errorf("%s, %v of %v: %s takes %v, %s only %v", name, kind, size, planner.Name(row.Schedule), row.Prediction.Time,
							planner.Name(other), at)
					}
				}
			}
		}
	}
}

// No family is left behind that would be faster in another shape: a plan takes no longer than that of each algorithm alone.
func TestNoFamilyIsLeftBehind(t *testing.T) {
	t.Parallel()
	for name, protocols := range map[string][]schedule.Protocol{
		"pcie4-server": {schedule.Simple, schedule.LL}, "summit-node": {schedule.Simple}} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		noneIsLeftBehind(t, topo, protocols)
	}
}

func noneIsLeftBehind(t *testing.T, topo *topology.Topology, protocols []schedule.Protocol) {
	t.Helper()
	own, err := cost.MachineFor(topo)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.Broadcast} {
		spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
		for _, size := range []units.Bytes{units.MiB, 4 * units.MiB, 16 * units.MiB} {
			plan := func(o planner.PlanOptions) (planner.Row, error) {
				o.Protocols = protocols
				rows, err := planner.Plan(topo, spec, []units.Bytes{size}, score.New(topo, own.Own(topo)), o)
				return append(rows, planner.Row{})[0], err
			}
			row, err := plan(planner.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range planner.Algorithms() {
				alone, err := plan(planner.PlanOptions{Algorithm: a.Name})
				if err == nil && float64(alone.Prediction.Time) < 0.98*float64(row.Prediction.Time) {
					t.Errorf("%s, %v of %v: %s takes %v, %s %v", topo.Name(), kind, size, planner.Name(row.Schedule), row.Prediction.Time,
						planner.Name(alone.Schedule), alone.Prediction.Time)
				}
			}
		}
	}
}

// Another family may come to be the best by a step that gains it next to nothing: then what it has come to counts.
func TestSmallStepsCount(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	spec, by := collective.Spec{Kind: collective.AllGather, Ranks: topo.NumRanks()}, score.New(topo, cost.Line)
	rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, by, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []planner.Options{{Slices: 16, Channels: 2}, {Slices: 32, Channels: 2}} { // 0.9 % apart
		trees, err := planner.Build(topo, spec, "parallel_trees", o)
		if err != nil {
			t.Fatal(err)
		}
		at, err := by.Time(trees, units.GiB, units.MaxTime)
		if planned := rows[0].Prediction.Time; err != nil || float64(at) < 0.99*float64(planned) {
			t.Errorf("%s takes %v, %s only %v (%v)", planner.Name(rows[0].Schedule), planned, planner.Name(trees), at, err)
		}
	}
}

func beside(slices, channels, own int) (out []planner.Options) {
	out = append(out, planner.Options{Slices: 2 * slices, Channels: channels})
	if slices > 1 {
		out = append(out, planner.Options{Slices: slices / 2, Channels: channels})
		if 2*channels <= 8 {
			out = append(out, planner.Options{Slices: slices, Channels: 2 * channels})
		}
		if channels > own {
			out = append(out, planner.Options{Slices: slices, Channels: channels / 2})
		}
	}
	return out
}

// What is asked for stays: slices, channels, one algorithm, one memory for input and output.
func TestShapesThatAreAskedForStay(t *testing.T) {
	t.Parallel()
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
	for _, o := range []planner.PlanOptions{{Build: planner.Options{Slices: 3}}, {Build: planner.Options{Channels: 3}},
		{Algorithm: "hierarchical_ring", Build: planner.Options{Slices: 5, Channels: 2}}, {InPlace: true}} {
		rows, err := planner.Plan(topo, spec, []units.Bytes{64 * units.MiB}, score.New(topo, profile(t, "line")), o)
		if err != nil {
			t.Fatal(err)
		}
		s := rows[0].Schedule
		slices, channels := shapeOf(t, s)
		if want := o.Build.Slices; want > 0 && slices != want {
			t.Errorf("%d slices asked for: %s", want, planner.Name(s))
		}
		if want := o.Build.Channels; want > 0 && channels != want {
			t.Errorf("%d channels asked for: %s has %d", want, planner.Name(s), channels)
		}
		if o.Algorithm != "" && s.Algorithm != o.Algorithm {
			t.Errorf("%s asked for: %s", o.Algorithm, planner.Name(s))
		}
		if _, err := schedule.InPlace(s); o.InPlace && err != nil {
			t.Errorf("in place: %s: %v", planner.Name(s), err)
		}
	}
}

// Over several tiers of like groups, rails that go over all nodes at once take fewer steps than those tier by tier, and are not left out.
func TestRailsOverAllNodesAreNotLeftOut(t *testing.T) {
	t.Parallel()
	topo, err := topology.Load(topologies.Source, "leaf-spine-roce", topology.Options{Nodes: 12})
	if err != nil {
		t.Fatal(err)
	}
	own, err := cost.MachineFor(topo)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []collective.Kind{collective.AllGather, collective.AllReduce} {
		var times []units.Time
		for _, algo := range []string{"", "rerouted_rails"} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			rows, err := planner.Plan(topo, spec, []units.Bytes{256 * units.KiB}, score.New(topo, own.Own(topo)), planner.PlanOptions{Algorithm: algo})
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, rows[0].Prediction.Time)
		}
		if times[0] > times[1] {
			t.Errorf("%v: %v, by rails over all nodes %v", kind, times[0], times[1])
		}
	}
}
