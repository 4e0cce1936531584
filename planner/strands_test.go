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
	"railyard/sim"
	"railyard/topologies"
)

// Trees in strands are right, and reach what they have on paper but for filling the pipeline: whatever the graph and the
// collective, in s slices the busiest link works s/(s+h−1) of the time at least, h being the phases of a strand.
func TestStrands(t *testing.T) {
	t.Parallel()
	ideal := profile(t, "ideal")
	const slices = 32
	type unseen struct {
		family string
		seed   int64
	}
	all := []unseen{{"degraded", 21}, {"mixed", 7003}, {"planes", 202}, {"two kinds", 7001}, {"degraded", 22}, {"planes", 7000}}
	for _, graph := range long.Or(all[:3], all) {
		topo := gen.Unseen(graph.family, graph.seed)
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.Broadcast,
			collective.Reduce} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			s, err := planner.Build(topo, spec, "parallel_trees", planner.Options{Slices: slices})
			if planner.NotApplicable(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(s, topo); err != nil {
				t.Errorf("%s, %v: %v", topo.Name(), kind, err)
			}
			r, err := sim.Run(topo, s, units.GiB, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			busiest := 0.0
			for _, l := range r.Links {
				busiest = max(busiest, l.Utilisation)
			}
			h := mostInAStrand(s.Channels[0].Phases)
			if least := slices / float64(slices+h-1); busiest < 0.999*least {
				t.Errorf("%s, %v: the busiest link works %.4f of the time, %.4f at least in %d slices of %d phases", topo.Name(), kind, busiest,
					least, slices, h)
			}
		}
	}
}

func mostInAStrand(phases []schedule.Phase) (most int) {
	n := 0
	for _, ph := range phases {
		if n++; ph.Apart {
			n = 1
		}
		most = max(most, n)
	}
	return most
}

// Where a turn of the nodes leaves trees as they are, it leaves them in strands, which it takes to one another.
func TestStrandsTurn(t *testing.T) {
	t.Parallel()
	turned := 0
	for _, c := range []struct {
		name  string
		nodes int
	}{{"nvlink-network-256", 6}, {"nvlink-network-256", 16}, {"superpod-h100", 4}, {"mi300x-node", 2}, {"dgx1-v100", 2}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.AllGather, collective.AllReduce} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			whole, err := planner.Build(topo, spec, "packed_trees", planner.Options{Slices: 4})
			if err != nil {
				t.Fatal(err)
			}
			s, err := planner.Build(topo, spec, "parallel_trees", planner.Options{Slices: 4})
			if planner.NotApplicable(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(s, topo); err != nil {
				t.Errorf("%s on %d nodes, %v: %v", c.name, c.nodes, kind, err)
			}
			if whole.TreeTurn(0) != nil {
				if turned++; s.TreeTurn(0) == nil {
					t.Errorf("%s on %d nodes, %v: trees turn, and not in strands", c.name, c.nodes, kind)
				}
			}
		}
	}
	if turned < 4 {
		t.Errorf("%d sets of trees turn", turned)
	}
}
