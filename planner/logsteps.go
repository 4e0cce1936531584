package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildBruck takes ⌈log₂ n⌉ steps; an all-reduce is reduce-scatter and all-gather.
func buildBruck(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.AllToAll,
		collective.Barrier); err != nil {
		return nil, err
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	n := r.spec.Ranks
	if r.spec.Kind == collective.AllReduce {
		return &schedule.Schedule{Channels: []schedule.Channel{r.twoPhases(schedule.GenBruck, identity(n))}}, nil
	}
	return &schedule.Schedule{Channels: []schedule.Channel{r.flat(schedule.GenBruck, identity(n), r.chunksFor(n))}}, nil
}

// buildDoubling exchanges whole vectors at distance 1, 2, 4, …; any number of ranks.
func buildDoubling(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllReduce); err != nil {
		return nil, err
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	return &schedule.Schedule{Channels: []schedule.Channel{r.flat(schedule.GenDoubling, identity(r.spec.Ranks), 1)}}, nil
}

// buildHalvingDoubling needs a power of two of ranks.
func buildHalvingDoubling(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllReduce, collective.AllGather, collective.ReduceScatter); err != nil {
		return nil, err
	}
	n := r.spec.Ranks
	if n&(n-1) != 0 {
		return nil, notApplicable("%d ranks are not a power of two", n)
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	if r.spec.Kind == collective.AllReduce {
		return &schedule.Schedule{Channels: []schedule.Channel{r.twoPhases(schedule.GenDoubling, identity(n))}}, nil
	}
	return &schedule.Schedule{Channels: []schedule.Channel{r.flat(schedule.GenDoubling, identity(n), n)}}, nil
}
