package topology

import (
	"fmt"
	"slices"
)

// Stripe is a part of a transfer that goes over certain scale-up switches and no others.
type Stripe struct {
	Over   []DeviceID // the switches, on the shortest way over which it is spread; none: over direct links
	Weight int64      // relative to the other stripes of the transfer
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
		p, ok := r.spread.findFitting(a, b, func(d DeviceID) bool { return slices.Contains(s.Over, d) })
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
