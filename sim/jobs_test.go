package sim_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// randomJob is a schedule for some of a topology's ranks, in any order.
func randomJob(t *testing.T, topo *topology.Topology, rng *rand.Rand) (sim.Job, units.Bytes) {
	t.Helper()
	kind := kinds[rng.IntN(len(kinds))]
	ranks := rng.Perm(topo.NumRanks())
	if rng.IntN(3) == 0 {
		ranks = ranks[:max(2, rng.IntN(len(ranks)+1))]
	}
	s := flatRing(kind, len(ranks), 1+rng.IntN(3))
	if list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "",
		planner.Options{Slices: 1 + rng.IntN(3)}); len(ranks) == topo.NumRanks() && err == nil {
		s = list[rng.IntN(len(list))]
	}
	job := sim.Job{Schedule: s, Ranks: ranks}
	if len(ranks) == topo.NumRanks() && rng.IntN(2) == 0 {
		job.Ranks = nil
	}
	return job, units.Bytes(1 + rng.Int64N(1<<uint(4+rng.IntN(22))))
}

// flatRing is a ring (or, where there is none, direct messages) over all ranks.
func flatRing(kind collective.Kind, n, slices int) *schedule.Schedule {
	order := make(schedule.RankList, n)
	for i := range order {
		order[i] = int32(i)
	}
	generator := schedule.GenRing
	if !schedule.Supports(generator, kind) {
		generator = schedule.GenDirect
	}
	return &schedule.Schedule{Algorithm: generator, Spec: collective.Spec{Kind: kind, Ranks: n}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: slices, Chunks: n, Phases: []schedule.Phase{{
			Gen: generator, Op: kind, Groups: schedule.Groups{List: []schedule.Group{{Ranks: order}}},
			Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output}}}}}
}

// eachMix visits random topologies with one to three jobs.
func eachMix(t *testing.T, seeds int, visit func(topo *topology.Topology, jobs []sim.Job, sizes []units.Bytes, rng *rand.Rand)) {
	t.Helper()
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 23))
		topo := gen.Topology(int64(seed))
		var jobs []sim.Job
		var sizes []units.Bytes
		for range 1 + rng.IntN(3) {
			j, size := randomJob(t, topo, rng)
			jobs, sizes = append(jobs, j), append(sizes, size)
		}
		visit(topo, jobs, sizes, rng)
	}
}

func played(t testing.TB, plan *sim.Plan, sizes []units.Bytes, o sim.Options) *sim.Result {
	t.Helper()
	r, err := plan.RunJobs(sizes, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func differ(t *testing.T, what string, want, got *sim.Result) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// Folding stays exact with several jobs, with hashed networks and with ranks that start
// late.
func TestFoldedIsFlatForMixes(t *testing.T) {
	eachMix(t, long.Or(80, 150), func(topo *topology.Topology, jobs []sim.Job, sizes []units.Bytes, rng *rand.Rand) {
		o := sim.CompileOptions{}
		if rng.IntN(2) == 0 {
			o.Hashing = &sim.Hashing{Seed: rng.Uint64(), QPs: rng.IntN(4)}
		}
		var run sim.Options
		if rng.IntN(2) == 0 {
			run.Delays = make([]units.Time, topo.NumRanks())
			for r := range run.Delays {
				run.Delays[r] = units.Time(rng.IntN(3)) * 7 * units.Microsecond
			}
		}
		for _, p := range []string{"line", "uneven"} {
			profile := line(t)
			if p == "uneven" {
				profile = gen.Curved()
			}
			folded := played(t, compiled(t, topo, profile, o, jobs...), sizes, run)
			flat := o
			flat.Flat = true
			differ(t, topo.Name(), played(t, compiled(t, topo, profile, flat, jobs...), sizes, run), folded)
			for _, l := range folded.Links {
				if l.Utilisation > 1+1e-9 {
					t.Errorf("%s: %s lane %d carries %.3f of its rate", topo.Name(), topo.LinkName(l.Link), l.Lane, l.Utilisation)
				}
			}
		}
	})
}

// One job with ranks of the same numbers is the schedule itself.
func TestOneJobIsTheSchedule(t *testing.T) {
	eachCase(t, 6, func(topo *topology.Topology, s *schedule.Schedule, size units.Bytes) {
		ranks := make([]int, topo.NumRanks())
		for i := range ranks {
			ranks[i] = i
		}
		want, err := sim.Run(topo, s, size, line(t), sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := played(t, compiled(t, topo, line(t), sim.CompileOptions{}, sim.Job{Schedule: s, Ranks: ranks}), []units.Bytes{size},
			sim.Options{})
		if got.Time != want.Time || got.Sends != want.Sends || got.Balance.Links-want.Balance.Links > 1e-9 {
			t.Errorf("%s %s: %v, as a job %v", topo.Name(), s.Algorithm, want.Time, got.Time)
		}
	})
}

// Two jobs in different nodes never meet; the same job twice on one ring takes twice as
// long, and names the link.
func TestJobsShareLinksOrDoNot(t *testing.T) {
	topo := shipped(t, "dgx-h100", 4)
	ring := flatRing(collective.AllGather, 8, 1)
	at := func(first int) []int {
		out := make([]int, 8)
		for i := range out {
			out[i] = first + i
		}
		return out
	}
	const size = 8 * 450_000
	run := func(sizes []units.Bytes, jobs ...sim.Job) *sim.Result {
		return played(t, compiled(t, topo, named(t, "ideal"), sim.CompileOptions{}, jobs...), sizes, sim.Options{})
	}
	one, two := []units.Bytes{size}, []units.Bytes{size, size}
	first, other := sim.Job{Schedule: ring, Ranks: at(0)}, sim.Job{Schedule: ring, Ranks: at(8)}
	if r := run(one, first); r.Shared != nil {
		t.Error("one job shares a link")
	}
	apart := run(two, first, other)
	if apart.Shared != nil || apart.Ends[0] != 7*units.Microsecond || apart.Ends[1] != apart.Ends[0] {
		t.Errorf("in different nodes: %v, shared %v", apart.Ends, apart.Shared)
	}
	both := run(two, first, first)
	if both.Time != 2*apart.Time || both.Shared == nil || both.Shared.Load.Utilisation < 0.999 ||
		both.Shared.Jobs[0] != both.Shared.Jobs[1] {
		t.Errorf("in one node: %v, shared %+v", both.Ends, both.Shared)
	}
	both = run([]units.Bytes{size, 2 * size}, first, first)
	if both.Ends[0] != 14*units.Microsecond || both.Ends[1] != 21*units.Microsecond {
		t.Errorf("one with twice the bytes: %v", both.Ends)
	}
}

func TestJobsThatCannotBe(t *testing.T) {
	topo := shipped(t, "dgx-h100", 1)
	ring := flatRing(collective.AllGather, 4, 1)
	for name, c := range map[string]struct {
		jobs []sim.Job
		want string
	}{
		"none":      {nil, "no job"},
		"all ranks": {[]sim.Job{{Schedule: ring}}, "for 4 ranks, dgx-h100 has 8"},
		"too few":   {[]sim.Job{{Schedule: ring, Ranks: []int{0, 1, 2}}}, "for 4 ranks, not for the 3 given"},
		"twice":     {[]sim.Job{{Schedule: ring, Ranks: []int{0, 1, 2, 2}}}, "rank 2 is given twice"},
		"beyond": {[]sim.Job{{Schedule: ring, Ranks: []int{0, 1, 2, 3}}, {Schedule: ring, Ranks: []int{0, 1, 2, 8}}},
			"job 2: rank 8: dgx-h100 has ranks 0 to 7"},
	} {
		if _, err := sim.CompileJobs(topo, c.jobs, line(t), sim.CompileOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	p := compiled(t, topo, line(t), sim.CompileOptions{}, sim.Job{Schedule: ring, Ranks: []int{0, 1, 2, 3}})
	if _, err := p.RunJobs(nil, sim.Options{}); err == nil {
		t.Error("a run without sizes")
	}
	if _, err := p.Run(1, sim.Options{Delays: []units.Time{1}}); err == nil {
		t.Error("delays for too few ranks")
	}
	if _, err := p.Run(1, sim.Options{Delays: make([]units.Time, 8)}); err != nil {
		t.Error(err)
	}
	if _, err := p.Run(1, sim.Options{Delays: []units.Time{0, 0, 0, 0, 0, 0, 0, -1}}); err == nil {
		t.Error("a negative delay")
	}
}
