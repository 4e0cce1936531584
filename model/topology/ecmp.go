package topology

// NewECMPRouter makes a router for networks that do not spread a transfer over all equal
// paths but hash: at the NIC and at every switch, a flow takes one of the links of
// medium network that lead on over a shortest path, parallel ones counted one by one,
// whatever their rates (RFC 2991's modulo-N hash; NVLink switches still spread). Which
// one depends on the seed, the two ranks, their NICs and the flow's label alone. Two
// flows collide where their routes have a hop with the same link and lane.
func NewECMPRouter(t *Topology, seed uint64) *Router {
	r := NewRouter(t)
	r.ecmp, r.seed = true, seed
	return r
}

// Seeded is the router of another seed. The two share what they know, so that they are not
// safe for concurrent use together.
func (r *Router) Seeded(seed uint64) *Router {
	out := *r
	out.seed = seed
	return &out
}

// flows are those that a transfer is split over evenly (queue pairs), labelled one after the other.
type flows struct{ first, count int }

// RouteQPs is the route of a transfer that is split evenly over so many flows (queue
// pairs), labelled 0, 1, …, each of which is hashed on its own.
func (r *Router) RouteQPs(src, dst, qps int) (Route, error) {
	return r.inParts(src, dst, flows{0, qps})
}

// hashed sends each of the flows that the path spreads from src its own way; over is what else than ranks and labels tells them
// from others.
func (r *Router) hashed(p path, src DeviceID, over ...uint64) path {
	if !r.ecmp || len(p.hops) == 0 {
		return p
	}
	all := path{via: p.via}
	for label := range r.flows.count {
		one := r.hashedFlow(p, src, mix(mix(r.pair, uint64(r.flows.first+label)), over...))
		links := max(all.links, one.links)
		all.add(one, 1, int64(r.flows.count))
		all.links = links
	}
	return all
}

// hashedFlow sends a flow over one network link at each device that has a choice of them. What goes over other links stays spread.
func (r *Router) hashedFlow(p path, src DeviceID, flow uint64) path {
	out := path{via: p.via}
	at := map[DeviceID]arrival{src: {share: share{1, 1}}}
	var last DeviceID
	for first, end := 0, 0; first < len(p.hops); first = end {
		u := r.t.links[p.hops[first].Link].From
		for end = first + 1; end < len(p.hops) && r.t.links[p.hops[end].Link].From == u; {
			end++
		}
		here, reached := at[u]
		if !reached {
			continue
		}
		for _, h := range r.choose(p.hops[first:end], mix(flow, uint64(u))) {
			l := &r.t.links[h.Link]
			s := here.share.times(h.Num, h.Den)
			at[l.To] = at[l.To].and(s, here.latency.then(r.t.Class(h.Link).delay()))
			last = l.To
			out.hops = append(out.hops, Hop{h.Link, s.num, s.den, h.Lane})
			switch {
			case u != src:
			case h.Lane > 0:
				out.links++
			default:
				out.links += int(l.Count)
			}
		}
	}
	out.latency = at[last].latency
	return out
}

// choose replaces, among the hops out of one device, those over network links by one of
// them; shares are then those of what arrives at the device.
func (r *Router) choose(hops []Hop, hash uint64) []Hop {
	var total, network, lanes int64
	for _, h := range hops {
		rate := int64(r.t.Rate(h.Link))
		total += rate
		if r.t.Class(h.Link).Medium == Network {
			network += rate
			lanes += int64(r.t.links[h.Link].Count)
		}
	}
	var out []Hop
	lane := int64(0)
	if lanes > 1 {
		lane = int64(hash % uint64(lanes))
	}
	for _, h := range hops {
		if r.t.Class(h.Link).Medium != Network {
			s := share{1, 1}.times(int64(r.t.Rate(h.Link)), total)
			out = append(out, Hop{Link: h.Link, Num: s.num, Den: s.den})
			continue
		}
		count := int64(r.t.links[h.Link].Count)
		if lane >= 0 && lane < count {
			s := share{1, 1}.times(network, total)
			out = append(out, Hop{h.Link, s.num, s.den, int32(lane) + 1})
		}
		lane -= count
	}
	return out
}

// mix hashes values one after the other (the finalizer of SplitMix64, Steele et al. 2014).
func mix(h uint64, values ...uint64) uint64 {
	for _, v := range values {
		h = (h ^ v) + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
