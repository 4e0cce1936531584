package topology

import (
	"slices"
)

func (x *degrader) build() *Topology {
	t := x.t
	x.out = &Topology{derived: new(derived), description: t.description, profile: t.profile, models: t.models, classes: x.classes,
		lone: t.lone, rack: t.rack}
	x.dropEmptyNodes()
	x.copyDevices()
	x.findTouched()
	x.variant, x.shapes = map[string]int32{}, map[int32]int32{}
	for n := range t.nodes {
		if x.nodeLeft(n) {
			x.copyNode(n)
		}
	}
	first := LinkID(0) // of the fabrics
	if len(t.nodes) > 0 {
		last := t.nodes[len(t.nodes)-1]
		first = last.firstLink + LinkID(len(t.shapes[last.shape].links))
	}
	x.copyLinks(first, LinkID(len(t.links)))
	x.copyFabrics()
	o := x.out
	o.out = buildAdjacency(len(o.devices), o.links, func(l Link) DeviceID { return l.From })
	o.in = buildAdjacency(len(o.devices), o.links, func(l Link) DeviceID { return l.To })
	o.finishTiers()
	o.hash = o.computeHash()
	return o
}

// span are a node's devices in t, from the first to behind the last.
func (x *degrader) span(n int) (DeviceID, DeviceID) {
	node := &x.t.nodes[n]
	return node.firstDevice, node.firstDevice + DeviceID(len(x.t.shapes[node.shape].devices))
}

// dropEmptyNodes drops what is left of nodes whose ranks are all lost: nothing can use it.
func (x *degrader) dropEmptyNodes() {
	alive := make([]bool, len(x.t.nodes))
	for _, d := range x.t.ranks {
		if !x.lost[d] {
			alive[x.t.devices[d].Node] = true
		}
	}
	for n, ok := range alive {
		if first, end := x.span(n); !ok {
			for d := first; d < end; d++ {
				x.lost[d] = true
			}
		}
	}
}

func (x *degrader) nodeLeft(n int) bool {
	first, end := x.span(n)
	return slices.Contains(x.lost[first:end], false)
}

// copyDevices numbers the devices that are left, and their ranks.
func (x *degrader) copyDevices() {
	t, o := x.t, x.out
	x.number = make([]DeviceID, len(t.devices))
	o.devices, o.rankOf = make([]Device, 0, len(t.devices)), make([]int32, 0, len(t.devices))
	for i, d := range t.devices {
		x.number[i] = -1
		if x.lost[i] {
			continue
		}
		x.number[i] = DeviceID(len(o.devices))
		o.devices = append(o.devices, d)
		o.rankOf = append(o.rankOf, -1)
	}
	for r, d := range t.ranks {
		if n := x.number[d]; n >= 0 {
			o.rankOf[n] = int32(len(o.ranks))
			o.ranks = append(o.ranks, n)
			o.original = append(o.original, int32(t.OriginalRank(r)))
		}
	}
}

// findTouched finds the nodes that differ from their shape in the healthy machine: those
// that have lost devices, links, or the way of a NIC into its fabric.
func (x *degrader) findTouched() {
	t := x.t
	x.touched = make([]bool, len(t.nodes))
	touch := func(d DeviceID) {
		if n := t.devices[d].Node; n >= 0 {
			x.touched[n] = true
		}
	}
	for i, lost := range x.lost {
		if !lost {
			continue
		}
		touch(DeviceID(i))
		for _, l := range t.Out(DeviceID(i)) {
			touch(t.links[l].To)
		}
		for _, l := range t.In(DeviceID(i)) {
			touch(t.links[l].From)
		}
	}
	for l := range x.pieces {
		touch(t.links[l].From)
		touch(t.links[l].To)
	}
}

// copyLinks copies the links from first on that are left, and returns them.
func (x *degrader) copyLinks(first, end LinkID) []Link {
	o := x.out
	o.links = slices.Grow(o.links, int(end-first))
	start := len(o.links)
	for l := first; l < end; l++ {
		link := x.t.links[l]
		link.From, link.To = x.number[link.From], x.number[link.To]
		if link.From < 0 || link.To < 0 {
			continue
		}
		pieces, changed := x.pieces[l]
		if !changed {
			o.links = append(o.links, link)
		}
		for _, p := range pieces {
			o.links = append(o.links, Link{link.From, link.To, p.class, p.count})
		}
	}
	return o.links[start:]
}

// copyNode copies a node's links and gives it its shape.
func (x *degrader) copyNode(n int) {
	t, o := x.t, x.out
	node := t.nodes[n]
	s := t.shapes[node.shape]
	first, end := x.span(n)
	at := DeviceID(-1)
	for d := first; d < end && at < 0; d++ {
		at = x.number[d]
	}
	copied := node
	copied.firstDevice, copied.firstLink = at, LinkID(len(o.links))
	links := x.copyLinks(node.firstLink, node.firstLink+LinkID(len(s.links)))
	key := ""
	var usable []bool
	if x.touched[n] {
		usable = x.usableNICs(first, end)
		key = x.difference(n, usable)
	}
	if key == "" {
		copied.shape = x.sameShape(node.shape)
	} else if v, known := x.variant[key]; known {
		copied.shape = v
	} else {
		copied.shape = x.addShape(x.newShape(s, first, at, links, usable))
		x.variant[key] = copied.shape
	}
	copied.firstRank, copied.ranks = -1, 0
	local := int32(0)
	for d := first; d < end; d++ {
		if i := x.number[d]; i >= 0 {
			o.devices[i].Node, o.devices[i].Local = int32(len(o.nodes)), local
			local++
			if r := o.rankOf[i]; r >= 0 {
				if copied.ranks == 0 {
					copied.firstRank = r
				}
				copied.ranks++
			}
		}
	}
	o.nodes = append(o.nodes, copied)
}

func (x *degrader) sameShape(shape int32) int32 {
	s, ok := x.shapes[shape]
	if !ok {
		s = x.addShape(x.t.shapes[shape])
		x.shapes[shape] = s
	}
	return s
}

// addShape numbers a shape; nodes that earlier faults have made alike share one.
func (x *degrader) addShape(s *shape) int32 {
	shapes := &x.out.shapes
	i := slices.IndexFunc(*shapes, s.equal)
	if i < 0 {
		i = len(*shapes)
		*shapes = append(*shapes, s)
	}
	return int32(i)
}

func (s *shape) equal(o *shape) bool {
	return s == o || s.template == o.template && slices.Equal(s.ids, o.ids) && slices.Equal(s.devices, o.devices) &&
		slices.Equal(s.noP2P, o.noP2P) &&
		slices.Equal(s.links, o.links) && slices.EqualFunc(s.nics, o.nics, slices.Equal)
}

// copyFabrics copies what is known of the fabrics: their switches, and which nodes they
// group.
func (x *degrader) copyFabrics() {
	for _, f := range x.t.fabrics {
		copied := fabricInfo{prefix: f.prefix, spec: f.spec, levels: f.levels, firstDevice: -1}
		for i := range f.devices {
			n := x.number[f.firstDevice+DeviceID(i)]
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
		for n, unit := range f.nodeUnit {
			if x.nodeLeft(n) {
				if x.touched[n] {
					unit = x.unitLeft(&f, n, unit)
				}
				copied.nodeUnit = append(copied.nodeUnit, unit)
			}
		}
		x.out.fabrics = append(x.out.fabrics, copied)
	}
}

// unitLeft is the group that a node's first endpoint with a link left joins.
func (x *degrader) unitLeft(f *fabricInfo, n int, unit int32) int32 {
	first, end := x.span(n)
	for d := first; d < end; d++ {
		if x.lost[d] {
			continue
		}
		for _, l := range x.t.Out(d) {
			to := x.t.links[l].To
			if p, changed := x.pieces[l]; x.lost[to] || changed && len(p) == 0 {
				continue
			}
			if i := int(to - f.firstDevice); i >= 0 && i < len(f.switchUnit) {
				return f.switchUnit[i]
			}
		}
	}
	return unit
}
