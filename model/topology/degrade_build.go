package topology

import "slices"

// build is the copy. Nodes that have lost something get a shape of their own.
func (x *degrader) build() *Topology {
	t := x.t
	x.out = &Topology{derived: new(derived), description: t.description, profile: t.profile, models: t.models, classes: x.classes.All,
		lone: t.lone, rack: t.rack, gdr: t.gdr}
	x.devices = slices.Repeat([]DeviceID{-1}, len(t.devices))
	x.findTouched()
	for n := range t.nodes {
		x.copyNode(n)
	}
	for d := t.firstSwitch(); int(d) < len(t.devices); d++ {
		if !x.lost[d] {
			x.devices[d] = DeviceID(len(x.out.devices))
			x.out.devices, x.out.rankOf = append(x.out.devices, t.devices[d]), append(x.out.rankOf, -1)
		}
	}
	x.out.links = x.copyLinks(x.out.links, t.firstFabricLink(), LinkID(len(t.links)), func(d DeviceID) DeviceID { return x.devices[d] })
	for i := range t.fabrics {
		x.copyFabric(&t.fabrics[i])
	}
	x.out.finish()
	return x.out
}

// linkRemoved reports whether nothing is left of a link.
func (x *degrader) linkRemoved(l LinkID) bool {
	p, changed := x.pieces[l]
	return changed && len(p) == 0 || x.lost[x.t.links[l].From] || x.lost[x.t.links[l].To]
}

// findTouched finds the nodes that may differ from their shape: those at which a device or
// a link has changed.
func (x *degrader) findTouched() {
	x.touched = make([]bool, len(x.t.nodes))
	for l, link := range x.t.links {
		if _, changed := x.pieces[LinkID(l)]; changed || x.lost[link.From] || x.lost[link.To] {
			for _, d := range []DeviceID{link.From, link.To} {
				if n := x.t.devices[d].Node; n >= 0 {
					x.touched[n] = true
				}
			}
		}
	}
	for d, lost := range x.lost { // those that have no links, too
		if n := x.t.devices[d].Node; (lost || x.staged[d]) && n >= 0 {
			x.touched[n] = true
		}
	}
}

// copyLinks appends what is left of links, whose ends get new numbers, −1 where they are lost.
func (x *degrader) copyLinks(to []Link, first, end LinkID, number func(DeviceID) DeviceID) []Link {
	to = slices.Grow(to, int(end-first))
	for l := first; l < end; l++ {
		link := x.t.links[l]
		link.From, link.To = number(link.From), number(link.To)
		if link.From < 0 || link.To < 0 {
			continue
		}
		pieces, changed := x.pieces[l]
		if !changed {
			to = append(to, link)
		}
		for _, p := range pieces {
			to = append(to, Link{link.From, link.To, p.class, p.count})
		}
	}
	return to
}

// copyNode copies a node, or drops what is left of one whose ranks are all lost: nothing
// can use it.
func (x *degrader) copyNode(n int) {
	t, o := x.t, x.out
	node := t.nodes[n]
	shape := t.shapes[node.shape]
	first, end := x.t.span(n)
	used := 0
	for _, local := range shape.ranks[:node.ranks] {
		if d := node.firstDevice + DeviceID(local); !x.lost[d] {
			used++
			o.original = append(o.original, int32(t.OriginalRank(int(t.rankOf[d]))))
		}
	}
	if used == 0 {
		for d := first; d < end; d++ {
			x.lost[d] = true
		}
		return
	}
	at := DeviceID(len(o.devices))
	for d := first; d < end; d++ {
		if !x.lost[d] {
			x.devices[d] = at
			at++
		}
	}
	if x.touched[n] {
		shape = x.shapeLeft(n)
	}
	i := slices.IndexFunc(o.shapes, shape.equal) // nodes that earlier faults have made alike share one
	if i < 0 {
		i = len(o.shapes)
		o.shapes = append(o.shapes, shape)
	}
	x.oldNode = append(x.oldNode, int32(n))
	o.addNode(node.name, int32(i), used)
}

func (s *shape) equal(o *shape) bool {
	return s == o || s.template == o.template && slices.Equal(s.links, o.links) &&
		slices.EqualFunc(s.devices, o.devices, func(a, b shapeDevice) bool { return a.equal(&b) })
}

// copyFabric copies what is known of a fabric: its switches, and which nodes they group.
func (x *degrader) copyFabric(f *fabricInfo) {
	copied := fabricInfo{prefix: f.prefix, spec: f.spec, levels: f.levels, firstDevice: -1}
	for i := range f.devices {
		n := x.devices[f.firstDevice+DeviceID(i)]
		if n < 0 {
			continue
		}
		if copied.devices == 0 {
			copied.firstDevice = n
		}
		copied.devices++
		if i < len(f.switchUnit) {
			copied.switchUnit = append(copied.switchUnit, f.switchUnit[i])
		}
	}
	for _, n := range x.oldNode {
		unit := f.nodeUnit[n]
		if x.touched[n] {
			unit = x.unitLeft(f, int(n), unit)
		}
		copied.nodeUnit = append(copied.nodeUnit, unit)
	}
	x.out.fabrics = append(x.out.fabrics, copied)
}

// unitLeft is the group that a node's first endpoint with a link left joins.
func (x *degrader) unitLeft(f *fabricInfo, n int, unit int32) int32 {
	first, end := x.t.span(n)
	for d := first; d < end; d++ {
		for _, l := range x.t.Out(d) {
			if i := int(x.t.links[l].To - f.firstDevice); i >= 0 && i < len(f.switchUnit) && !x.linkRemoved(l) {
				return f.switchUnit[i]
			}
		}
	}
	return unit
}
