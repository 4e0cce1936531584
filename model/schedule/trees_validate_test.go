package schedule

import (
	"strings"
	"testing"

	"railyard/model/collective"
)

// Trees are looked at once for all phases that take a level of them: a plan of many levels takes no more to validate than one of few.
func TestTreesAreValidatedOnce(t *testing.T) {
	const ranks = 48
	chain := make(RankList, ranks)
	for v := range chain {
		chain[v] = int32(v) - 1
	}
	trees := &Trees{Local: ranks}
	for range 16 {
		trees.List = append(trees.List, Tree{Weight: 1, Parent: chain})
	}
	allocations := func(levels int) float64 {
		s := &Schedule{Spec: collective.Spec{Kind: collective.Broadcast, Ranks: ranks}, Protocol: Simple,
			Channels: []Channel{{Share: 1, Slices: 1, Chunks: len(trees.List), Trees: trees}}}
		for level := range levels {
			s.Channels[0].Phases = append(s.Channels[0].Phases, Phase{Gen: GenTrees, Op: collective.AllGather, Src: Input, Acc: Output,
				Dst: Output, Level: 1 + level})
		}
		return testing.AllocsPerRun(3, func() {
			if err := s.Validate(); err != nil {
				t.Fatal(err)
			}
		})
	}
	one, all := allocations(1), allocations(ranks-1)
	if each := (all - one) / (ranks - 2); each > float64(len(trees.List))/2 {
		t.Errorf("validating a level of %d trees takes %.1f allocations more, of %.1f for one level", len(trees.List), each, one)
	}
}

// A parent that is no rank is one line, also where trees have levels.
func TestParentsAreValidatedBeforeLevels(t *testing.T) {
	for _, parent := range []int32{-2, 2, 1 << 20} {
		s := &Schedule{Spec: collective.Spec{Kind: collective.Broadcast, Ranks: 2}, Protocol: Simple,
			Channels: []Channel{{Share: 1, Slices: 1, Chunks: 1,
				Trees:  &Trees{Local: 2, List: []Tree{{Weight: 1, Parent: RankList{-1, parent}, Levels: RankList{0, 1}}}},
				Phases: []Phase{{Gen: GenTrees, Op: collective.AllGather, Src: Input, Acc: Output, Dst: Output, Level: 1}}}}}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "is not a position") {
			t.Errorf("parent %d: %v", parent, err)
		}
	}
}
