package topology

import (
	"fmt"
)

// Stripe is a part of a transfer that goes over certain scale-up switches, from one to the next, or through certain adapters, or over
// PCIe, although there are faster links.
type Stripe struct {
	// the switches that it is spread over, then those behind them, or the two adapters, or what PCIe leads over; none: over direct links
	Over   [][]DeviceID
	Weight int64 // relative to the other stripes of the transfer
}

// Striped is the route of a transfer that is divided among scale-up switches, or pairs of adapters, as stripes say, instead of evenly
// over all that the two ranks have in common, or through their own adapters. It fails where the devices of a stripe do not join the two.
func (r *Router) Striped(src, dst int, stripes []Stripe) (Route, error) {
	a, b := r.t.ranks[src], r.t.ranks[dst]
	var total int64
	for _, s := range stripes {
		total += s.Weight
	}
	all, kind := path{}, Direct
	var nics []DeviceID
	for _, s := range stripes {
		p, ok := path{}, false
		switch over := s.first(r.t); {
		case over == NIC && len(s.Over) > 1:
			p, ok = r.throughNICs(a, b, s.Over[0][0], s.Over[1][0])
			kind, nics = Net, append(nics, s.Over[0][0], s.Over[1][0])
		default:
			p, ok = r.spread.along(a, b, s.Over)
			switch {
			case ok && isHostPath(over):
				if kind = r.pcieKind(p); kind == HostStaged {
					p.latency = p.latency.staged()
				}
			case len(s.Over) > 0:
				kind = max(kind, Switched)
			}
		}
		if !ok {
			return Route{}, fmt.Errorf("the switches or adapters that a plan names do not join %s and %s: it is for another topology, "+
				"or for one that has lost less (make the plan again)", r.t.DeviceName(a), r.t.DeviceName(b))
		}
		all.add(p, s.Weight, total)
	}
	out := r.finish(all, kind)
	if out.NICs = nics; kind == Net {
		out.Medium = Network
	}
	return out, nil
}

// first is the kind of the first device of a stripe; GPU where there is none.
func (s *Stripe) first(t *Topology) Kind {
	if len(s.Over) == 0 || len(s.Over[0]) == 0 {
		return GPU
	}
	return t.devices[s.Over[0][0]].Kind
}

// along spreads a transfer over switches, in proportion to what can go on behind the links, as findFitting does.
func (s *spreader) along(src, dst DeviceID, over [][]DeviceID) (path, bool) {
	s.forget()
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
