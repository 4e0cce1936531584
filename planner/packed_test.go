package planner_test

import (
	"bytes"
	"fmt"
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

// Packed trees are right, and reach the bound over boxes of any size but for the pipeline.
func TestPackedTreesReachTheBound(t *testing.T) {
	ideal := cost.Ideal
	for _, c := range []struct {
		name        string
		nodes, gpus int
		v, w        float64 // GB/s of a GPU: scale-up, NIC
	}{{"dgx-h100", 2, 8, 450, 50}, {"dgx-h100", 3, 8, 450, 50}, {"dgx-h100", 2, 2, 450, 50}, {"dgx-h100", 5, 3, 450, 50},
		{"dgx-a100", 2, 8, 300, 25},
		{"dgx-a100", 3, 4, 300, 25}, {"dgx-b200", 2, 8, 900, 50}, {"dgx-h100", 12, 4, 450, 50}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, GPUs: c.gpus})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			t.Run(fmt.Sprintf("%s×%d/%d/%v", c.name, c.nodes, c.gpus, kind), func(t *testing.T) {
				spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
				s, err := planner.Build(topo, spec, "packed_trees", planner.Options{Slices: 1000})
				if err != nil {
					t.Fatal(err)
				}
				if err := schedule.Check(s, topo); err != nil {
					t.Fatal(err)
				}
				const size = 8 * units.GiB
				r, err := sim.Run(topo, s, size, ideal, sim.Options{})
				if err != nil {
					t.Fatal(err)
				}
				n := float64(spec.Ranks)
				bound := float64(size) / n / (1e9 * min((c.v+c.w)/(n-1), c.w/float64(c.nodes-1)))
				if kind == collective.AllReduce { // reduce-scatter, then all-gather
					bound *= 2
				}
				if share := bound / r.Time.Seconds(); share < 0.985 || share > 1 {
					t.Errorf("%.2f %% of the bound", 100*share)
				}
				if least := collective.LowerBound(topo, spec, size).Time; r.Time < least {
					t.Errorf("%v beats the bound %v", r.Time, least)
				}
			})
		}
	}
}

func TestPackedTreesSayWhereTheyDoNotApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
	}{{"dgx-h100", 1}, {"dgx2", 1}, {"gb200-nvl72", 18}, {"dgx-h100", 64}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		_, err = planner.Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: topo.NumRanks()}, "packed_trees", planner.Options{})
		if !planner.NotApplicable(err) {
			t.Errorf("%s × %d: %v", c.name, c.nodes, err)
		}
	}
}

// All-reduces whose trees have unequal roots come as near to the bound as their pipeline
// lets them, where reduce-scatter and all-gather with equal roots would not; so do
// broadcasts and reduces.
func TestPackedTreesOfUnequalRoots(t *testing.T) {
	t.Parallel()
	ideal := profile(t, "ideal")
	for _, c := range []struct {
		file  string
		kind  collective.Kind
		equal float64 // GB/s with equal roots at best
		share float64 // of the bound
	}{
		{"mesh4x3", collective.AllReduce, 54.5, 0.99}, {"mesh5x5", collective.AllReduce, 52.1, 0.99},
		{"star8", collective.AllReduce, 5.71, 0.98},
		{"mesh4x3", collective.Broadcast, 0, 0.98}, {"mesh5x5", collective.Reduce, 0, 0.97}, {"star8", collective.Reduce, 0, 0.98},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.file, c.kind), func(t *testing.T) {
			topo, err := topology.Load(topologies.Source, "testdata/"+c.file+".yaml", topology.Options{})
			if err != nil {
				t.Fatal(err)
			}
			spec := collective.Spec{Kind: c.kind, Ranks: topo.NumRanks(), Root: 3}
			if !c.kind.Rooted() {
				spec.Root = 0
			}
			s, err := planner.Build(topo, spec, "packed_trees", planner.Options{Slices: 512})
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(s, topo); err != nil {
				t.Fatal(err)
			}
			r, err := sim.Run(topo, s, units.GiB, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			bound, err := planner.ExactBound(topo, spec)
			if err != nil {
				t.Fatal(err)
			}
			bw := float64(units.GiB) / r.Time.Seconds()
			if share := bw / bound.AlgBW; share < c.share || share > 1 || bw/1e9 < 1.3*c.equal {
				t.Errorf("%.2f GB/s are %.2f %% of the bound: %s", bw/1e9, 100*share, bound.Cut)
			}
		})
	}
}

// Where links lead one way only, no tree serves both ways of an all-reduce: some sum up, others spread results, faster than
// shortest paths do. Their schedules are right, also when they come back from a file.
func TestSeparateTrees(t *testing.T) {
	t.Parallel()
	ideal := profile(t, "ideal")
	var trees, paths units.Time
	for seed := range long.Or[int64](2, 12) {
		topo := gen.Unseen("directed", seed)
		spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
		took := map[string]units.Time{}
		for _, algo := range []string{"packed_trees", "breadth_first"} {
			s, err := planner.Build(topo, spec, algo, planner.Options{Slices: long.Or(16, 64)})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			var file bytes.Buffer
			if err := schedule.Encode(&file, s); err != nil {
				t.Fatal(err)
			}
			if s, err = schedule.Decode(&file); err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(s, topo); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, algo, err)
			}
			r, err := sim.Run(topo, s, units.GiB, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			took[algo] = r.Time
		}
		trees, paths = trees+took["packed_trees"], paths+took["breadth_first"]
		if took["packed_trees"]*100 > took["breadth_first"]*101 { // in a ring, both are the same
			t.Errorf("seed %d, %d ranks: packed_trees take %v, breadth_first %v", seed, spec.Ranks, took["packed_trees"],
				took["breadth_first"])
		}
	}
	if trees*10 > paths*9 {
		t.Errorf("packed_trees take %v in all, breadth_first %v", trees, paths)
	}
}
