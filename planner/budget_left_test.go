package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
)

// What long pipelines take to play does not take the whole budget before the best was found: trees of 48 GPUs in bridged rings come
// to 99 % of the bound.
func TestBudgetIsLeftForTheBest(t *testing.T) {
	long.Only(t) // 16 s of a processor; that a budget goes to the most promising, contest_test.go holds on small ones
	topo := gen.Unseen("bridges", 9300)
	row := bestOf(t, topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, "ideal", "")
	if share := row.OfBound(); share < 0.9 || share > 1 {
		t.Errorf("%s: %.1f %% of the bound", topo.Name(), 100*share)
	}
}
