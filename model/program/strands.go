package program

import (
	"slices"

	"railyard/model/schedule"
)

// strand is what happens to the parts of every block from one to before another: thread
// blocks that use no other part, and that need nothing of those that do.
type strand struct {
	ops      []*operation
	from, to int
}

// mostStrands is how many there may be: each is a channel.
const mostStrands = 64

// place is a place as the strand numbers it, of blocks of unit parts.
func (x *strand) place(p Place, unit int) Place {
	if p.Buf != schedule.Scratch {
		p.At = p.At/unit*(x.to-x.from) + p.At%unit - x.from
	}
	return p
}

func (x *strand) places(list []Place, unit int) []Place {
	out := make([]Place, len(list))
	for i, p := range list {
		out[i] = x.place(p, unit)
	}
	return out
}

// strands parts operations into as many as there are, in the order of their parts.
func (s *stager) strands(ops []*operation) []strand {
	unit := s.w.unit
	sets := make(joined, len(s.team)+unit) // teams, then parts
	for i := range sets {
		sets[i] = i
	}
	for t, needs := range s.needs {
		for u := range needs {
			sets.join(t, u)
		}
	}
	for _, o := range ops {
		t := s.teamOf(o)
		for _, p := range o.places() {
			for i := range o.n {
				if p.Buf != schedule.Scratch {
					sets.join(t, len(s.team)+(p.At+i)%unit)
				}
			}
		}
	}
	out := runsOf(sets, len(s.team), unit)
	if len(out) > mostStrands {
		out = []strand{{to: unit}}
	}
	for _, o := range ops {
		set := sets.first(s.teamOf(o))
		i := slices.IndexFunc(out, func(x strand) bool { return sets.first(len(s.team)+x.from) == set })
		i = max(i, 0) // what only moves scratch about is anywhere
		out[i].ops = append(out[i].ops, o)
	}
	return slices.DeleteFunc(out, func(x strand) bool { return len(x.ops) == 0 })
}

// runsOf joins the sets whose parts lie between one another, and returns the runs of parts
// that are left.
func runsOf(sets joined, teams, unit int) []strand {
	last := map[int]int{} // by set: its last part
	for p := range unit {
		last[sets.first(teams+p)] = p
	}
	var out []strand
	for p := 0; p < unit; {
		x := strand{from: p}
		for end := p; p <= end; p++ {
			end = max(end, last[sets.first(teams+p)])
			sets.join(teams+p, teams+x.from)
			last[sets.first(teams+x.from)] = max(end, last[sets.first(teams+x.from)])
		}
		x.to = p
		out = append(out, x)
	}
	return out
}

// places are those that an operation names.
func (o *operation) places() []Place {
	if o.kind.Sends() {
		return o.srcs
	}
	return append(o.srcs[:len(o.srcs):len(o.srcs)], o.dst)
}
