package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// cut is how data are cut up where all ranks are one group.
type cut int

const (
	whole  cut = iota // not at all
	parts             // by rank, as far as the collective is
	halves            // likewise, and an all-reduce into reduce-scatter and all-gather
)

// inOneGroup builds what all ranks do together by one generator.
func inOneGroup(gen string, by cut) builder {
	return func(r *request) (*schedule.Schedule, error) {
		order := identity(r.spec.Ranks)
		switch {
		case by == halves && r.spec.Kind == collective.AllReduce:
			return of(r.twoPhases(gen, order)), nil
		case by == whole:
			return of(r.flat(gen, order, 1)), nil
		}
		return of(r.flat(gen, order, r.chunksFor(len(order)))), nil
	}
}

// powerOfTwo is what recursive halving needs.
func (r *request) powerOfTwo() error {
	if n := r.spec.Ranks; n&(n-1) != 0 {
		return notApplicable("%d ranks are not a power of two", n)
	}
	return r.allRoutable()
}

// buildScatterExchange is a broadcast in which the root deals its data out to the others,
// who pass their parts on to one another: each byte leaves the root once, and no rank
// sends or receives more than the whole.
func buildScatterExchange(r *request) (*schedule.Schedule, error) {
	n := r.spec.Ranks
	if n < 3 {
		return nil, notApplicable("%d ranks: there is nobody to pass data on to", n)
	}
	root := int32(r.spec.Root)
	dealt := schedule.Group{Ranks: schedule.RankList{root}, Parts: []schedule.ChunkSet{schedule.Range(0, 0)}}
	var others schedule.Group
	for k := 1; k < n; k++ {
		dealt.Ranks = append(dealt.Ranks, int32((r.spec.Root+k)%n))
		dealt.Parts = append(dealt.Parts, schedule.Range(int32(k-1), 1))
	}
	others.Ranks, others.Parts = dealt.Ranks[1:], dealt.Parts[1:]
	whole := schedule.Group{Ranks: schedule.RankList{root}, Parts: []schedule.ChunkSet{schedule.Range(0, int32(n-1))}}
	list := func(g schedule.Group) schedule.Groups { return schedule.Groups{List: []schedule.Group{g}} }
	return of(schedule.Channel{Share: 1, Slices: r.slices(), Chunks: n - 1, Phases: []schedule.Phase{
		{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: list(dealt), Src: schedule.Input, Acc: schedule.Output,
			Dst: schedule.Output},
		{Gen: schedule.GenDirect, Op: collective.AllGather, Groups: list(others), Src: schedule.Output, Acc: schedule.Output,
			Dst: schedule.Output},
		{Gen: schedule.GenDirect, Op: collective.Broadcast, Groups: list(whole), Src: schedule.Input, Acc: schedule.Output,
			Dst: schedule.Output},
	}}), nil
}
