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
)

// shares are how near plans of a collective come to what no schedule can beat.
type shares struct {
	kind            collective.Kind
	every           int64 // of so many graphs one is planned for
	pieces          int
	worst, mean     float64 // required
	least, total    float64
	at              int64 // seed of the least
	count, reaching int
}

func (s *shares) add(share float64, seed int64) {
	if s.count == 0 || share < s.least {
		s.least, s.at = share, seed
	}
	if share > 0.99 {
		s.reaching++
	}
	s.total += share
	s.count++
}

// On random graphs with uneven links packed trees come near what no schedule can beat, about as docs/evidence/unseen-graphs.md
// says, and never beat it: played without latencies, some of them proven right. The long tier plans every collective
// for all of 500 graphs, and in 64 pieces, which fill pipelines better than 16.
func TestPlansOfUnevenGraphsComeNearTheBound(t *testing.T) {
	t.Parallel()
	seeds := long.Or[int64](60, 500)
	all := []*shares{{kind: collective.AllGather, every: 1, pieces: 16, worst: 0.88, mean: 0.985},
		{kind: collective.AllReduce, every: 20, pieces: 64, worst: 0.76, mean: 0.95},
		{kind: collective.Broadcast, every: 10, pieces: 128, worst: 0.95, mean: 0.98},
		{kind: collective.Reduce, every: 10, pieces: 128, worst: 0.95, mean: 0.98}}
	if long.Given() {
		for _, s := range all {
			s.every, s.pieces = 1, max(s.pieces, 64)
		}
		all[2].worst = 0.76 // of graphs that are not among every tenth
	}
	for seed := range seeds {
		topo := gen.Uneven(seed)
		for _, s := range all {
			if seed%s.every > 0 {
				continue
			}
			row := treesOn(t, topo, s.kind, s.pieces)
			if seed%50 == 0 {
				if err := schedule.Check(row.Schedule, topo); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
			share := row.OfBound()
			if least := max(row.Bound.Time, exactTime(topo, row.Schedule.Spec, units.GiB)); row.Prediction.Time < least {
				t.Errorf("seed %d: %s takes %v, the bound is %v: %s", seed, planner.Name(row.Schedule), row.Prediction.Time, least,
					row.Bound.Cut)
			}
			s.add(share, seed)
		}
	}
	for _, s := range all {
		mean := s.total / float64(s.count)
		t.Logf("%v: %d graphs in %d pieces: worst %.2f %% (seed %d), mean %.2f %%, %d at 99 %% and more", s.kind, s.count, s.pieces,
			100*s.least, s.at, 100*mean, s.reaching)
		if s.least < s.worst || mean < s.mean {
			t.Errorf("%v: worst %.4f, mean %.4f", s.kind, s.least, mean)
		}
	}
}

// Roots with much to send keep their part of links on which others have little.
func TestConnectionsDoNotRunAhead(t *testing.T) {
	for seed, least := range long.Or(map[int64]float64{156: 0.8}, map[int64]float64{494: 0.97, 156: 0.8, 440: 0.75}) {
		row := treesOn(t, gen.Uneven(seed), collective.AllReduce, 64)
		if share := row.OfBound(); share < least || share > 1 {
			t.Errorf("seed %d: %.2f %% of the bound", seed, 100*share)
		}
		if err := schedule.Check(row.Schedule, gen.Uneven(seed)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// 64 GPUs in unequal nodes, each with an adapter, have 4,032 transfers: too many to pack all.
// What is packed instead is no slower than classical algorithms.
func TestTreesOfManyTransfers(t *testing.T) {
	long.Only(t)
	topo := gen.Uneven(369)
	for _, kind := range []collective.Kind{collective.AllReduce, collective.Broadcast, collective.Reduce} {
		row := treesOn(t, topo, kind, 64)
		if share := row.OfBound(); share > 1 {
			t.Errorf("%v: %s, %.2f %% of the bound", kind, planner.Name(row.Schedule), 100*share)
		}
		if err := schedule.Check(row.Schedule, topo); err != nil {
			t.Error(err)
		}
		notBehindClassical(t, topo, row, "ideal")
	}
}

// treesOn is a plan of packed trees, one after another in one order or parts of them in
// parallel, whichever is faster; where everybody reaches everybody, the best there is.
func treesOn(t *testing.T, topo *topology.Topology, kind collective.Kind, pieces int) planner.Row {
	t.Helper()
	spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
	sizes, score := []units.Bytes{units.GiB}, newSimulated(t, topo, profile(t, "ideal"))
	in := func(algorithm string) ([]planner.Row, error) {
		return planner.Plan(topo, spec, sizes, score, planner.PlanOptions{Algorithm: algorithm, Build: planner.Options{Slices: pieces}})
	}
	rows, err := in("packed_trees")
	if planner.NotApplicable(err) {
		rows, err = planner.Plan(topo, spec, sizes, score, planner.PlanOptions{})
	} else if parallel, err := in("parallel_trees"); err == nil && parallel[0].Prediction.Time < rows[0].Prediction.Time {
		return parallel[0]
	}
	if err != nil {
		t.Fatalf("%s, %v: %v", topo.Name(), kind, err)
	}
	return rows[0]
}
