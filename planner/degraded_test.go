package planner_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// Machines with failed links and GPUs are irregular: nodes of unequal size, holes in
// meshes, rings that differ from node to node. Every schedule must be right there too.
func TestDegradedMachines(t *testing.T) {
	t.Parallel()
	seen := 0
	for i, name := range []string{"dgx1-v100", "dgx-h100", "summit-node"} {
		o := topology.Options{Nodes: 2, GPUs: long.Or(4, 0)}
		topo, err := topology.Load(topologies.Source, name, o)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		for worked := 0; worked < 2; {
			lost := topology.Fault{Part: topology.GPUPart, Name: topo.DeviceName(topo.Ranks()[rng.IntN(topo.NumRanks())])}
			if worked == 0 {
				l := topology.LinkID(rng.IntN(len(topo.Links())))
				lost = topology.Fault{Name: strings.Replace(topo.LinkName(l), "->", "--", 1)}
			}
			got, err := topo.Degrade([]topology.Fault{lost})
			if err != nil {
				continue // a rank is cut off
			}
			worked++
			seen += conform(t, got)
		}
	}
	t.Logf("%d schedules", seen)
}

// A mesh with a hole, on which the search for disjoint rings goes back over rings that
// it has already found.
func TestRingsOfMeshWithHole(t *testing.T) {
	long.Only(t)
	topo, err := topology.Load(topologies.Source, "mi250x-node", topology.Options{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	hole, err := topo.Degrade([]topology.Fault{{Name: "gpu13--gpu9"}})
	if err != nil {
		t.Fatal(err)
	}
	conform(t, hole)
}

// What lost one way costs an all-gather as much as a reduce-scatter the other way: each has trees on the graph as
// its data go along it.
func TestOneWayLinks(t *testing.T) {
	t.Parallel()
	whole, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range []string{"link:gpu0->gpu3", "link:gpu3->gpu0"} {
		topo := degrade(t, whole, lost)
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
			row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: 8}, "ideal", "")
			if share := row.OfBound(); share < 0.999 || share > 1 {
				t.Errorf("without %s, %v: %s, %.2f %% of the bound", lost, kind, planner.Name(row.Schedule), 100*share)
			}
		}
	}
}

// Where those that let one node stand for others do not apply to many nodes of which one has lost a GPU,
// other algorithms make a plan.
func TestManyNodesWithoutAGPUArePlanned(t *testing.T) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 136})
	if err != nil {
		t.Fatal(err)
	}
	topo := degrade(t, whole, "gpu:node1/gpu2")
	for _, kind := range []collective.Kind{collective.AllToAll, collective.AllGather, collective.Broadcast, collective.Barrier} {
		list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "", planner.Options{Slices: 1})
		if err != nil || len(list) == 0 {
			t.Errorf("%v: %d candidates: %v", kind, len(list), err)
		}
	}
}
