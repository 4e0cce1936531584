package pack

import (
	"fmt"
	"slices"

	"railyard/model/topology"
)

// network adds the fabrics' switches and each rank's way to its adapters: the links that
// its routes to and from a rank of another node use.
func (b *builder) network() {
	b.join(func(l topology.Link, m topology.Medium) bool {
		end := func(d topology.DeviceID) bool { return b.isRank(d) || b.t.Devices()[d].Kind.NetworkSwitch() }
		return m == topology.Network && end(l.From) && end(l.To)
	})
	router := topology.NewRouter(b.t)
	for r := range b.t.Ranks() {
		q := b.partner(r)
		if q < 0 {
			continue
		}
		for _, pair := range [2][2]int{{r, q}, {q, r}} {
			if route, err := router.Route(pair[0], pair[1]); err == nil && len(route.NICs) > 0 { // else only through other ranks
				b.adapters(route)
			}
		}
	}
	used := map[topology.LinkID]bool{} // each link once for each copy of its ends
	for _, p := range b.vertex.All {
		if b.t.Devices()[p.device].Kind != topology.NIC {
			continue
		}
		links := b.t.Out(p.device)
		if p.side == inward {
			links = b.t.In(p.device)
		}
		for _, l := range links {
			other := b.t.Links()[l].To
			if p.side == inward {
				other = b.t.Links()[l].From
			}
			if b.t.Devices()[other].Kind.NetworkSwitch() {
				used[l] = true
			}
		}
	}
	for i := range b.t.Links() { // in order, so that the graph is always the same
		if l := topology.LinkID(i); used[l] {
			from, to := place{device: b.t.Links()[l].From}, place{device: b.t.Links()[l].To}
			if b.t.Devices()[from.device].Kind == topology.NIC {
				from.side = outward
			} else {
				to.side = inward
			}
			b.add(l, from, to)
		}
	}
}

// partner is a rank that r reaches only over the network, at best the one at the same
// place in the next node; −1 where there is none.
func (b *builder) partner(r int) int {
	ranks, n := b.t.Ranks(), b.t.NumRanks()
	local := b.t.Devices()[ranks[r]].Local
	node := b.t.NodeOf(r)
	near := -1
	for i := 1; i < n; i++ {
		q := (r + i) % n
		if b.t.NodeOf(q) == node || b.island[ranks[q]] == b.island[ranks[r]] {
			continue
		}
		if b.t.Devices()[ranks[q]].Local == local {
			return q
		}
		if near < 0 {
			near = q
		} else if b.t.NodeOf(q) != b.t.NodeOf(near) {
			break
		}
	}
	return near
}

// adapters adds the links of a route over the network that lie inside nodes.
func (b *builder) adapters(route topology.Route) {
	links := b.t.Links()
	var out, in []topology.DeviceID
	for i, nic := range route.NICs {
		if i%2 == 0 {
			out = append(out, nic)
		} else {
			in = append(in, nic)
		}
	}
	groupOut, groupIn := groupName(out), groupName(in)
	for _, h := range route.Hops {
		l := links[h.Link]
		from, to := b.t.Devices()[l.From], b.t.Devices()[l.To]
		if from.Node < 0 || from.Node != to.Node {
			continue
		}
		s, group := outward, groupOut
		if from.Node != b.t.Devices()[out[0]].Node {
			s, group = inward, groupIn
		}
		b.addOnce(h.Link, b.copyOf(l.From, s, group), b.copyOf(l.To, s, group))
	}
}

// copyOf is a device's vertex on the way to adapters, or from them.
func (b *builder) copyOf(d topology.DeviceID, s side, group string) place {
	switch dev := b.t.Devices()[d]; {
	case b.isRank(d), isHost(dev.Kind) && b.host[dev.Node]:
		return place{device: d}
	case dev.Kind == topology.NIC:
		return place{device: d, side: s}
	}
	return place{device: d, side: s, group: group}
}

func groupName(nics []topology.DeviceID) string {
	list := slices.Clone(nics)
	slices.Sort(list)
	return fmt.Sprint(slices.Compact(list))
}
