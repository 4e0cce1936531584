package pack

import (
	"math"
	"slices"
)

// hopSearch finds the cheapest hops from rank to rank at prices of arcs, over an arc or over switches, and cheapest trees of them.
type hopSearch struct {
	*arcs
	prices []float64 // by arc
	hops   []branch
	last   [][]int32 // by rank and vertex: the last arc of the cheapest way there
	cost   []float64 // by vertex
	queue  []int32
	looked int // arcs
	branching
}

// all finds the hops from all ranks, those from one rank first, and from those behind it.
func (h *hopSearch) all(a *arcs, prices []float64, first int32) {
	h.arcs, h.prices, h.hops = a, prices, h.hops[:0]
	if h.last == nil {
		h.last = make([][]int32, a.ranks)
	}
	h.cost = slices.Grow(h.cost[:0], len(a.out))[:len(a.out)]
	for p := range int32(a.ranks) {
		h.from((p + first) % int32(a.ranks))
	}
}

func (h *hopSearch) from(u int32) {
	last := slices.Grow(h.last[u][:0], len(h.out))[:len(h.out)]
	for v := range h.cost {
		h.cost[v], last[v] = math.Inf(1), -1
	}
	h.cost[u] = 0
	h.queue = append(h.queue[:0], u)
	for k := 0; k < len(h.queue); k++ {
		at := h.queue[k]
		h.looked += len(h.out[at])
		for _, i := range h.out[at] {
			if v, c := h.list[i].to, h.cost[at]+h.prices[i]; c < h.cost[v] {
				if h.cost[v], last[v] = c, i; int(v) >= h.ranks {
					h.queue = append(h.queue, v)
				}
			}
		}
	}
	for v := range int32(h.ranks) {
		if v != u && last[v] >= 0 {
			h.hops = append(h.hops, branch{u, v, h.cost[v]})
		}
	}
	h.last[u] = last
}

// hop is the cheapest one from a rank to another.
func (h *hopSearch) hop(u, v int32) (hop []int32) {
	for ; v != u; v = h.list[h.last[u][v]].from {
		hop = append(hop, h.last[u][v])
	}
	slices.Reverse(hop)
	return hop
}
