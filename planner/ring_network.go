package planner

import (
	"math"

	"railyard/model/topology"
)

// networkRates are what rings get of the network where all run at once and each link is shared alike by all that cross it.
// So a ring over a slow or busy NIC takes less, and so do two that share what is left of a
// node's NICs. 0 where a ring does not use the network.
func (r *request) networkRates(orders [][]int32) []int64 {
	crossed, total := make([]map[topology.LinkID]float64, len(orders)), map[topology.LinkID]float64{}
	for i, o := range orders {
		crossed[i] = map[topology.LinkID]float64{}
		for j, a := range o {
			r.cross(int(a), int(o[(j+1)%len(o)]), func(l topology.LinkID, times float64) {
				crossed[i][l] += times
				total[l] += times
			})
		}
	}
	out := make([]int64, len(orders))
	for i := range orders {
		least := math.Inf(1)
		for l := range crossed[i] {
			least = min(least, float64(r.t.Rate(l))/total[l])
		}
		if !math.IsInf(least, 1) {
			out[i] = max(int64(math.Round(least/1e6))*1e6, 1)
		}
	}
	return out
}

// cross visits the links of the network on a hop between nodes, with how often its data cross them.
func (r *request) cross(from, to int, visit func(l topology.LinkID, times float64)) {
	if r.t.NodeOf(from) == r.t.NodeOf(to) {
		return
	}
	route, err := r.router.Route(from, to)
	if err != nil {
		return // routable says so
	}
	for _, h := range route.Hops {
		if r.t.Class(h.Link).Medium == topology.Network {
			visit(h.Link, float64(h.Num)/float64(h.Den))
		}
	}
}
