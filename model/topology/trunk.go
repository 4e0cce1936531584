package topology

import (
	"slices"

	"railyard/model/units"
)

// trunk is the way between two leaves of a network, spread over the switches in between.
// All routes between the two have it in common: with three levels of switches that is
// thousands of hops, which need not be found and merged again for each of them.
type trunk struct {
	hops []Hop // in order of distance from the source's leaf; not to be changed
	rest path  // without the hops
	rate units.Rate
}

// finishNet computes what a transfer over a path through the network gets.
func (r *Router) finishNet(p path) Route {
	out := r.finish(p, Net)
	out.Medium = Network
	if p.trunk != nil {
		out.Rate = min(out.Rate, p.trunk.rate)
	}
	out.Hops = p.trunk.between(out.Hops, p.at)
	return out
}

// between puts the trunk's hops, if there is one, before one of others.
func (t *trunk) between(hops []Hop, at int) []Hop {
	if t == nil {
		return hops
	}
	return slices.Concat(hops[:at], t.hops, hops[at:])
}

// between is the path from one leaf to another: a trunk, unless flows are hashed to their
// own parts of it.
func (r *Router) between(first, last DeviceID, inFabric func(DeviceID) bool) (path, bool) {
	if first == last {
		return path{}, true
	}
	t, ok := r.trunks.find(first, last, func() (*trunk, int, bool) {
		p, found := r.spread.find(first, last, inFabric)
		t := &trunk{hops: p.hops, rate: r.finish(p, Net).Rate, rest: p}
		t.rest.hops = nil
		return t, len(t.hops), found
	})
	if !ok {
		return path{}, false
	}
	p := t.rest
	if r.ecmp {
		p.hops = t.hops
	} else {
		p.trunk = t
	}
	return p, true
}

// routeCache are ways between two devices that are asked for again and again: a rack's ranks talk
// to all others in every schedule.
type routeCache[T any] struct {
	known map[[2]DeviceID]T
	hops  int // in all of them
	most  int // beyond (32 to 40 bytes each), it begins anew
}

// find returns what is known or what search finds, with the hops that this has.
func (c *routeCache[T]) find(a, b DeviceID, search func() (T, int, bool)) (T, bool) {
	key := [2]DeviceID{a, b}
	x, ok := c.known[key]
	if ok {
		return x, true
	}
	x, hops, ok := search()
	if !ok {
		return x, false
	}
	if c.hops += hops; c.known == nil || c.hops > c.most {
		c.known, c.hops = map[[2]DeviceID]T{}, hops
	}
	c.known[key] = x
	return x, true
}
