package sim

import (
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

// steadyRuns counts runs that were compared, and those in which something was skipped.
type steadyRuns struct{ all, skipping int }

// compare plays a plan with and without skipping what repeats.
func (n *steadyRuns) compare(t *testing.T, p *Plan, size units.Bytes, o Options) {
	t.Helper()
	type outcome struct {
		last, sends, events int64
		ends                []int64
	}
	var got [2]outcome
	e := p.newEngine()
	for i := range got {
		e.reset(p.each(size), o)
		e.steady.on = e.steady.on && i == 1
		if err := e.play(); err != nil {
			t.Fatal(err)
		}
		got[i] = outcome{e.last, e.sends, e.events, slices.Clone(e.ends)}
	}
	if got[0].last != got[1].last || got[0].sends != got[1].sends || got[0].events != got[1].events ||
		!slices.Equal(got[0].ends, got[1].ends) {
		s := p.jobs[0].Schedule
		t.Errorf("%s, %v by %s ×%d, %v, %s: %+v event by event, %+v after %d periods skipped", p.topo.Name(), s.Spec.Kind, s.Algorithm,
			s.Channels[0].Depth(),
			size, p.profile.Name, got[0], got[1], e.steady.skipped)
	}
	if n.all++; e.steady.skipped > 0 {
		n.skipping++
	}
}

// schedules compares those of a topology by all algorithms in so many slices.
func (n *steadyRuns) schedules(t *testing.T, topo *topology.Topology, kind collective.Kind, algo string, depth int, rng *rand.Rand) {
	t.Helper()
	list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, algo, planner.Options{Slices: depth})
	if planner.NotApplicable(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Ordered() > long.Or[int64](100_000, 1_000_000) {
			continue
		}
		for _, p := range []*cost.Profile{profile(t, "ideal"), profile(t, "line"), gen.Curved()} {
			plan, err := CompileJobs(topo, []Job{{Schedule: s}}, p, CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Work() > mostWork() {
				continue
			}
			n.compare(t, plan, units.Bytes(1+rng.Int64N(1<<uint(10+rng.IntN(21)))), Options{})
			n.late(t, plan, rng)
		}
	}
}

// mostWork is how many operations are played one by one.
func mostWork() int64 { return long.Or[int64](100_000, 300_000) }

// late compares runs in which some ranks begin late.
func (n *steadyRuns) late(t *testing.T, p *Plan, rng *rand.Rand) {
	t.Helper()
	delays := make([]units.Time, p.topo.NumRanks())
	for range 1 + rng.IntN(3) {
		delays[rng.IntN(len(delays))] = units.Time(rng.Int64N(1e9))
	}
	q, err := p.delayed(delays, false)
	if err != nil {
		t.Fatal(err)
	}
	if q.Work() < mostWork() {
		n.compare(t, q, units.MiB, Options{Delays: delays})
	}
}

// What is skipped takes exactly as long as what is played.
func TestSkippingIsPlaying(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	var n steadyRuns
	for i, x := range []struct {
		name  string
		nodes int
		kind  collective.Kind
		algo  string
		depth int
	}{
		{"mi250x-node", 1, collective.AllGather, "packed_trees", 600}, {"mi250x-node", 1, collective.AllReduce, "packed_trees", 300},
		{"dgx1-v100", 1, collective.Broadcast, "packed_trees", 1000}, {"dgx1-v100", 1, collective.AllToAll, "flows", 100},
		{"dgx-h100", 4, collective.AllGather, "packed_trees", 1500}, {"dgx-h100", 2, collective.Broadcast, "packed_trees", 700},
		{"dgx-h100", 2, collective.AllReduce, "", 100}, {"dgx-a100", 2, collective.ReduceScatter, "", 99},
		{"../planner/testdata/mesh5x5.yaml", 1, collective.AllReduce, "packed_trees", 256},
		{"../planner/testdata/star8.yaml", 1, collective.Reduce, "packed_trees", 1400},
		{"superpod-h100", 16, collective.Broadcast, "hierarchical_in_network", 256},
	} {
		if !long.Given() && i%2 > 0 {
			continue
		}
		topo, err := topology.Load(topologies.Source, x.name, topology.Options{Nodes: x.nodes})
		if err != nil {
			t.Fatal(err)
		}
		n.schedules(t, topo, x.kind, x.algo, x.depth, rng)
	}
	for seed := range long.Or[int64](5, 20) {
		for _, topo := range []*topology.Topology{gen.Topology(seed), gen.Uneven(seed)} {
			n.schedules(t, topo, []collective.Kind{collective.AllGather, collective.AllReduce, collective.Broadcast}[rng.IntN(3)], "",
				30+rng.IntN(150), rng)
		}
	}
	t.Logf("%d of %d runs skip something", n.skipping, n.all)
	if n.skipping < n.all/4 || n.skipping > n.all*9/10 {
		t.Errorf("%d of %d runs skip something: what repeats is not found, or nothing else is tested", n.skipping, n.all)
	}
}

// Jobs that share links, each with its own period.
func TestSkippingJobsIsPlaying(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 6))
	var n steadyRuns
	for seed := range int64(40) {
		topo := gen.Topology(seed)
		depth := 24 + rng.IntN(200)
		jobs := []Job{{Schedule: flat(schedule.GenRing, collective.Broadcast, topo.NumRanks(), depth)}}
		if seed%4 == 0 {
			depth = 24 + rng.IntN(200)
		}
		jobs = append(jobs, Job{Schedule: flat(schedule.GenTree, collective.Broadcast, topo.NumRanks(), depth)})
		plan, err := CompileJobs(topo, jobs, profile(t, "line"), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n.compare(t, plan, units.Bytes(1+rng.Int64N(1<<30)), Options{})
	}
	t.Logf("%d of %d runs skip something", n.skipping, n.all)
	if n.skipping < n.all/10 {
		t.Errorf("%d of %d runs skip something", n.skipping, n.all)
	}
}
