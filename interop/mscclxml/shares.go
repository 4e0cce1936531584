package mscclxml

import (
	"maps"
	"slices"

	"railyard/model/program"
	"railyard/model/schedule"
)

// highTrees reports whether a schedule moves whole blocks along trees of more than two levels: one
// thread block for all trees of a connection would wait now for the one, now for the other.
func highTrees(s *schedule.Schedule) bool {
	return s.Spec.Blocks() == 1 && slices.ContainsFunc(s.Channels, func(ch schedule.Channel) bool {
		return ch.Trees != nil && ch.Trees.Height() > 2
	})
}

// sharesOf numbers the parts of a block by the connections that they go over: pieces of a tree are
// one share. nil where all parts are.
func sharesOf(p *program.Program) []int {
	conns := make([]map[connection]bool, p.Unit)
	for k := range conns {
		conns[k] = map[connection]bool{}
	}
	for r, steps := range p.Ranks {
		for i := range steps {
			s := &steps[i]
			for k := s.Part; k < s.Part+s.Count && s.Peer >= 0; k++ {
				conns[k][connection{r, s.Peer, s.Kind == schedule.Send}] = true
			}
		}
	}
	out := make([]int, p.Unit)
	var first []map[connection]bool // by share: those of its first part
	for k, set := range conns {
		out[k] = slices.IndexFunc(first, func(x map[connection]bool) bool { return maps.Equal(x, set) })
		if out[k] < 0 {
			out[k] = len(first)
			first = append(first, set)
		}
	}
	if len(first) < 2 {
		return nil
	}
	return out
}

// fewer joins every two neighbouring shares; nil where one would be left.
func fewer(shares []int) []int {
	out, most := make([]int, len(shares)), 0
	for k, x := range shares {
		out[k] = x / 2
		most = max(most, x/2)
	}
	if most == 0 {
		return nil
	}
	return out
}
