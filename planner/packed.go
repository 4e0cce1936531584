package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// packedSchedule makes all_gather, reduce_scatter and all_reduce from packed trees.
func (r *request) packedSchedule(t *schedule.Trees) *schedule.Schedule {
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks * int(t.Units), Trees: t}
	height := t.Height()
	level := func(op collective.Kind, src schedule.Buffer, d int) {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenTrees, Op: op, Src: src, Acc: schedule.Scratch, Dst: schedule.Output, Level: d})
	}
	if r.spec.Kind != collective.AllGather {
		for d := height; d >= 1; d-- {
			level(collective.ReduceScatter, schedule.Input, d)
		}
	}
	if r.spec.Kind != collective.ReduceScatter {
		first := schedule.Input
		if r.spec.Kind == collective.AllReduce {
			first = schedule.Output
		}
		for d := 1; d <= height; d++ {
			level(collective.AllGather, first, d)
		}
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}
}
