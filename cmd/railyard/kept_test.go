package main

import (
	"math"
	"testing"

	"railyard/capacity/score"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// What long pipelines take follows from how they begin.
func TestTimeOfLongPipelines(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2, GPUs: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []string{"nic:node1/nic3", "nic:node0/nic0=0.5"} {
		f, err := topology.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		left, err := topo.Degrade([]topology.Fault{f})
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range []string{"ideal", "line"} {
			p, err := cost.Get(profile)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []collective.Kind{collective.AllGather, collective.AllReduce} {
				s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "packed_trees", planner.Options{Slices: 1000})
				if err != nil {
					t.Fatal(err)
				}
				x := score.New(left, p)
				whole, err := x.Time(s, units.GiB)
				if err != nil {
					t.Fatal(err)
				}
				got, err := timeOf(x, s, units.GiB)
				if err != nil {
					t.Fatal(err)
				}
				if off := math.Abs(float64(got)/float64(whole) - 1); off > 0.002 {
					t.Errorf("%s, %s, %v: %v, played to the end %v", fault, profile, kind, got, whole)
				}
			}
		}
	}
}
