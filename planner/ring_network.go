package planner

import (
	"math"
	"slices"

	"railyard/model/topology"
)

// networkRates are what rings get of the network where all run at once, max-min fair: of
// the rings that share the fullest link each gets the same, then those of the next one.
// So a ring over a slow or busy NIC takes less, and so do two that share what is left of a
// node's NICs. 0 where a ring does not use the network.
func (r *request) networkRates(orders [][]int32) []int64 {
	f := ringFlows{use: map[topology.LinkID][]float64{}, rates: make([]int64, len(orders))}
	for i, o := range orders {
		for j, a := range o {
			f.cross(r, i, len(orders), int(a), int(o[(j+1)%len(o)]))
		}
	}
	f.left = make(map[topology.LinkID]float64, len(f.use))
	for l := range f.use {
		f.links = append(f.links, l)
		f.left[l] = float64(r.t.Rate(l))
	}
	slices.Sort(f.links)
	for f.fill() {
	}
	return f.rates
}

// ringFlows are rings as flows over links.
type ringFlows struct {
	use   map[topology.LinkID][]float64 // by ring: how often its data crosses
	links []topology.LinkID
	left  map[topology.LinkID]float64 // bytes per second
	rates []int64                     // 0: not known yet
}

// cross adds a hop of a ring.
func (f *ringFlows) cross(r *request, ring, rings, from, to int) {
	if r.t.NodeOf(from) == r.t.NodeOf(to) {
		return
	}
	route, err := r.router.Route(from, to)
	if err != nil {
		return // routable says so
	}
	for _, h := range route.Hops {
		if r.t.Class(h.Link).Medium != topology.Network {
			continue
		}
		if f.use[h.Link] == nil {
			f.use[h.Link] = make([]float64, rings)
		}
		f.use[h.Link][ring] += float64(h.Num) / float64(h.Den)
	}
}

// fill gives the rings of the fullest link their rate; false where no link is left.
func (f *ringFlows) fill() bool {
	least, at := math.Inf(1), topology.NoLink
	for _, l := range f.links {
		if n := f.waiting(l); n > 0 && f.left[l]/n < least {
			least, at = f.left[l]/n, l
		}
	}
	if at == topology.NoLink {
		return false
	}
	for i, n := range f.use[at] {
		if n == 0 || f.rates[i] != 0 {
			continue
		}
		f.rates[i] = max(int64(math.Round(least/1e6))*1e6, 1)
		for _, l := range f.links {
			f.left[l] = max(0, f.left[l]-least*f.use[l][i])
		}
	}
	return true
}

// waiting is how often rings without a rate cross a link.
func (f *ringFlows) waiting(l topology.LinkID) float64 {
	sum := 0.0
	for i, n := range f.use[l] {
		if f.rates[i] == 0 {
			sum += n
		}
	}
	return sum
}
