package planner

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/topologies"
)

// A shape that is a candidate's is that candidate, which is not built, compiled and played again.
func TestShapesOfCandidates(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "pcie4-server", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
	candidates, err := candidatesOf(topo, spec, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x, again := newShaper(topo, spec, candidates, PlanOptions{}), 0
	own := map[shape]*schedule.Schedule{}
	for _, c := range candidates {
		own[x.of[c]] = c
	}
	for _, s := range candidates {
		for _, d := range x.directions(s) { // twice as many slices, and half of that again
			beside, err := x.build(d.more)
			if err != nil {
				t.Fatal(err)
			}
			if beside == nil {
				continue
			}
			for _, back := range x.directions(beside) {
				if c := own[back.less]; c != nil {
					again++
					if got, err := x.build(back.less); got != c || err != nil {
						t.Errorf("%s was built again: %v", Name(c), err)
					}
				}
			}
		}
	}
	if again == 0 {
		t.Error("no shape two steps from a candidate is another candidate's")
	}
}

// A family that gains little by little is left where as much by each doubling of channels would not do.
func TestMayReach(t *testing.T) {
	r := &refinement{contest: &contest{list: []Considered{{Time: 100}}}}
	if r.mayReach(180, 190) || !r.mayReach(110, 130) || !r.mayReach(90, 91) {
		t.Error("180 after 190 might reach 100, or 110 after 130 not")
	}
}
