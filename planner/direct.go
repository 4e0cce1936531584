package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildPairwise is all-to-all as a shifted ring: in step k everybody sends to the k-th
// rank ahead. Thakur, Rabenseifner, Gropp 2005. Unlike direct it never has two messages
// under way to one rank.
func buildPairwise(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllToAll, collective.AllToAllV); err != nil {
		return nil, err
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	n := r.spec.Ranks
	return &schedule.Schedule{Channels: []schedule.Channel{r.flat(schedule.GenRing, identity(n), n)}}, nil
}

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

// buildScatterAllGather is a broadcast as direct scatter and ring all-gather: each
// byte leaves the root once.
func buildScatterAllGather(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.Broadcast); err != nil {
		return nil, err
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	order := r.ringOrders()[0]
	g := all(order)
	return &schedule.Schedule{Channels: []schedule.Channel{{Share: 1, Slices: r.slices(), Chunks: len(order), Phases: []schedule.Phase{
		{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: g, Src: schedule.Input, Acc: schedule.Output, Dst: schedule.Output, Root: r.rootIn(order)},
		{Gen: schedule.GenRing, Op: collective.AllGather, Groups: g, Src: schedule.Output, Acc: schedule.Output, Dst: schedule.Output},
	}}}}, nil
}
