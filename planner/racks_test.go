package planner_test

import (
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// Plans over racks of NVL72, also of unequal ones, come near what no schedule can beat, and never beat it: the trays of a rack are one
// box, whose adapters all work for whoever sends to another rack.
func TestRacksReachTheBound(t *testing.T) {
	short := []collective.Kind{collective.Gather, collective.Scatter, collective.SendRecv, collective.AllToAll}
	kinds := append(short, collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce)
	for _, nodes := range []int{20, 36} {
		topo, err := topology.Load(topologies.Source, "gb200-nvl72", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range long.Or(short, kinds) {
			row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "ideal", "")
			if share := row.OfBound(); share < 0.92 || share > 1 {
				t.Errorf("%d trays, %v by %s: %.2f %% of the bound", nodes, kind, planner.Name(row.Schedule), 100*share)
			}
		}
	}
}
