package planner_test

import (
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// simulated scores by simulation; without bounds and estimates where it is exhaustive.
type simulated struct {
	t          testing.TB
	topo       *topology.Topology
	profile    *cost.Profile
	bounds     *planner.Bounds
	exhaustive bool
	plans      map[*schedule.Schedule]*sim.Plan
	times      map[timeOf]units.Time
	compiled   int
}

type timeOf struct {
	s    *schedule.Schedule
	size units.Bytes
}

func newSimulated(t testing.TB, topo *topology.Topology, p *cost.Profile) *simulated {
	return &simulated{t: t, topo: topo, profile: p, bounds: planner.NewBounds(topo, p), plans: map[*schedule.Schedule]*sim.Plan{},
		times: map[timeOf]units.Time{}}
}

func (s *simulated) plan(x *schedule.Schedule) *sim.Plan {
	if s.plans[x] == nil {
		p, err := sim.Compile(s.topo, x, s.profile)
		if err != nil {
			s.t.Fatalf("%s: %s: %v", s.topo.Name(), planner.Name(x), err)
		}
		s.plans[x] = p
		s.compiled++
	}
	return s.plans[x]
}

// Work is next to nothing, where it is known without compiling.
func (s *simulated) Work(x *schedule.Schedule) int64 { return min(1, x.Ordered()) }

func (s *simulated) Foreseen(x, _ *schedule.Schedule) int64 { return s.Work(x) }

func (*simulated) Begin() {}

func (s *simulated) Spent() int64 { return 0 }

func (s *simulated) Bound(x *schedule.Schedule, size units.Bytes) units.Time {
	if s.exhaustive {
		return 0
	}
	return s.bounds.Time(x, size)
}

func (s *simulated) Estimate(x *schedule.Schedule, size units.Bytes) (units.Time, error) {
	if s.exhaustive {
		return 0, nil
	}
	return s.plan(x).LowerEstimate(size), nil
}

func (s *simulated) Time(x *schedule.Schedule, size units.Bytes, _ units.Time) (units.Time, error) {
	if t, ok := s.times[timeOf{x, size}]; ok {
		return t, nil
	}
	t, err := s.plan(x).Time(size)
	s.times[timeOf{x, size}] = t
	return t, err
}

func (s *simulated) Explain(x *schedule.Schedule, size units.Bytes) (planner.Prediction, error) {
	t, err := s.Time(x, size, units.MaxTime)
	return planner.Prediction{Time: t}, err
}

func profile(t testing.TB, name string) *cost.Profile {
	t.Helper()
	m, err := cost.GetMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Measured()
}

// eachTopology visits random and shipped topologies of up to so many ranks; all of them
// in the long tier.
func eachTopology(t *testing.T, ranks int, visit func(t *testing.T, topo *topology.Topology)) {
	ranks *= long.Or(1, 2)
	for seed := range long.Or[int64](3, 24) {
		topo := gen.Topology(seed)
		t.Run(topo.Name(), func(t *testing.T) { visit(t, topo) })
	}
	for i, name := range topologies.Names() {
		if !long.Given() && i%3 > 0 {
			continue
		}
		for _, o := range []topology.Options{{}, {Nodes: 2}, {Nodes: 4}} {
			topo, err := topology.Load(topologies.Source, name, o)
			if err != nil || topo.NumRanks() > ranks {
				continue
			}
			t.Run(topo.Name(), func(t *testing.T) { visit(t, topo) })
		}
	}
}

// Bounds do not know which messages none leads back to, and go by what those may take, capped less or not at all.
func TestBoundsAllowOneWay(t *testing.T) {
	curve := func(protocol string, most units.Rate) cost.Curve {
		return cost.Curve{Medium: "any", Protocol: protocol, Segments: []cost.Segment{{Alpha: units.Microsecond, Rate: most, Efficiency: 0.9}}}
	}
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []collective.Kind{collective.Scatter, collective.Broadcast} {
		s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: 3}, "direct", planner.Options{Protocol: schedule.Simple})
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []units.Rate{0, 5 * units.GBps} {
			capped := &cost.Profile{Curves: []cost.Curve{curve("any", 3*units.GBps), curve(cost.OneWay("simple"), most)}}
			r, err := sim.Run(topo, s, units.GiB, &cost.Profile{Curves: []cost.Curve{curve("any", most)}}, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if b := planner.NewBounds(topo, capped).Time(s, units.GiB); b > r.Time {
				t.Errorf("%v: bound %v, %v where all messages go one way", kind, b, r.Time)
			}
		}
	}
}

// A bound never exceeds the simulated time, whatever the schedule: neither that of the schedule nor that of all schedules.
func TestBoundsHold(t *testing.T) {
	t.Parallel()
	eachTopology(t, 8, func(t *testing.T, topo *topology.Topology) {
		scores := []*simulated{newSimulated(t, topo, profile(t, "line")), newSimulated(t, topo, gen.Curved())}
		for _, p := range gen.InARow() {
			scores = append(scores, newSimulated(t, topo, p), newSimulated(t, topo, once(p)))
		}
		ideal := newSimulated(t, topo, profile(t, "ideal"))
		for _, kind := range collective.All() {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			if kind.Rooted() {
				spec.Root = topo.NumRanks() - 1
			}
			list, err := planner.Candidates(topo, spec, "", planner.Options{})
			if err != nil {
				continue // e.g. all_to_allv without counts
			}
			least := exactTime(topo, spec, units.GiB)
			for _, x := range list {
				if x.Channels[0].Depth() > 4 {
					continue
				}
				boundHolds(t, x, scores)
				if got, err := ideal.Time(x, units.GiB, units.MaxTime); err != nil || got < least {
					t.Errorf("%s, %v by %s: %v, no schedule takes less than %v (%v)", topo.Name(), kind, planner.Name(x), got, least, err)
				}
			}
		}
	})
}

// exactTime is what planner.ExactBound says that no schedule beats; 0 where it says nothing. Beside a plan that beats it, it is left out
// (planner.BoundForPlan), which would hide that it is too high.
func exactTime(topo *topology.Topology, spec collective.Spec, size units.Bytes) units.Time {
	if spec.Kind == collective.Barrier || spec.Ranks < 2 {
		return 0
	}
	x, err := planner.ExactBound(topo, spec)
	if err != nil || x.AlgBW == 0 {
		return 0
	}
	size -= size % units.Bytes(spec.Ranks)
	return units.Time(float64(size) / x.AlgBW * 1e12 * (1 - 1e-9))
}

func boundHolds(t *testing.T, x *schedule.Schedule, scores []*simulated) {
	for _, s := range scores {
		for _, size := range []units.Bytes{10 * units.KiB, 3*units.MiB + 17} {
			got, err := s.Time(x, size, units.MaxTime)
			if err != nil {
				t.Fatal(err)
			}
			if bound := s.bounds.Time(x, size); bound > got {
				t.Errorf("%s, %v by %s, %v, %s: the bound %v exceeds the time %v", x.TopologyName, x.Spec.Kind, planner.Name(x), size,
					s.profile.Name, bound, got)
			}
			if least := s.plan(x).LowerEstimate(size); least > got {
				t.Errorf("%s, %v by %s, %v, %s: the estimate %v exceeds the time %v", x.TopologyName, x.Spec.Kind, planner.Name(x), size,
					s.profile.Name, least, got)
			}
		}
	}
}

// What bounds and estimates rule out would not have been chosen: the plan is as fast as
// that of the search that simulates everything.
func TestPlanIsAsGoodAsExhaustiveSearch(t *testing.T) {
	t.Parallel()
	sizes := []units.Bytes{units.KiB, 2 * units.MiB, 4 * units.GiB}
	kinds := long.Or([]collective.Kind{collective.AllReduce, collective.AllToAll},
		[]collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast, collective.AllToAll})
	eachTopology(t, long.Or(4, 8), func(t *testing.T, topo *topology.Topology) {
		for _, kind := range kinds {
			asGoodAsExhaustive(t, topo, kind, sizes, gen.Curved())
		}
		if topo.NumRanks() > 4 {
			return // each candidate is played up to 64 times
		}
		for _, p := range gen.InARow() {
			asGoodAsExhaustive(t, topo, kinds[0], sizes, p)
		}
	})
}

func asGoodAsExhaustive(t *testing.T, topo *topology.Topology, kind collective.Kind, sizes []units.Bytes, p *cost.Profile) {
	t.Helper()
	spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
	quick, slow := newSimulated(t, topo, p), newSimulated(t, topo, p)
	slow.exhaustive = true
	got, err := planner.Plan(topo, spec, sizes, quick, planner.PlanOptions{})
	if err != nil {
		return
	}
	want, err := planner.Plan(topo, spec, sizes, slow, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i].Prediction.Time != want[i].Prediction.Time || got[i].RunnerTime != want[i].RunnerTime {
			t.Errorf("%s, %s, %v, %v: %s in %v before %v, but the exhaustive search has %s in %v before %v", topo.Name(), p.Name, kind,
				sizes[i], planner.Name(got[i].Schedule), got[i].Prediction.Time, got[i].RunnerTime,
				planner.Name(want[i].Schedule), want[i].Prediction.Time, want[i].RunnerTime)
		}
	}
}

// once is a profile whose costs are of one operation instead of operations in a row.
func once(p *cost.Profile) *cost.Profile {
	out := *p
	out.Name, out.Curves = p.Name+" once", slices.Clone(p.Curves)
	for i := range out.Curves {
		out.Curves[i].Row = false
	}
	return &out
}

func sweep(b *testing.B, name string, nodes int) {
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		b.Fatal(err)
	}
	var sizes []units.Bytes
	for s := units.Bytes(units.KiB); len(sizes) < 30; s *= 2 {
		sizes = append(sizes, s)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
	for b.Loop() {
		s := newSimulated(b, topo, profile(b, "line"))
		if _, err := planner.Plan(topo, spec, sizes, s, planner.PlanOptions{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.compiled), "compiled")
	}
}

func BenchmarkSweepDGX(b *testing.B)          { sweep(b, "dgx-h100", 1) }
func BenchmarkSweepSuperPOD32(b *testing.B)   { sweep(b, "superpod-h100", 32) }
func BenchmarkSweepSuperPOD256(b *testing.B)  { sweep(b, "superpod-h100", 256) }
func BenchmarkSweepDGXs256Alike(b *testing.B) { sweep(b, "dgx-h100", 256) }
