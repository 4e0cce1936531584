package pack

import (
	"slices"

	"railyard/model/topology"
)

// Hops are what transfers between vertices take of what they share.
type Hops struct {
	n, resources int
	hops         [][]taken // by pair u·n+v; nil: none
}

func (h *Hops) hop(u, v int32) []taken { return h.hops[int(u)*h.n+int(v)] }

// LinkHops are those over links that share nothing, given their rates in bytes/s by both ends; 0: none.
func LinkHops(rates [][]float64) *Hops {
	n := len(rates)
	h := &Hops{n: n, hops: make([][]taken, n*n)}
	for u, row := range rates {
		for v, rate := range row {
			if rate > 0 {
				h.hops[u*n+v] = []taken{{int32(h.resources), 1 / rate}}
				h.resources++
			}
		}
	}
	return h
}

// RouteHops are those of a topology's routes, over the links that FromTopology counts.
func RouteHops(t *topology.Topology) (*Hops, error) {
	g, err := FromTopology(t)
	if err != nil {
		return nil, err
	}
	s := newSearch(g, AllGather, 0, Options{}, Result{})
	if err := s.transfers(); err != nil {
		return nil, err
	}
	var list []transfer
	for u := range int32(g.Ranks) {
		for v := range int32(g.Ranks) {
			if pieces, err := s.routes.of(u, v); err == nil && u != v { // else only through others
				list = append(list, transfer{u, v, pieces})
			}
		}
	}
	return s.ofTransfers(list), nil
}

// back are the hops as what goes the other way takes them.
func (h *Hops) back() *Hops {
	out := &Hops{n: h.n, resources: h.resources, hops: make([][]taken, len(h.hops))}
	for i, hop := range h.hops {
		out.hops[i%h.n*h.n+i/h.n] = hop
	}
	return out
}

// both are hops that take what goes both ways, where there are both.
func (h *Hops) both() *Hops {
	out := h.back()
	for i, hop := range h.hops {
		if back := out.hops[i]; back != nil && hop != nil {
			out.hops[i] = slices.Concat(hop, back)
		} else {
			out.hops[i] = nil
		}
	}
	return out
}

// ofTransfers has the hops of transfers.
func (s *search) ofTransfers(list []transfer) *Hops {
	h := &Hops{n: s.g.Ranks, hops: make([][]taken, s.g.Ranks*s.g.Ranks)}
	for i, takes := range s.condense(list) {
		h.hops[int(list[i].u)*h.n+int(list[i].v)] = takes
		for _, t := range takes {
			h.resources = max(h.resources, int(t.resource)+1)
		}
	}
	return h
}

// Direct is how long the fullest resource works where every pair's data take the one hop between them, in seconds for a
// byte of demand 1; 0 where some pair has none.
func (h *Hops) Direct(demand [][]float64) float64 {
	load := make([]float64, h.resources)
	most := 0.0
	for u, row := range demand {
		for v, d := range row {
			hop := h.hop(int32(u), int32(v))
			if d > 0 && hop == nil {
				return 0
			}
			for _, t := range hop {
				load[t.resource] += d * t.time
				most = max(most, load[t.resource])
			}
		}
	}
	return most
}

// settledWork is how many hops are looked at in a round of paths, at most: some 50 ms.
const settledWork = 1 << 24

// Paths finds a path for each of so many units of every pair's data so that the fullest resource works as shortly as can be
// found: by source, unit and destination, the vertex before each on paths from there. Demand is by ranks, which come first among
// vertices. Short ones have as few hops as they can have while nothing becomes fuller. Where there are many pairs, those of a
// source find their paths in groups.
func (h *Hops) Paths(demand [][]float64, units int, short bool) ([][][]int32, error) {
	pairs := 0
	for _, row := range demand {
		for _, d := range row {
			if d > 0 {
				pairs++
			}
		}
	}
	together := 1 + pairs*units*h.n*h.n/settledWork
	out := make([][][]int32, len(demand)*units)
	var roots []int32
	var parts [][]float64
	var at [][]int // by unit: source's unit, then destinations
	for u := range units {
		for src, row := range demand {
			out[src*units+u] = make([][]int32, len(demand))
			for _, group := range groups(row, together) {
				part := make([]float64, len(row))
				for _, dst := range group {
					part[dst] = row[dst]
				}
				roots, parts, at = append(roots, int32(src)), append(parts, part), append(at, append([]int{src*units + u}, group...))
			}
		}
	}
	x := newSettling(h, roots, parts)
	if err := x.settle(0); err != nil {
		return nil, err
	}
	if short {
		x.shorten()
	}
	for i, parent := range x.trees {
		for _, dst := range at[i][1:] {
			out[at[i][0]][dst] = parent
		}
	}
	return out, nil
}

// groups are the ranks that there is something for, so many together, far apart from one another.
func groups(row []float64, together int) (out [][]int) {
	var all []int
	for v, d := range row {
		if d > 0 {
			all = append(all, v)
		}
	}
	count := (len(all) + together - 1) / together
	for k := range count {
		var group []int
		for i := k; i < len(all); i += count {
			group = append(group, all[i])
		}
		out = append(out, group)
	}
	return out
}
