package sim_test

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

func candidate(t testing.TB, topo *topology.Topology, kind collective.Kind, algorithm string) *schedule.Schedule {
	t.Helper()
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, algorithm, planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shift is traffic in which every rank sends to the one so many after it.
func shift(ranks, by int) *schedule.Schedule {
	pairs := make([][2]int, ranks)
	for r := range pairs {
		pairs[r] = [2]int{r, (r + by) % ranks}
	}
	return flows(ranks, pairs...)
}

// loss is how much longer a schedule takes on a hashed network than on one that spreads.
func loss(t testing.TB, topo *topology.Topology, s *schedule.Schedule, h sim.Hashing) (float64, sim.Collisions) {
	t.Helper()
	size := []units.Bytes{64 << 20}
	job := sim.Job{Schedule: s}
	hashed := compiled(t, topo, named(t, "ideal"), sim.CompileOptions{Hashing: &h}, job)
	spread := played(t, compiled(t, topo, named(t, "ideal"), sim.CompileOptions{}, job), size, sim.Options{})
	c, err := hashed.Collisions()
	if err != nil {
		t.Fatal(err)
	}
	return float64(played(t, hashed, size, sim.Options{}).Time) / float64(spread.Time), c
}

// Rails that meet in one leaf have one way only: hashing costs nothing.
func TestRailAlignedTrafficLosesNothing(t *testing.T) {
	topo := shipped(t, "superpod-h100", 32)
	for name, s := range map[string]*schedule.Schedule{
		"next node":    shift(256, 8),
		"half way":     shift(256, 128),
		"hierarchical": candidate(t, topo, collective.AllReduce, "hierarchical_ring"),
	} {
		for seed := range uint64(3) {
			got, c := loss(t, topo, s, sim.Hashing{Seed: seed})
			if got != 1 || c.Transfers != 0 {
				t.Errorf("%s: %v times as long, %+v", name, got, c)
			}
		}
	}
}

// Between scalable units every transfer crosses the spines and meets others there.
// Split over queue pairs it loses less; on average, the more the less.
func TestCrossLeafTrafficLoses(t *testing.T) {
	topo := shipped(t, "superpod-h100", 64)
	s := shift(512, 256)
	before := 100.0
	for _, qps := range []int{1, 4, 16} {
		mean := 0.0
		const seeds = 5
		for seed := range uint64(seeds) {
			got, c := loss(t, topo, s, sim.Hashing{Seed: seed, QPs: qps})
			mean += got / seeds
			// All transfers are equal and at once: the last to end has the fullest link, at best.
			if c.Transfers != 512 || c.Spread > 1+1e-9 || c.Mean > c.Worst || got < c.Worst*(1-1e-9) || got > 1.5*c.Worst {
				t.Errorf("seed %d, %d queue pairs: %v times as long, %+v", seed, qps, got, c)
			}
		}
		t.Logf("%d queue pairs: %.2f times as long", qps, mean)
		if mean < 1.05 || mean >= before {
			t.Errorf("%d queue pairs: %v times as long, with fewer %v", qps, mean, before)
		}
		before = mean
	}
}

// The first strand of a plan is hashed as the router does it; jobs with other labels
// take other ways.
func TestEachStrandHasItsOwnFlows(t *testing.T) {
	topo := shipped(t, "superpod-h100", 64)
	job := sim.Job{Schedule: flows(512, [2]int{0, 256})}
	links := func(seed uint64, jobs ...sim.Job) map[topology.LinkID]bool {
		p := compiled(t, topo, named(t, "ideal"), sim.CompileOptions{Hashing: &sim.Hashing{Seed: seed}}, jobs...)
		out := map[topology.LinkID]bool{}
		sizes := make([]units.Bytes, len(jobs))
		for _, l := range played(t, p, sizes, sim.Options{}).Links {
			out[l.Link] = true
		}
		return out
	}
	more := 0
	for seed := range uint64(10) {
		one := links(seed, job)
		route, err := topology.NewECMPRouter(topo, seed).Route(0, 256)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range route.Hops {
			if !one[h.Link] {
				t.Errorf("seed %d: %s is not used", seed, topo.LinkName(h.Link))
			}
		}
		other := job
		other.Label = 1
		if len(links(seed, job, job)) != len(one) {
			t.Errorf("seed %d: two jobs of one label take two ways", seed)
		}
		if len(links(seed, job, other)) > len(one) {
			more++
		}
	}
	if more < 5 {
		t.Errorf("two jobs take two ways for %d of 10 seeds", more)
	}
}
