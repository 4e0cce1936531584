package planner_test

import (
	"fmt"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/topology"
	"railyard/topologies"
)

func TestEveryAlgorithmOnEveryShippedTopology(t *testing.T) {
	for _, name := range topologies.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := 0
			most := long.Or(4, 64)
			for _, o := range []topology.Options{{}, {GPUs: 3}, {Nodes: 2, GPUs: 4}, {Nodes: long.Or(2, 3), GPUs: 2}} {
				topo, err := topology.Load(topologies.Source, name, o)
				if err != nil || topo.NumRanks() > most || o.Nodes > 0 && topo.NumNodes() != o.Nodes {
					continue // sizes that the file does not have
				}
				seen += conform(t, topo)
			}
			if seen == 0 {
				t.Error("no schedule was proven")
			}
		})
	}
}

func TestEveryAlgorithmOnRandomTopologies(t *testing.T) {
	for seed := range long.Or[int64](15, 100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if conform(t, gen.Topology(seed)) == 0 {
				t.Error("no schedule was proven")
			}
		})
	}
}
