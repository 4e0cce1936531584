package planner_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/topology"
	"railyard/topologies"
)

// Machines with failed links and GPUs are irregular: nodes of unequal size, holes in
// meshes, rings that differ from node to node. Every schedule must be right there too.
func TestDegradedMachines(t *testing.T) {
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
