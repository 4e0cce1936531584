package pack

import "slices"

// hops are what transfers between vertices take of what they share.
type hops struct {
	n, resources int
	takes        [][]taken // by pair u·n+v; nil: none
}

func (h *hops) hop(u, v int32) []taken { return h.takes[int(u)*h.n+int(v)] }

// longest is how long a byte takes of what it takes the longest of.
func (h *hops) longest() (seconds float64) {
	for _, hop := range h.takes {
		for _, t := range hop {
			seconds = max(seconds, t.time)
		}
	}
	return seconds
}

// back are the hops as what goes the other way takes them.
func (h *hops) back() *hops {
	out := &hops{n: h.n, resources: h.resources, takes: make([][]taken, len(h.takes))}
	for i, hop := range h.takes {
		out.takes[i%h.n*h.n+i/h.n] = hop
	}
	return out
}

// both are hops that take what goes both ways, where there are both.
func (h *hops) both() *hops {
	out := h.back()
	for i, hop := range h.takes {
		if back := out.takes[i]; back != nil && hop != nil {
			out.takes[i] = slices.Concat(hop, back)
		} else {
			out.takes[i] = nil
		}
	}
	return out
}

// ofTransfers has the hops of transfers.
func (s *search) ofTransfers(list []transfer) *hops {
	h := &hops{n: s.g.Ranks, takes: make([][]taken, s.g.Ranks*s.g.Ranks)}
	for i, hop := range s.condense(list) {
		h.takes[int(list[i].u)*h.n+int(list[i].v)] = hop
		for _, t := range hop {
			h.resources = max(h.resources, int(t.resource)+1)
		}
	}
	return h
}
