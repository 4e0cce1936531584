package sim_test

import (
	"fmt"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// On machines of two and three tiers that have lost parts, one node of each class stands for
// all, to the picosecond and the byte.
func TestClassesAreFlat(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		faults []string
		folds  bool
	}{
		{8, []string{"nic:node2/nic3"}, true},
		{8, []string{"nic:node2/nic3=0.5", "nic:node7/nic0"}, true},
		{40, []string{"nic:node33/nic3"}, true}, // groups of 32 and 8
		{64, []string{"nic:node2/nic3", "nic:node50/nic3"}, true},
		{8, []string{"gpu:node2/gpu3"}, true},
		{64, []string{"gpu:node33/gpu3"}, true},
		{8, []string{"link:node0/gpu0--node0/nvswitch1"}, true},
		{40, []string{"link:spine0--leaf0"}, false},
	} {
		if !long.Given() && (c.nodes > 40 || !c.folds || len(c.faults) > 1) {
			continue
		}
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		if topo, err = topo.Degrade(gen.Faults(c.faults...)); err != nil {
			t.Fatal(err)
		}
		for kind, algo := range map[collective.Kind]string{collective.AllGather: "rerouted_rails",
			collective.ReduceScatter: "rerouted_rails",
			collective.AllReduce:     "rerouted_rails",
			collective.AllToAll:      "hierarchical_all_to_all", collective.Broadcast: "rerouted_rails", collective.Reduce: "rerouted_rails"} {
			what := fmt.Sprintf("%d nodes without %v, %v by %s", c.nodes, c.faults, kind, algo)
			spec, o := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, planner.Options{Slices: 3}
			if c.nodes > 8 {
				o.Channels = 1 // whether folded or flat, several take long
			}
			if kind.Rooted() {
				spec.Root = spec.Ranks / 3 // node 2 of 8
			}
			s, err := planner.Build(topo, spec, algo, o)
			if planner.NotApplicable(err) && algo != "rerouted_rails" {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if c.nodes > 8 && (kind == collective.ReduceScatter || kind == collective.Reduce) {
				continue // as the other way round
			}
			same(t, topo, s, 64*units.MiB, gen.Curved())
			folded, err := sim.Compile(topo, s, line(t))
			if err != nil {
				t.Fatal(err)
			}
			slices := 0
			for _, ch := range s.Channels {
				slices += ch.Slices
			}
			if ops := folded.Work() / int64(slices); c.folds && ops > 6000 {
				t.Errorf("%s: %d operations", what, ops)
			}
		}
	}
}

// Of trees that turn with the nodes, in whatever strands and order, the first node's ranks are compiled alone, and take as long as all.
func TestTreesThatTurn(t *testing.T) {
	for i, c := range []struct {
		name      string
		nodes     int
		algorithm string
	}{{"superpod-h100", 4, "parallel_trees"}, {"nvlink-network-256", 6, "parallel_trees"}, {"nvlink-network-256", 4, "packed_trees"}} {
		if !long.Every(2, i) {
			continue
		}
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			s, err := planner.Build(topo, spec, c.algorithm, planner.Options{Slices: 3, Channels: 2})
			if err != nil {
				t.Fatal(err)
			}
			same(t, topo, s, 16*units.MiB, gen.Curved())
			one, err := sim.Compile(topo, s, line(t))
			if err != nil {
				t.Fatal(err)
			}
			all, err := sim.CompileFlat(topo, s, line(t))
			if err != nil {
				t.Fatal(err)
			}
			if n := int64(c.nodes); one.Compiled() == 0 || one.Compiled()*n > all.Compiled() {
				t.Errorf("%s on %d nodes, %v by %s: %d of %d operations are compiled", c.name, c.nodes, kind, c.algorithm, one.Compiled(),
					all.Compiled())
			}
		}
	}
}
