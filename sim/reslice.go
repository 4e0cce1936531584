package sim

import (
	"slices"

	"railyard/model/schedule"
)

// Resliced is the plan of a schedule that differs from this plan's only in its protocol and the numbers of
// slices, where channels of the same number have the same again: nothing has to be compiled
// again. The caller vouches for that; ok is false where it is plainly not so, where one is for copy engines, which sum up otherwise, and
// where messages of the other protocol find other rates in nodes.
func (p *Plan) Resliced(s *schedule.Schedule) (q *Plan, ok bool) {
	if len(p.jobs) != 1 || len(p.strands) != len(s.Channels) || p.jobs[0].Ranks != nil {
		return nil, false
	}
	if was := p.jobs[0].Schedule.Protocol; was != s.Protocol && (was == schedule.CopyEngine || s.Protocol == schedule.CopyEngine) {
		return nil, false
	}
	if p.sharedInNodes(p.jobs[0].Schedule.Protocol) != p.sharedInNodes(s.Protocol) {
		return nil, false
	}
	clone := *p
	clone.classes = slices.Clone(p.classes)
	for i := range clone.classes {
		clone.classes[i].protocol = s.Protocol
	}
	clone.jobs = []Job{{Schedule: s, Label: p.jobs[0].Label}}
	clone.strands = make([]strand, len(p.strands))
	now := map[int32]int{}
	for i, x := range p.strands {
		if n, known := now[x.slices]; known && n != s.Channels[i].Slices {
			return nil, false
		}
		now[x.slices] = s.Channels[i].Slices
		x.slices = int32(s.Channels[i].Slices)
		clone.strands[i] = x
	}
	clone.eng, clone.whole, clone.steps, clone.compiled = nil, nil, -1, 0
	if p.base != nil {
		if clone.base, ok = p.base.Resliced(s); !ok {
			return nil, false
		}
	}
	return &clone, true
}
