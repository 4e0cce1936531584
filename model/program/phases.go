package program

import (
	"maps"
	"slices"

	"railyard/model/schedule"
)

// bySwitches reports whether switches work on some of a strand's data.
func (x *strand) bySwitches() bool {
	return slices.ContainsFunc(x.ops, func(o *operation) bool { return o.class() > 0 })
}

// class is what an operation may share a phase with: what a message loads on its way must not depend on
// which message it is, so the messages of reductions in switches, of multicasts and all others lie in
// phases of their own. An end of a message is of the class of the other.
func (o *operation) class() int {
	switch o.kind {
	case schedule.SwitchReduce:
		return 1
	case schedule.Multicast:
		return 2
	}
	if len(o.msgs) == 0 {
		return 0
	}
	for _, end := range []*operation{o.msgs[0].send, o.msgs[0].recv} {
		if end.kind == schedule.SwitchReduce || end.kind == schedule.Multicast {
			return end.class()
		}
	}
	return 0
}

const classes = 3

// group is an operation with the other ends of its messages, and with theirs.
func (o *operation) group() []*operation {
	out := []*operation{o}
	for i := 0; i < len(out); i++ {
		for _, m := range out[i].msgs {
			for _, end := range []*operation{m.send, m.recv} {
				if !slices.Contains(out, end) {
					out = append(out, end)
				}
			}
		}
	}
	return out
}

// setPhases says of every operation in which phase it is, and how many there are: the first of its class
// that no use of its memory comes after. Both ends of messages stand side by side in the program.
func (s *stager) setPhases(ops []*operation) int {
	type last struct{ write, use int } // phases of the last write and of the last use
	cells := map[cellKey]*last{}
	visit := func(group []*operation, do func(c *last, write bool)) {
		for _, o := range group {
			s.w.uses(o, func(key cellKey, write bool) {
				if cells[key] == nil {
					cells[key] = &last{}
				}
				do(cells[key], write)
			})
		}
	}
	used := map[int]bool{}
	for _, o := range ops {
		if o.done {
			continue
		}
		phase, group := 0, o.group()
		visit(group, func(c *last, write bool) {
			phase = max(phase, c.write)
			if write {
				phase = max(phase, c.use)
			}
		})
		phase += (o.class() - phase%classes + classes) % classes
		used[phase] = true
		visit(group, func(c *last, write bool) {
			c.use = max(c.use, phase)
			if write {
				c.write = phase
			}
		})
		for _, x := range group {
			x.stage, x.done = phase, true
		}
	}
	numbers := slices.Sorted(maps.Keys(used))
	for _, o := range ops {
		o.stage, _ = slices.BinarySearch(numbers, o.stage)
	}
	return len(numbers)
}
