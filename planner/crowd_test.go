package planner_test

import (
	"slices"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// Where all pairs of many ranks send different amounts, all at once is not tried beside rails; of
// few pairs or equal counts it is.
func TestCrowdsAreLeftToRails(t *testing.T) {
	pods, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 16})
	if err != nil {
		t.Fatal(err)
	}
	random := func(i, j int) int64 { return int64(i*i+7*j) % 100 }
	for _, c := range []struct {
		name  string
		spec  collective.Spec
		tried bool
	}{
		{"all pairs", collective.Spec{Kind: collective.AllToAllV, Ranks: 128, Counts: matrix(128, random)}, false},
		{"equal counts", collective.Spec{Kind: collective.AllToAllV, Ranks: 128, Counts: matrix(128, func(_, _ int) int64 { return 3 })},
			true},
		{"one row", collective.Spec{Kind: collective.AllToAllV, Ranks: 128,
			Counts: matrix(128, func(i, j int) int64 { return random(i, j) * int64(1-min(i, 1)) })}, true},
	} {
		list, err := planner.Candidates(pods, c.spec, "", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(list, func(s *schedule.Schedule) bool { return s.Algorithm == "direct" }); got != c.tried {
			t.Errorf("%s: direct is tried: %v", c.name, got)
		}
	}
}
