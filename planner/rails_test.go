package planner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// matrix makes counts for n ranks.
func matrix(n int, count func(src, dst int) int64) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		for j := range n {
			out[i] = append(out[i], count(i, j))
		}
	}
	return out
}

// However uneven the counts are inside the nodes, all rails carry the same.
func TestBalancedRailsReachTheBound(t *testing.T) {
	ideal := cost.Ideal
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	n := topo.NumRanks()
	for name, c := range map[string]struct {
		counts [][]int64
		share  float64 // of the bound, at least
		gain   float64 // over a message for each pair, at least
	}{
		"one pair": {matrix(n, func(i, j int) int64 {
			if i == 0 && j == n-1 {
				return 1
			}
			return 0
		}), 0.97, 7},
		"hot ranks": {matrix(n, func(i, j int) int64 {
			if j == 3 || j == 17 {
				return 8
			}
			return 1
		}), 0.98, 4},
		"hot sources": {matrix(n, func(i, j int) int64 { return int64(1 + 7*((i+1)%8/7)) }), 0.98, 3},
		"even":        {matrix(n, func(i, j int) int64 { return 1 }), 0.98, 0.98},
	} {
		spec := collective.Spec{Kind: collective.AllToAllV, Ranks: n, Counts: c.counts}
		size := units.Bytes(64 << 20)
		times := map[string]units.Time{}
		for _, algo := range []string{"balanced_rails", "direct"} {
			s, err := planner.Build(topo, spec, algo, planner.Options{Slices: 64})
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(s, topo); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			r, err := sim.Run(topo, s, size, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			times[algo] = r.Time
		}
		bound := collective.LowerBound(topo, spec, size).Time
		if share := float64(bound) / float64(times["balanced_rails"]); share < c.share || share > 1 {
			t.Errorf("%s: %.2f %% of the bound", name, 100*share)
		}
		if gain := float64(times["direct"]) / float64(times["balanced_rails"]); gain < c.gain {
			t.Errorf("%s: only %.2f times as fast as direct", name, gain)
		}
	}
}

// Random matrices, most of them with empty pairs and idle ranks: everything that applies
// is right and no faster than any of the bounds.
func TestRandomCounts(t *testing.T) {
	t.Parallel()
	line := cost.Line
	for _, machine := range []struct {
		name        string
		nodes, gpus int
	}{{"dgx1-v100", 1, 0}, {"dgx-h100", 3, 2}, {"dgx-h100", 2, 4}, {"mi250x-node", 1, 6}, {"mi300x-node", 1, 5}} {
		topo, err := topology.Load(topologies.Source, machine.name, topology.Options{Nodes: machine.nodes, GPUs: machine.gpus})
		if err != nil {
			t.Fatal(err)
		}
		bounds := planner.NewBounds(topo, line)
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(20261121, seed))
			n := topo.NumRanks()
			spec := collective.Spec{Kind: collective.AllToAllV, Ranks: n, Counts: matrix(n, func(i, j int) int64 {
				return max(0, rng.Int64N(1<<(3*seed))-int64(seed)) // from a few ones to five orders of magnitude
			})}
			spec.Counts[n-1][0]++
			list, err := planner.Candidates(topo, spec, "", planner.Options{Slices: 2})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				what := fmt.Sprintf("%s, %d nodes, seed %d: %s", machine.name, machine.nodes, seed, s.Algorithm)
				if err := schedule.Check(s, topo); err != nil {
					t.Errorf("%s: %v", what, err)
				}
				for _, size := range []units.Bytes{1 << 12, 1 << 24} {
					r, err := sim.Run(topo, s, size, line, sim.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if b := bounds.Time(s, size); b > r.Time {
						t.Errorf("%s of %v: bound %v, time %v", what, size, b, r.Time)
					}
					if b := collective.LowerBound(topo, spec, size).Time; b > r.Time {
						t.Errorf("%s of %v: lower bound %v, time %v", what, size, b, r.Time)
					}
				}
			}
		}
	}
}

// Hundreds of nodes: a schedule of constant size, compiled for one of them.
func TestAllToAllOnRailsAtScale(t *testing.T) {
	ideal := cost.Ideal
	for nodes, flat := range map[int]bool{3: true, 36: true, 128: false} {
		topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		spec := collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}
		s, err := planner.Build(topo, spec, "hierarchical_all_to_all", planner.Options{Slices: 16})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := sim.Compile(topo, s, ideal)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plan.Time(units.GiB)
		if err != nil {
			t.Fatal(err)
		}
		bound := collective.LowerBound(topo, spec, units.GiB).Time
		if share := float64(bound) / float64(got); share < 0.98 || share > 1 {
			t.Errorf("%d nodes: %.2f %% of the bound", nodes, 100*share)
		}
		if !flat {
			continue
		}
		whole, err := sim.CompileFlat(topo, s, ideal)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := whole.Time(units.GiB); err != nil || got != want {
			t.Errorf("%d nodes: %v, unfolded %v (%v)", nodes, got, want, err)
		}
	}
}
