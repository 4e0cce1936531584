package block

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// inPlace prepares a schedule for input and output in one memory: copies of a place onto
// itself are left out. The error says where a rank overwrites what is still read.
func inPlace(s *schedule.Schedule, o Options) (*schedule.Schedule, error) {
	if !o.InPlace {
		return s, nil
	}
	switch s.Spec.Kind {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce:
	default:
		return nil, fmt.Errorf("%v has no in-place form", s.Spec.Kind)
	}
	s = withoutSelfCopies(s)
	if o.Mechanism.Flagged() {
		return s, nil // a message is copied when it is sent
	}
	if err := schedule.CheckWith(s, nil, schedule.CheckOptions{InPlace: true}); err != nil {
		return nil, fmt.Errorf("this schedule cannot run in place: %w", err)
	}
	return s, nil
}

func withoutSelfCopies(s *schedule.Schedule) *schedule.Schedule {
	x := schedule.NewExpander(s)
	out := *s
	out.Channels = slices.Clone(s.Channels)
	for c := range out.Channels {
		ch := &out.Channels[c]
		ch.Phases = slices.Clone(ch.Phases)
		for p := range ch.Phases {
			found := false
			list := make([][]schedule.Op, s.Spec.Ranks)
			for r := range list {
				ops := x.AppendProgram(nil, c, p, r)
				list[r] = slices.DeleteFunc(slices.Clone(ops), selfCopy)
				found = found || len(list[r]) < len(ops)
			}
			if found {
				ch.Phases[p] = schedule.Phase{Gen: schedule.GenOps, Op: ch.Phases[p].Op, Src: ch.Phases[p].Src, Acc: ch.Phases[p].Acc, Dst: ch.Phases[p].Dst, Ops: list}
			}
		}
	}
	return &out
}

// selfCopy: chunks are numbered by blocks of the whole buffer, so that the same numbers
// are the same memory in place.
func selfCopy(op schedule.Op) bool {
	return op.Kind == schedule.Copy && op.Src.Buf == schedule.Input && op.Dst.Buf == schedule.Output && op.Src.Set == op.Dst.Set
}
