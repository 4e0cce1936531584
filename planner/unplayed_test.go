package planner_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
)

// Foretelling a long pipeline does not take the whole budget before one of its family was played: trees of 48 GPUs in bridged rings come
// to 99 % of the bound, to 43 where it does.
func TestBudgetIsLeftForWhatIsForetold(t *testing.T) {
	topo := gen.Unseen("bridges", 9300)
	row := bestOf(t, topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, "ideal", "")
	if share := row.OfBound(); share < 0.9 || share > 1 {
		t.Errorf("%s: %.1f %% of the bound", topo.Name(), 100*share)
	}
}
