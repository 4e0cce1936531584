package topology

import (
	"cmp"
	"math"
	"slices"
)

// net goes from the source's NICs through the network to the destination's. The k-th
// NIC of one side talks to the k-th of the other, each with an equal share.
func (r *Router) net(a, b DeviceID) (Route, bool) {
	from, to := r.nicsOf(a), r.nicsOf(b)
	if len(from) == 0 || len(to) == 0 {
		return Route{}, false
	}
	n := max(len(from), len(to))
	var all path
	var nics []DeviceID
	for k := range n {
		p, ok := r.throughNICs(a, b, from[k%len(from)], to[k%len(to)])
		if !ok {
			return r.netByOtherNIC(a, b)
		}
		if n == 1 {
			all = p // with its trunk, which several do not have in common
		} else {
			all.add(p, 1, int64(n))
		}
		nics = append(nics, from[k%len(from)], to[k%len(to)])
	}
	out := r.finishNet(all)
	out.NICs = nics
	return out, true
}

// add adds a path for a part of the transfer, weight of total, that goes beside the others.
func (p *path) add(o path, weight, total int64) {
	if len(p.hops) == 0 { // the first
		p.latency = o.latency
	}
	p.latency, p.links = p.latency.slower(o.latency), p.links+o.links
	for _, h := range o.trunk.between(o.hops, o.at) {
		s := share{h.Num, h.Den}.times(weight, total)
		p.hops = append(p.hops, Hop{h.Link, s.num, s.den, h.Lane})
	}
}

// netByOtherNIC is for fabrics without a way between rails (rail-only): the source
// uses the NIC of its node that is on the destination's rail. Where NICs or links have
// failed, the destination may have to use another NIC as well.
func (r *Router) netByOtherNIC(a, b DeviceID) (Route, bool) {
	from, to := r.nicsOf(a), r.nicsOf(b)
	all := [2][]DeviceID{r.ofNode(a, NIC), r.ofNode(b, NIC)}
	for _, choice := range [][2][]DeviceID{{all[0], to}, {from, all[1]}, all} {
		for _, t := range choice[1] {
			for _, f := range choice[0] {
				if p, ok := r.throughNICs(a, b, f, t); ok {
					out := r.finishNet(p)
					out.NICs = []DeviceID{f, t}
					return out, true
				}
			}
		}
	}
	return Route{}, false
}

// ofNode are the devices of a kind of a device's node.
func (r *Router) ofNode(d DeviceID, kind Kind) (out []DeviceID) {
	first := r.t.nodes[r.t.devices[d].Node].firstDevice
	for local, x := range r.shapeOf(d).devices {
		if x.Kind == kind {
			out = append(out, first+DeviceID(local))
		}
	}
	return out
}

func (r *Router) shapeOf(d DeviceID) *shape {
	return r.t.shapes[r.t.nodes[r.t.devices[d].Node].shape]
}

func (r *Router) nicsOf(d DeviceID) []DeviceID {
	local := r.t.described(d).nics
	out := make([]DeviceID, len(local))
	for i, l := range local {
		out[i] = r.t.nodes[r.t.devices[d].Node].firstDevice + DeviceID(l)
	}
	return out
}

// throughNICs is gpu → NIC → network → NIC → gpu.
func (r *Router) throughNICs(a, b, from, to DeviceID) (path, bool) {
	up, ok := r.wayToNIC(a, from)
	if !ok {
		return path{}, false
	}
	across, ok := r.across(from, to)
	if !ok {
		return path{}, false
	}
	down, ok := r.wayToNIC(to, b)
	if !ok {
		return path{}, false
	}
	return join(join(up, across), down), true
}

// across spreads a transfer over the network between two NICs. NICs that hang on one
// switch each share the switch-to-switch part with all NICs of those switches.
func (r *Router) across(from, to DeviceID) (path, bool) {
	p, ok := r.spreadAcross(from, to)
	return r.hashed(p, from, uint64(from), uint64(to)), ok
}

func (r *Router) spreadAcross(from, to DeviceID) (path, bool) {
	inFabric := func(d DeviceID) bool { return r.t.devices[d].Kind.fabricKind() && r.t.devices[d].Node < 0 }
	up := r.only(r.t.Out(from), func(l Link) bool { return inFabric(l.To) })
	down := r.only(r.t.In(to), func(l Link) bool { return inFabric(l.From) })
	if up == NoLink || down == NoLink {
		return r.spread.find(from, to, inFabric)
	}
	first, last := r.t.links[up].To, r.t.links[down].From
	middle, ok := r.between(first, last, inFabric)
	if !ok {
		return path{}, false
	}
	return join(join(r.single(up), middle), r.single(down)), true
}

func (r *Router) single(l LinkID) path {
	return path{hops: []Hop{{Link: l, Num: 1, Den: 1}}, latency: r.t.Class(l).delay(), links: int(r.t.links[l].Count)}
}

// only is the one link of a list that satisfies a condition; NoLink where there are
// several, or none.
func (r *Router) only(links []LinkID, want func(Link) bool) LinkID {
	found := NoLink
	for _, l := range links {
		if want(r.t.links[l]) {
			if found != NoLink {
				return NoLink
			}
			found = l
		}
	}
	return found
}

// Paths are the best route of every kind between two devices that hold ranks, best first: by kind, as the runtime would choose.
// What goes over no switch is not among the switched.
func (r *Router) Paths(a, b DeviceID) []Route {
	if a == b {
		return []Route{{Kind: Local, Rate: math.MaxInt64}}
	}
	r.pair, r.flows = mix(r.seed, uint64(a), uint64(b)), flows{0, 1}
	var out []Route
	add := func(route Route, ok bool) {
		if !ok {
			return
		}
		for _, have := range out {
			if have.Kind == route.Kind || route.Kind == Switched && slices.Equal(have.Hops, route.Hops) {
				return
			}
		}
		out = append(out, route)
	}
	add(r.direct(a, b))
	add(r.switched(a, b, false))
	if r.t.devices[a].Node == r.t.devices[b].Node {
		add(r.pcie(a, b))
		if r.t.devices[a].Kind == GPU {
			add(r.hostStaged(a, b))
		}
	}
	add(r.net(a, b))
	slices.SortStableFunc(out, func(x, y Route) int { return cmp.Compare(x.Kind, y.Kind) })
	return out
}
