package schedule

import (
	"fmt"
	"slices"
)

// InPlace is a schedule for input and output in one memory, as WithoutSelfCopies makes it,
// proven to be right there. The error says where a rank overwrites what is still read.
func InPlace(s *Schedule) (*Schedule, error) {
	out, err := WithoutSelfCopies(s)
	if err != nil {
		return nil, err
	}
	if err := check(out, nil, true); err != nil {
		return nil, fmt.Errorf("this schedule cannot run in place: %w", err)
	}
	return out, nil
}

// WithoutSelfCopies leaves out what copies a place onto itself where input and output are one
// memory. The error says that a collective has no such form.
func WithoutSelfCopies(s *Schedule) (*Schedule, error) {
	if !s.Spec.Kind.InPlace() {
		return nil, fmt.Errorf("%v has no in-place form", s.Spec.Kind)
	}
	x := NewExpander(s)
	out := *s
	out.Channels = slices.Clone(s.Channels)
	for c := range out.Channels {
		ch := &out.Channels[c]
		ch.Phases = slices.Clone(ch.Phases)
		for p := range ch.Phases {
			if list, found := withoutSelfCopies(x, s.Spec.Ranks, c, p); found {
				ph := &ch.Phases[p]
				*ph = Phase{Gen: GenOps, Op: ph.Op, Src: ph.Src, Acc: ph.Acc, Dst: ph.Dst, Ops: list}
			}
		}
	}
	return &out, nil
}

// withoutSelfCopies are a phase's programs, by rank or as it holds them, but for such copies, and
// whether there are any.
func withoutSelfCopies(x *Expander, ranks, channel, phase int) (list []Program, found bool) {
	ph := &x.s.Channels[channel].Phases[phase]
	if ph.Gen == GenOps {
		ranks = ph.programs()
	}
	list = make([]Program, ranks)
	for r := range list {
		var ops []Op
		if ph.Gen == GenOps {
			ops = ph.appendProgram(nil, r)
		} else {
			ops = x.AppendProgram(nil, channel, phase, r)
		}
		n := len(ops)
		list[r] = slices.DeleteFunc(ops, selfCopy)
		found = found || len(list[r]) < n
	}
	return list, found
}

// selfCopy: chunks are numbered by blocks of the whole buffer, so that the same numbers
// are the same memory in place.
func selfCopy(op Op) bool {
	return op.Kind == Copy && op.Src.Buf == Input && op.Dst.Buf == Output && op.Src.Set == op.Dst.Set
}
