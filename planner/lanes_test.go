package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/planner"
	"railyard/planner/pack"
	"railyard/sim"
)

// Where transfers of unequal amounts share links behind switches, trees whose levels flow beside one another, a connection in as many
// as it carries, reach the rate that they have on paper but for filling the pipeline; with a level for each depth, connections get as
// much of a link as others that carry less, and the first of these graphs came to 78 % of it.
func TestLanes(t *testing.T) {
	ideal := profile(t, "ideal")
	for _, graph := range []struct {
		family string
		seed   int64
	}{{"degraded", 21}, {"degraded", 22}, {"mixed", 21}, {"planes", 202}, {"planes", 203}} {
		topo := gen.Unseen(graph.family, graph.seed)
		for kind, use := range map[collective.Kind]pack.Use{collective.AllGather: pack.AllGather,
			collective.ReduceScatter: pack.ReduceScatter} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			s, err := planner.Build(topo, spec, "parallel_trees", planner.Options{Slices: 256})
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.Run(topo, s, units.GiB, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			trees, err := pack.ForTopology(topo, use, 0, pack.Options{})
			if err != nil {
				t.Fatal(err)
			}
			levels := len(s.Channels[0].Phases)
			paper := trees.Share * 256 / float64(256+levels)
			bound := planner.BoundForPlan(topo, spec, r.Time, units.GiB)
			if got := bound.Time.Seconds() / r.Time.Seconds(); got > 1 || got < 0.97*paper {
				t.Errorf("%s, %v: %.2f %% of the bound, on paper %.2f %% in %d levels", topo.Name(), kind, 100*got, 100*paper, levels)
			}
		}
	}
}
