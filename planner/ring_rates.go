package planner

import (
	"maps"
	"math"
	"slices"

	"railyard/model/topology"
)

// ringRates are what rings get where all run at once, max-min fair: of the rings that share the fullest link each gets the
// same, then those of the next one. So a ring over a slow or busy link or NIC takes less, and so do two that share what is left
// of a node's NICs.
func (r *request) ringRates(orders [][]int32) []int64 {
	crossed, left := make([]map[topology.LinkID]float64, len(orders)), map[topology.LinkID]float64{} // times; bytes per second
	for i, o := range orders {
		crossed[i] = map[topology.LinkID]float64{}
		for j, a := range o {
			r.cross(int(a), int(o[(j+1)%len(o)]), func(l topology.LinkID, times float64) {
				crossed[i][l] += times
				left[l] = float64(r.t.Rate(l))
			})
		}
	}
	out := make([]int64, len(orders))
	for links := slices.Sorted(maps.Keys(left)); ; {
		least, fullest := math.Inf(1), topology.NoLink
		for _, l := range links {
			waiting := 0.0
			for i := range orders {
				if out[i] == 0 {
					waiting += crossed[i][l]
				}
			}
			if waiting > 0 && left[l]/waiting < least {
				least, fullest = left[l]/waiting, l
			}
		}
		if fullest == topology.NoLink {
			return out
		}
		for i := range orders {
			if out[i] > 0 || crossed[i][fullest] == 0 {
				continue
			}
			out[i] = max(int64(math.Round(least/1e6))*1e6, 1)
			for l, times := range crossed[i] {
				left[l] = max(0, left[l]-least*times)
			}
		}
	}
}

// cross visits the links on a hop, with how often its data cross them.
func (r *request) cross(from, to int, visit func(l topology.LinkID, times float64)) {
	route, err := r.router.Route(from, to)
	if err != nil {
		return // routable says so
	}
	for _, h := range route.Hops {
		visit(h.Link, float64(h.Num)/float64(h.Den))
	}
}
