package sim

import (
	"errors"
	"math/rand/v2"
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
	"railyard/topologies"
)

// measuredBy is what plans cost by a machine's name.
func measuredBy(t *testing.T, name string) *cost.Profile {
	t.Helper()
	m, err := cost.GetMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Measured()
}

// uneven is a direct all_to_allv of random counts, a fifth of them 0: no two transfers end at once.
func uneven(t *testing.T, name string, nodes int, profile string) *Plan {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	p := measuredBy(t, profile)
	n := topo.NumRanks()
	spec := collective.Spec{Kind: collective.AllToAllV, Ranks: n}
	random := rand.New(rand.NewPCG(7, uint64(n)))
	var all schedule.Group
	for r := range n {
		row := make([]int64, n)
		for i := range row {
			row[i] = max(0, random.Int64N(1000)-200)
		}
		spec.Counts, all.Ranks = append(spec.Counts, row), append(all.Ranks, int32(r))
	}
	s := &schedule.Schedule{Algorithm: "direct", Spec: spec, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: n,
			Phases: []schedule.Phase{{Gen: schedule.GenDirect, Op: spec.Kind, Groups: schedule.Groups{List: []schedule.Group{all}},
				Acc: schedule.Scratch, Dst: schedule.Output}}}}}
	plan, err := Compile(topo, s, p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// overlapping are two phases of slices that overlap: of a few large messages without a limit of their own, and of many small
// ones with one.
func overlapping(t *testing.T) *Plan {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	phase := func(gen string, op collective.Kind, fixed ...int) schedule.Phase {
		return schedule.Phase{Gen: gen, Op: op, Groups: schedule.Groups{Grid: &schedule.Grid{Dims: []int32{4, 8}, Fixed: fixed}},
			Src: schedule.Scratch, Acc: schedule.Scratch, Dst: schedule.Scratch}
	}
	s := &schedule.Schedule{Algorithm: "overlapping", Spec: collective.Spec{Kind: collective.AllReduce, Ranks: 32},
		Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 7, Chunks: 32, Phases: []schedule.Phase{
			phase(schedule.GenDoubling, collective.AllReduce), phase(schedule.GenDirect, collective.AllToAllV, 1)}}}}
	plan, err := CompileFlat(topo, s, gen.Curved())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// severalARoute are trees of which many messages go along the same routes at once.
func severalARoute(t *testing.T, family string, seed int64, kind collective.Kind, p *cost.Profile) *Plan {
	t.Helper()
	topo := gen.Unseen(family, seed)
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "parallel_trees", planner.Options{Slices: 16})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Compile(topo, s, p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// hashedRing is a pipeline of rings whose flows meet where a network hashes them to.
func hashedRing(t *testing.T, o CompileOptions) *Plan {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "leaf-spine-roce", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
	s, err := planner.Build(topo, spec, "hierarchical_ring", planner.Options{Slices: 4})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := CompileJobs(topo, []Job{{Schedule: s}}, cost.Line, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestKeptRates plays exchanges and holds all rates, those that were kept among them, against
// progressive filling of everything from nothing: not a unit apart.
func TestKeptRates(t *testing.T) {
	for name, plan := range map[string]*Plan{
		"DGX H100": uneven(t, "dgx-h100", 2, "line"), "SuperPOD": uneven(t, "superpod-h100", 4, "ideal"),
		"V100": uneven(t, "dgx1-v100", 1, "line"), "two V100": uneven(t, "dgx1-v100", 2, "line"),
		"hashed":      hashedRing(t, CompileOptions{Hashing: &Hashing{Seed: 3}}),
		"congested":   hashedRing(t, CompileOptions{Hashing: &Hashing{Seed: 3}, Congested: 0.8}),
		"overlapping": overlapping(t), "several a route": severalARoute(t, "planes", 202, collective.AllGather, gen.Curved()),
		"in strands": severalARoute(t, "two kinds", 7001, collective.ReduceScatter, measuredBy(t, "ideal")),
	} {
		e := plan.newEngine()
		e.reset(e.each(8*units.MiB), Options{})
		for l := range e.lanes {
			if e.lanes[l].before < 0 {
				e.launch(int32(l))
			}
		}
		e.share.settle(e)
		settled := 0
		for len(e.q.heap) > 0 {
			if e.q.heap[0].at >= forever {
				t.Fatalf("%s: a transfer ends never", name)
			}
			e.next()
			if settled++; settled%long.Or(10, 5) == 0 && (len(e.q.heap) == 0 || e.q.heap[0].at != e.now) {
				for id, want := range fromNothing(e) {
					if f := &e.share.flows[id]; f.messages > 0 && e.share.rate(f) != want {
						t.Fatalf("%s: a transfer moves at %d, not %d", name, e.share.rate(f), want)
					}
				}
			}
		}
		if err := e.deadlocked(); err != nil || settled < 50 {
			t.Errorf("%s: %d moments, %v", name, settled, err)
		}
	}
}

// fromNothing are the max-min fair rates of all transfers under way, by progressive filling: all grow together until a limit is reached
// or a resource is full, and those concerned stay there.
func fromNothing(e *engine) map[int32]int64 {
	s := &e.share
	left, open, rates := make([]amount, len(s.res)), map[int32]bool{}, map[int32]int64{}
	for r := range s.res {
		left[r] = product(fixedRate(e.Plan.res[r].capacity), weightScale)
	}
	for id := range s.flows {
		open[int32(id)] = s.flows[id].messages > 0
	}
	messages, all := make([]int, len(s.res)), make([]uint64, len(s.res))
	for id, under := range open {
		for _, u := range s.of(&s.flows[id]) {
			if under {
				all[u.res] += u.load
				messages[u.res] += int(s.flows[id].messages)
			}
		}
	}
	for r, n := range messages {
		if x := &e.Plan.res[r]; n > 1 {
			left[r] = product(fixedRate(x.congestedRate), weightScale)
		}
	}
	for len(rates) < len(open) {
		weight, level := make([]uint64, len(s.res)), unlimited
		for id, under := range open {
			if !under {
				rates[id] = max(rates[id], 0)
				continue
			}
			level = min(level, s.flows[id].limit)
			for _, u := range s.of(&s.flows[id]) {
				weight[u.res] += u.load
			}
		}
		fullAt := make([]int64, len(s.res))
		for r := range s.res {
			if fullAt[r] = unlimited; weight[r] > 0 {
				fullAt[r] = left[r].less(amount{0, all[r]}).over(weight[r]) + 1
			}
			level = min(level, fullAt[r])
		}
		for id, under := range open {
			f := &s.flows[id]
			if under && (f.limit == level || slices.ContainsFunc(s.of(f), func(u use) bool { return fullAt[u.res] == level })) {
				rates[id], open[id] = level, false
				for _, u := range s.of(f) {
					left[u.res] = left[u.res].less(product(level, u.load))
				}
			}
		}
	}
	return rates
}

// TestGivesUpEarly: a run that would look at many times as many rates as it may sees that
// after a few, and one that may look at as many as it does is played to the end.
func TestGivesUpEarly(t *testing.T) {
	p := uneven(t, "dgx-h100", 4, "line")
	want, err := p.Time(8 * units.MiB)
	if err != nil {
		t.Fatal(err)
	}
	all := p.eng.share.looked
	p = uneven(t, "dgx-h100", 4, "line")
	p.Limited(all / 8 / looksPerOperation)
	if _, err := p.Time(8 * units.MiB); !errors.Is(err, ErrTooLong) || p.eng.share.looked > all/50 {
		t.Errorf("%d looks of %d, then %v", p.eng.share.looked, all, err)
	}
	p.Limited(all/looksPerOperation + 1)
	if got, err := p.Time(8 * units.MiB); err != nil || got != want {
		t.Errorf("%v, %v: not %v", got, err, want)
	}
}

// TestPipelinesGiveUpAtTheirPace: of a run in slices, the first few say what all of them take, also where that is less than twice as much
// as it may.
func TestPipelinesGiveUpAtTheirPace(t *testing.T) {
	p := severalARoute(t, "two kinds", 7001, collective.AllGather, cost.Line)
	want, err := p.Time(64 * units.MiB)
	if err != nil {
		t.Fatal(err)
	}
	all := p.eng.share.looked
	p = severalARoute(t, "two kinds", 7001, collective.AllGather, cost.Line)
	p.Limited(all * 4 / 5 / looksPerOperation)
	if _, err := p.Time(64 * units.MiB); !errors.Is(err, ErrTooLong) || p.eng.share.looked > all/6 {
		t.Errorf("%d looks of %d, then %v", p.eng.share.looked, all, err)
	}
	p.Limited(0)
	if got, err := p.Time(64 * units.MiB); err != nil || got != want {
		t.Errorf("after a run that was given up: %v, %v, not %v", got, err, want)
	}
}
