package planner

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// turningTrees are trees that a turn of nodes leaves as they are: of each rank so many chains through all others, and stars.
func turningTrees(ranks, local, chains, stars int) *schedule.Trees {
	t := &schedule.Trees{Units: int32(chains + stars), Local: int32(local)}
	for root := range ranks {
		for i := range chains + stars {
			x := schedule.Tree{Root: int32(root), Weight: 1, Parent: make([]int32, ranks)}
			for v := range ranks {
				switch {
				case v == root:
					x.Parent[v] = -1
				case i < chains:
					x.Parent[v] = int32((v - 1 + ranks) % ranks)
				default:
					x.Parent[v] = int32(root)
				}
			}
			t.List = append(t.List, x)
		}
	}
	return t
}

// TestStrandsOfTurningTrees: however full the last strands are, a turn leaves them as it leaves the trees; and where those that turn have too
// many phases for a collective, it has those that do not.
func TestStrandsOfTurningTrees(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
		for i := range 26 {
			local, stars := 1+i%2, i/2
			trees, spec := turningTrees(4, local, 1, stars), &collective.Spec{Kind: kind, Ranks: 4}
			x := inStrands(trees, spec)
			if x == nil {
				t.Fatalf("%v, nodes of %d, %d stars: no strands", kind, local, stars)
			}
			s := of(schedule.Channel{Share: 1, Slices: 2, Chunks: chunksOf(x.Trees), Trees: x.Trees, Phases: x.phases(kind)})
			s.Spec, s.Protocol = *spec, schedule.Simple
			if err := schedule.Check(s, nil); err != nil {
				t.Errorf("%v, nodes of %d, %d stars: %v", kind, local, stars, err)
			}
			if s.TreeTurn(0) == nil {
				t.Errorf("%v, nodes of %d, %d stars: trees turn, and strands do not", kind, local, stars)
			}
		}
	}
}

// TestStrandsThatAreFew: where strands that turn have too many phases for a collective, it has those that do not turn.
func TestStrandsThatAreFew(t *testing.T) {
	other := 0
	for nodes := 2; nodes <= 256; nodes *= 2 {
		for _, kind := range []collective.Kind{collective.AllGather, collective.AllReduce} {
			trees, spec := turningTrees(nodes, 1, 1, 1), &collective.Spec{Kind: kind, Ranks: nodes}
			apart, turning, got := inRings(trees, spec, int32(nodes)), inRings(trees, spec, 1), inStrands(trees, spec)
			if apart != nil && got == nil || got != nil && len(got.phases(kind)) > schedule.MaxPhases {
				t.Errorf("%v on %d nodes: strands that do not turn are %v, chosen are %v", kind, nodes, apart != nil, got != nil)
			}
			if apart != nil && turning == nil {
				other++
			}
		}
	}
	if other == 0 {
		t.Error("strands that turn are never too many")
	}
}
