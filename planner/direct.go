package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildDirect sends straight from every rank to every rank that needs it.
func buildDirect(r *request) (*schedule.Schedule, error) {
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	n := r.spec.Ranks
	return &schedule.Schedule{Channels: []schedule.Channel{r.flat(schedule.GenDirect, identity(n), r.chunksFor(n))}}, nil
}

// buildTwoShot is an all-reduce as direct reduce-scatter and direct all-gather.
func buildTwoShot(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllReduce); err != nil {
		return nil, err
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	return &schedule.Schedule{Channels: []schedule.Channel{r.twoPhases(schedule.GenDirect, identity(r.spec.Ranks))}}, nil
}

// buildScatterExchange is a broadcast in which the root deals its data out to the others,
// who pass their parts on to one another: each byte leaves the root once, and no rank
// sends or receives more than the whole.
func buildScatterExchange(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.Broadcast); err != nil {
		return nil, err
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
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
	return &schedule.Schedule{Channels: []schedule.Channel{{Share: 1, Slices: r.slices(), Chunks: n - 1, Phases: []schedule.Phase{
		{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: list(dealt), Src: schedule.Input, Acc: schedule.Output,
			Dst: schedule.Output},
		{Gen: schedule.GenDirect, Op: collective.AllGather, Groups: list(others), Src: schedule.Output, Acc: schedule.Output,
			Dst: schedule.Output},
		{Gen: schedule.GenDirect, Op: collective.Broadcast, Groups: list(whole), Src: schedule.Input, Acc: schedule.Output,
			Dst: schedule.Output},
	}}}}, nil
}
