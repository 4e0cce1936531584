package pack

import "slices"

// hops are what transfers between vertices take of what they share.
type hops struct {
	n, resources int
	takes        [][]taken // by pair u·n+v; nil: none
}

func (h *hops) hop(u, v int32) []taken { return h.takes[int(u)*h.n+int(v)] }

// both are hops that take what goes both ways, where there are both.
func (h *hops) both() *hops {
	out := &hops{n: h.n, resources: h.resources, takes: make([][]taken, len(h.takes))}
	for i, hop := range h.takes {
		if back := h.takes[i%h.n*h.n+i/h.n]; back != nil && hop != nil {
			out.takes[i] = slices.Concat(hop, back)
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
