package planner_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

// TestFrontIsThatOfAll compares the front with the definition, over scores of all kinds
// and estimates from exact to useless.
func TestFrontIsThatOfAll(t *testing.T) {
	topo, spec := dgx(t, 1)
	all, err := planner.Candidates(topo, spec, "", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := []units.Bytes{1 << 10, 1 << 15, 1 << 20, 1 << 30}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := &model{alpha: map[string]units.Time{}, beta: map[string]units.Time{}, estimate: float64(seed%3) / 2, scored: map[string]int{}}
		for _, a := range planner.Algorithms() {
			m.alpha[a.Name], m.beta[a.Name] = units.Time(rng.IntN(20)*1e4), units.Time(1+rng.IntN(20))
		}
		rows, front, err := planner.PlanFront(topo, spec, sizes, m, planner.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if front.Small != 8 || front.Large != 1<<30 || len(rows) != len(sizes) {
			t.Fatalf("from %v to %v, %d rows", front.Small, front.Large, len(rows))
		}
		var want, got [][2]units.Time
		for _, s := range all {
			mine := [2]units.Time{m.time(s, front.Small), m.time(s, front.Large)}
			beaten := slices.ContainsFunc(all, func(o *schedule.Schedule) bool {
				other := [2]units.Time{m.time(o, front.Small), m.time(o, front.Large)}
				return other != mine && other[0] <= mine[0] && other[1] <= mine[1]
			})
			if !beaten && !slices.Contains(want, mine) {
				want = append(want, mine)
			}
		}
		slices.SortFunc(want, func(a, b [2]units.Time) int { return int(a[0] - b[0]) })
		covered := units.Bytes(0)
		for _, p := range front.Points {
			if p.OnFront {
				got = append(got, [2]units.Time{p.Latency, p.Transfer})
			}
			if !p.OnFront && len(p.Best) == 0 {
				t.Errorf("seed %d: %s is neither on the front nor best anywhere", seed, planner.Name(p.Schedule))
			}
			for _, r := range p.Best {
				covered += r.To - r.From + 1
				for _, size := range []units.Bytes{r.From, r.To} {
					if size != sizes[0] && size != sizes[3] {
						continue // in between, ranges end within 1 % of where they should
					}
					for _, s := range all {
						if m.time(s, size) < m.time(p.Schedule, size) {
							t.Errorf("seed %d: at %v, %s is not the best: %s is", seed, size, planner.Name(p.Schedule), planner.Name(s))
						}
					}
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: front %v, want %v", seed, got, want)
		}
		if covered != sizes[3]-sizes[0]+1 {
			t.Errorf("seed %d: the ranges cover %d sizes, want %d", seed, covered, sizes[3]-sizes[0]+1)
		}
	}
}

// Runs that are given up cost the front nothing: no schedule beats one on it at both ends.
func TestFrontOfRunsThatAreGivenUp(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.Broadcast, Ranks: topo.NumRanks()}
	all, err := planner.Candidates(topo, spec, "", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exact := score.New(topo, profile(t, "line"))
	_, front, err := planner.PlanFront(topo, spec, []units.Bytes{units.MiB, 64 * units.MiB}, score.New(topo, profile(t, "line")),
		planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		var took [2]units.Time
		for i, size := range []units.Bytes{front.Small, front.Large} {
			if took[i], err = exact.Time(s, size, units.MaxTime); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range front.Points {
			if p.OnFront && took[0] < p.Latency && took[1] < p.Transfer {
				t.Errorf("%s (%v, %v) is on the front, though %s takes %v and %v", planner.Name(p.Schedule), p.Latency, p.Transfer,
					planner.Name(s), took[0], took[1])
			}
		}
	}
}

// direct and ring meet at 1000 bytes; two_shot is slower than either at both ends.
func TestFrontSaysWhereEachIsBest(t *testing.T) {
	topo, spec := dgx(t, 1)
	m := &model{alpha: map[string]units.Time{"direct": 1e3, "ring": 1e5, "two_shot": 2e5},
		beta: map[string]units.Time{"direct": 100, "ring": 1, "two_shot": 101}, estimate: 1, scored: map[string]int{}}
	_, front, err := planner.PlanFront(topo, spec, []units.Bytes{64, 512, 4096, 1 << 20}, m, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(front.Points) != 2 || front.Points[0].Schedule.Algorithm != "direct" || front.Points[1].Schedule.Algorithm != "ring" {
		t.Fatalf("%+v", front.Points)
	}
	a, b := front.Points[0].Best, front.Points[1].Best
	if len(a) != 1 || len(b) != 1 || a[0].From != 64 || a[0].To < 990 || a[0].To > 1010 || b[0].From != a[0].To+1 || b[0].To != 1<<20 {
		t.Errorf("%v and %v", a, b)
	}
	if p := front.Points[1].PerByte(front.Large); p < 1 || p > 1.2 {
		t.Errorf("%v ps for a byte", p)
	}
	if _, _, err := planner.PlanFront(topo, collective.Spec{Kind: collective.AllReduce}, []units.Bytes{1}, m,
		planner.PlanOptions{}); err == nil {
		t.Error("no ranks, no error")
	}
}

// The front of DGX-1 in two steps is the optimum that SCCL finds (Cai et al. 2021): three
// rounds of half a block; where links are alike, two steps reach what GPUs can take in.
func TestFrontOfCubeMeshes(t *testing.T) {
	for name, want := range map[string]float64{"dgx1-v100": 1.5 / 8 / 25e-3, "dgx1-p100": 1.75 / 8 / 20e-3} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
			_, front, err := planner.PlanFront(topo, collective.Spec{Kind: kind, Ranks: 8}, []units.Bytes{units.GiB},
				newSimulated(t, topo, profile(t, "line")), planner.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			two := slices.MinFunc(front.Points, func(a, b planner.FrontPoint) int { // the fastest of the least latency
				return cmp.Or(cmp.Compare(a.Latency/1e5, b.Latency/1e5), cmp.Compare(a.Transfer, b.Transfer))
			})
			if got := two.PerByte(front.Large); got > want*1.001 || got < want {
				t.Errorf("%s %v: %s takes %.4f ps a byte, want %.4f", name, kind, planner.Name(two.Schedule), got, want)
			}
		}
	}
}
