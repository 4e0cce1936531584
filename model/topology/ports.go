package topology

import (
	"fmt"
	"slices"
	"strings"
)

// ports are a rank's links to scale-up switches and from these.
type ports struct {
	out, in []LinkID
	like    DeviceID // the first rank that was asked for with as fast links to the same switches, in the same order
}

// portsOf are those of a rank. One with links to other ranks is like no other.
func (r *Router) portsOf(d DeviceID) *ports {
	if p, ok := r.ports[d]; ok {
		return p
	}
	p := &ports{like: d}
	r.ports[d] = p
	var key strings.Builder
	list := func(links []LinkID, end func(Link) DeviceID) (out []LinkID, direct bool) {
		for _, l := range links {
			switch link := r.t.links[l]; {
			case r.t.RankOf(end(link)) >= 0:
				direct = true
			case r.t.devices[end(link)].Kind == NVSwitch:
				out = append(out, l)
				fmt.Fprint(&key, end(link), " ", link.Class, " ", link.Count, ",")
			}
		}
		key.WriteByte(';')
		return out, direct
	}
	var sends, receives bool
	p.out, sends = list(r.t.Out(d), func(l Link) DeviceID { return l.To })
	p.in, receives = list(r.t.In(d), func(l Link) DeviceID { return l.From })
	if sends || receives {
		return p
	}
	if first, ok := r.first[key.String()]; ok {
		p.like = first
	} else {
		r.first[key.String()] = d
	}
	return p
}

// overSwitches is the path from a rank to another through scale-up switches between nodes. Ranks with as fast links to the same switches
// have the same paths but for these links.
func (r *Router) overSwitches(a, b DeviceID) (path, bool) {
	p, of, ok := r.alikeOverSwitches(a, b)
	src, dst, from, to := r.ports[a], r.ports[b], of[0], of[1]
	if r.passes {
		r.passed = append(r.passed[:0], p.hops...)
		p.hops = r.passed
	} else {
		p.hops = slices.Clone(p.hops)
	}
	for i := range p.hops {
		h := &p.hops[i]
		switch l := &r.t.links[h.Link]; {
		case l.From == from && from != a:
			h.Link = src.out[slices.Index(r.ports[from].out, h.Link)]
		case l.To == to && to != b:
			h.Link = dst.in[slices.Index(r.ports[to].in, h.Link)]
		}
	}
	return p, ok
}

// alikeOverSwitches is that path of two ranks that are like others, looked for once for all pairs of these.
func (r *Router) alikeOverSwitches(a, b DeviceID) (p path, of [2]DeviceID, ok bool) {
	from, to := r.portsOf(a).like, r.portsOf(b).like
	if from == to { // two that are alike stand for all pairs of these
		if _, ok := r.alike[from]; !ok {
			r.alike[from] = [2]DeviceID{a, b}
		}
		from, to = r.alike[from][0], r.alike[from][1]
	}
	p, ok = r.scaled.find(from, to, func() (path, int, bool) {
		p, ok := r.spread.findFitting(from, to, func(d DeviceID) bool { return r.t.devices[d].Kind == NVSwitch })
		return p, len(p.hops), ok
	})
	return p, [2]DeviceID{from, to}, ok
}
