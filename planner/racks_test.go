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
	t.Parallel()
	short := []collective.Kind{collective.Gather, collective.Scatter, collective.SendRecv, collective.AllToAll}
	kinds := append(short, collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce)
	for i, x := range []struct {
		nodes int
		lost  []string
	}{{20, nil}, {36, nil}, {36, []string{"nic:tray3/nic1"}}} {
		if !long.Every(2, i) {
			continue
		}
		topo, err := topology.Load(topologies.Source, "gb200-nvl72", topology.Options{Nodes: x.nodes})
		if err != nil {
			t.Fatal(err)
		}
		if len(x.lost) > 0 {
			topo = degrade(t, topo, x.lost...)
		}
		for _, kind := range long.Or(short[1:3], kinds) {
			row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "ideal", "")
			if share := row.OfBound(); share < 0.92 || share > 1 {
				t.Errorf("%d trays without %v, %v by %s: %.2f %% of the bound", x.nodes, x.lost, kind, planner.Name(row.Schedule), 100*share)
			}
		}
	}
}
