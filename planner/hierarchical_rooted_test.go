package planner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

var fromRoot = []collective.Kind{collective.Broadcast, collective.Reduce}

// withSwitches are nodes of superpod-h100 that have lost something, whose switches work on data.
func withSwitches(t *testing.T, nodes int, faults ...string) *topology.Topology {
	t.Helper()
	whole, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return degrade(t, whole, faults...)
}

// TestTreesOverUnlikeNodes: whatever some nodes have lost, trees and chains over nodes are plans that do what they should.
func TestTreesOverUnlikeNodes(t *testing.T) {
	for seed := range long.Or[uint64](6, 60) {
		rng := rand.New(rand.NewPCG(20261201, seed))
		nodes := 2 + rng.IntN(6)
		var faults []string
		for node := range 1 + rng.IntN(min(3, nodes)) {
			part := []string{"nic:node%d/nic%d", "nic:node%d/nic%d=0.5", "gpu:node%d/gpu%d"}[rng.IntN(3)]
			faults = append(faults, fmt.Sprintf(part, node, rng.IntN(8)))
		}
		topo := withSwitches(t, nodes, faults...)
		for _, kind := range append(fromRoot[:2:2], collective.AllReduce) {
			spec, over := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, []string{"hierarchical_tree"}
			if kind.Rooted() {
				spec.Root, over = rng.IntN(spec.Ranks), append(over, "hierarchical_ring", "hierarchical_in_network")
			}
			for _, algorithm := range over {
				s, err := planner.Build(topo, spec, algorithm, planner.Options{Slices: 2})
				if err == nil {
					err = schedule.Check(s, topo)
				}
				if err != nil {
					t.Errorf("seed %d, %v, %d nodes, %s of root %d, %s: %v", seed, faults, nodes, kind, spec.Root, algorithm, err)
				}
			}
		}
	}
}

// TestRootsReachTheNarrowestNode: where nodes have lost something of one rail, the narrowest of them takes in, or sends out, all that it
// can.
func TestRootsReachTheNarrowestNode(t *testing.T) {
	for _, c := range []struct {
		faults []string
		share  float64 // of the bound, at least
	}{
		{[]string{"nic:node2/nic3"}, 0.95}, {[]string{"nic:node2/nic3=0.5"}, 0.95}, {[]string{"gpu:node2/gpu3"}, 0.95},
		{[]string{"nic:node0/nic3", "gpu:node5/gpu3"}, 0.91}, // the root's
	} {
		topo := withSwitches(t, 12, c.faults...)
		scorer := score.New(topo, profile(t, "ideal"))
		for _, kind := range fromRoot {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, scorer, planner.PlanOptions{Algorithm: "hierarchical_in_network"})
			if err != nil {
				t.Fatal(err)
			}
			if share := rows[0].OfBound(); share < c.share || share > 1 {
				t.Errorf("%v, %v: %s reaches %.1f %% of the bound", c.faults, kind, planner.Name(rows[0].Schedule), 100*share)
			}
		}
	}
}
