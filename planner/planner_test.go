package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/topology"
	"railyard/planner/plannertest"
	"railyard/topologies"
)

func TestEveryAlgorithmOnEveryShippedTopology(t *testing.T) {
	seen := 0
	for _, name := range topologies.Names() {
		for _, o := range []topology.Options{{}, {GPUs: 3}, {Nodes: 2, GPUs: 4}, {Nodes: 3, GPUs: 2}} {
			topo, err := topology.Load(topologies.Source, name, o)
			if err != nil || topo.NumRanks() > 64 || o.Nodes > 0 && topo.NumNodes() != o.Nodes {
				continue // sizes that the file does not have
			}
			seen += plannertest.Conform(t, topo)
		}
	}
	t.Logf("%d schedules proven", seen)
}

func TestEveryAlgorithmOnRandomTopologies(t *testing.T) {
	seen := 0
	for seed := range int64(25) {
		seen += plannertest.Conform(t, gen.Topology(seed))
	}
	t.Logf("%d schedules proven", seen)
}
