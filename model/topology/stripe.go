package topology

import (
	"fmt"
	"math"
)

// Stripe is a part of a transfer that goes over certain scale-up switches, from one to the next.
type Stripe struct {
	Over   [][]DeviceID // the switches that it is spread over, then those behind them; none: over direct links
	Weight int64        // relative to the other stripes of the transfer
}

// Striped is the route of a transfer that is divided among scale-up switches as stripes say, instead of evenly over all that the
// two ranks have in common. It fails where the switches of a stripe do not join the two.
func (r *Router) Striped(src, dst int, stripes []Stripe) (Route, error) {
	a, b := r.t.ranks[src], r.t.ranks[dst]
	var total int64
	for _, s := range stripes {
		total += s.Weight
	}
	all, kind := path{}, Direct
	for _, s := range stripes {
		p, ok := r.spread.along(a, b, s.Over)
		if !ok {
			return Route{}, fmt.Errorf("the switches that a plan names do not join %s and %s: it is for another topology, or for one that "+
				"has lost less (make the plan again)", r.t.DeviceName(a), r.t.DeviceName(b))
		}
		for _, h := range p.hops {
			x := share{h.Num, h.Den}.times(s.Weight, total)
			all.hops = append(all.hops, Hop{h.Link, x.num, x.den, h.Lane})
		}
		all.latency, all.links = all.latency.slower(p.latency), all.links+p.links
		if len(s.Over) > 0 {
			kind = Switched
		}
	}
	return r.finish(all, kind), nil
}

// along spreads a transfer over switches, in proportion to what can go on behind the links, as findFitting does.
func (s *spreader) along(src, dst DeviceID, over [][]DeviceID) (path, bool) {
	if s.now++; s.now == math.MaxUint32 {
		clear(s.stamp)
		s.now = 1
	}
	mark := func(d DeviceID, at int) { s.stamp[d], s.dist[d] = s.now, int32(at) }
	mark(dst, 0)
	for i, level := range over {
		for _, d := range level {
			mark(d, len(over)-i)
		}
	}
	mark(src, len(over)+1)
	through := s.through(dst)
	total := int64(0)
	for _, l := range s.onward(src, int32(len(over))) {
		total += through(l)
	}
	if total == 0 {
		return path{}, false
	}
	return s.split(src, dst, through), true
}
