package block

import (
	"railyard/model/schedule"
)

// coarsen returns the schedule with channels of one chunk a block where no operation
// tells a block's chunks apart: one operation instead of many of consecutive chunks.
func coarsen(s *schedule.Schedule) *schedule.Schedule {
	x := schedule.NewExpander(s)
	out := *s
	out.Channels = append([]schedule.Channel(nil), s.Channels...)
	for c := range out.Channels {
		ch := &out.Channels[c]
		per := int32(ch.Chunks / s.Spec.Blocks())
		if per == 1 {
			continue
		}
		var phases []schedule.Phase
		for p, ph := range ch.Phases {
			explicit := schedule.Phase{Gen: schedule.GenOps, Op: ph.Op, Src: ph.Src, Acc: ph.Acc, Dst: ph.Dst,
				Ops: make([]schedule.Program, s.Spec.Ranks)}
			for r := range explicit.Ops {
				ops, ok := wholeBlocks(x.AppendProgram(nil, c, p, r), per)
				if !ok {
					explicit.Ops = nil
					break
				}
				explicit.Ops[r] = ops
			}
			if explicit.Ops != nil {
				phases = append(phases, explicit)
			}
		}
		if len(phases) == len(ch.Phases) {
			ch.Phases, ch.Chunks, ch.Trees, ch.Kinds = phases, s.Spec.Blocks(), nil, nil
		}
	}
	return &out
}

// wholeBlocks renumbers operations by blocks of per chunks; false where one uses less.
func wholeBlocks(ops []schedule.Op, per int32) ([]schedule.Op, bool) {
	ok := true
	whole := func(l *schedule.Loc) {
		s := l.Set
		if s.Count == 0 {
			return
		}
		if s.Outer > 1 || s.Count > 1 && s.Stride != 1 || s.First%per != 0 || s.Count%per != 0 {
			ok = false
		}
		l.Set = schedule.Range(s.First/per, s.Count/per)
	}
	for i := range ops {
		ops[i].Srcs = append([]schedule.Loc(nil), ops[i].Srcs...)
		whole(&ops[i].Src)
		whole(&ops[i].Dst)
		for j := range ops[i].Srcs {
			whole(&ops[i].Srcs[j])
		}
	}
	return ops, ok
}
