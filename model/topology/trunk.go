package topology

import (
	"slices"

	"railyard/model/units"
)

// Trunk is the way between two leaves of a network, spread over the switches in between.
// All routes between the two have it in common: with three levels of switches that is
// thousands of hops, which need not be kept for each of them.
type Trunk struct {
	Hops   []Hop // in order of distance from the source's leaf; not to be changed
	Number int   // another one for each that a router finds, also where it finds one again

	rest path // without the hops
	rate units.Rate
}

// Ends is Route with the trunk apart, where it has one: Hops has those before and after
// it, all else is that of the whole route. Routes of one router with the same trunk
// have the same pointer, as long as it is kept. Routes over several NICs, and those of networks
// that hash, are whole.
func (r *Router) Ends(src, dst int) (Route, *Trunk, error) {
	route, err := r.inParts(src, dst, flows{0, 1})
	return route.Route, route.trunk, err
}

// parted is a route, the hops of its trunk apart.
type parted struct {
	Route
	trunk *Trunk // belongs at index at of the hops; nil: none
	at    int
}

// finishNet computes what a transfer over a path through the network gets.
func (r *Router) finishNet(p path) parted {
	out := parted{r.finish(p, Net), p.trunk, p.at}
	out.Medium = Network
	if p.trunk != nil {
		out.Rate = min(out.Rate, p.trunk.rate)
	}
	return out
}

// whole is the route with its trunk in its place.
func (x *parted) whole() Route {
	out := x.Route
	out.Hops = x.trunk.between(x.Hops, x.at)
	return out
}

// between puts the trunk's hops, if there is one, before one of others.
func (t *Trunk) between(hops []Hop, at int) []Hop {
	if t == nil {
		return hops
	}
	return slices.Concat(hops[:at], t.Hops, hops[at:])
}

// between is the path from one leaf to another: a trunk, unless flows are hashed to their
// own parts of it.
func (r *Router) between(first, last DeviceID, inFabric func(DeviceID) bool) (path, bool) {
	if first == last {
		return path{}, true
	}
	t, ok := r.trunks.find(first, last, func() (*Trunk, int, bool) {
		p, found := r.spread.find(first, last, inFabric)
		r.found++
		t := &Trunk{Hops: p.hops, Number: r.found, rate: r.finish(p, Net).Rate, rest: p}
		t.rest.hops = nil
		return t, len(t.Hops), found
	})
	if !ok {
		return path{}, false
	}
	p := t.rest
	if r.ecmp {
		p.hops = t.Hops
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
