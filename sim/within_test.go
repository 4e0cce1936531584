package sim_test

import (
	"math/rand/v2"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// TestTimeWithin: a run that may take no longer than a time is told to take longer exactly where it does, by a time that it does take; and
// the next run knows nothing of it.
func TestTimeWithin(t *testing.T) {
	rng, cases, early := rand.New(rand.NewPCG(3, 4)), 0, 0
	check := func(topo *topology.Topology, s *schedule.Schedule, size units.Bytes) {
		for _, profile := range []*cost.Profile{cost.Line, cost.Ideal} {
			plan, err := sim.Compile(topo, s, profile)
			if err != nil {
				t.Fatal(err)
			}
			took, err := plan.Time(size)
			if err != nil {
				t.Fatal(err)
			}
			for _, most := range []units.Time{took, took - 1, units.Time(rng.Int64N(int64(took) + 1)), 2 * took} {
				if _, err := plan.Time(size + 4096); err != nil { // else what is known of this size answers
					t.Fatal(err)
				}
				got, err := plan.TimeWithin(size, most)
				if err != nil || got > took || (got > most) != (took > most) || most >= took && got != took {
					t.Errorf("%s %v by %s, %v: within %v it takes %v (%v), and takes %v", topo.Name(), s.Spec.Kind, s.Algorithm, size, most, got,
						err, took)
				}
				if cases++; got < took {
					early++
				}
			}
		}
	}
	eachCase(t, 12, check)
	for _, family := range []string{"mixed", "two kinds"} { // whose events are out of date when all has ended
		topo := gen.Unseen(family, 7003)
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, "ordered_flows", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(topo, s, 16*units.MiB)
	}
	if 10*early < cases/10 {
		t.Errorf("of %d cases, %d end well before they would come to their time", cases, early)
	}
}
