package topology

import (
	"math"
	"slices"
)

// fabricBuilder wires one fabric: endpoints of the nodes to first-level switches, and
// level on level above, until everything is joined.
type fabricBuilder struct {
	*builder
	spec     *fabricSpec
	info     *fabricInfo
	numbered map[Kind]int32 // switches made so far, by kind
	prefix   string
}

// switchGroup are the switches of one level that serve the same nodes and rail.
type switchGroup struct {
	unit, rail int
	switches   []DeviceID
}

// endpoint is a device of a node that the fabric joins.
type endpoint struct {
	device DeviceID
	node   int
	index  int // within its node
}

func (b *builder) addFabric(f *fabricSpec) {
	if len(b.t.nodes) == 1 && !b.joinsOneNode(f) {
		return
	}
	x := &fabricBuilder{builder: b, spec: f, numbered: map[Kind]int32{}}
	if len(b.f.fabrics) > 1 {
		x.prefix = f.name + "/"
	}
	b.t.fabrics = append(b.t.fabrics, fabricInfo{prefix: x.prefix, firstDevice: DeviceID(len(b.t.devices))})
	x.info = &b.t.fabrics[len(b.t.fabrics)-1]
	ends := x.endpoints()
	if b.err() != nil {
		return
	}
	groups := x.firstLevel(ends)
	for i := 1; i < len(f.levels) && b.err() == nil; i++ {
		groups = x.nextLevel(i, groups)
	}
	x.info.devices = len(b.t.devices) - int(x.info.firstDevice)
}

// joinsOneNode reports whether a fabric matters within a single node: where it starts
// at the ranks or their switches it does, where it starts at NICs it does not.
func (b *builder) joinsOneNode(f *fabricSpec) bool {
	n := &b.t.nodes[0]
	for local, d := range b.t.shapes[n.shape].devices {
		if matchesEndpoint(b.t.shapes[n.shape], local, f.endpoints) {
			return d.Kind.HoldsRank()
		}
	}
	return false
}

func matchesEndpoint(s *shape, local int, pattern string) bool {
	if s.devices[local].Kind.String() == pattern {
		return true
	}
	ids, err := expandIDs(pattern)
	return err == nil && slices.Contains(ids, s.ids[local])
}

// endpoints lists the devices to join, node by node.
func (x *fabricBuilder) endpoints() []endpoint {
	byShape := make([][]int, len(x.t.shapes))
	for i, s := range x.t.shapes {
		for local := range s.devices {
			if matchesEndpoint(s, local, x.spec.endpoints) {
				byShape[i] = append(byShape[i], local)
			}
		}
		if len(byShape[i]) == 0 {
			x.addAt(x.spec.pos, "fabric %s: a %s node has no endpoint %q", x.spec.name, s.template, x.spec.endpoints)
		}
		if n := len(x.spec.links); n != 1 && n != len(byShape[i]) {
			x.addAt(x.spec.pos, "fabric %s: links lists %d numbers for %d endpoints", x.spec.name, n, len(byShape[i]))
		}
	}
	var out []endpoint
	for n := range x.t.nodes {
		node := &x.t.nodes[n]
		for i, local := range byShape[node.shape] {
			out = append(out, endpoint{node.firstDevice + DeviceID(local), n, i})
		}
	}
	return out
}

func (x *fabricBuilder) linksOf(e endpoint) int { return x.spec.links[e.index%len(x.spec.links)] }

// ports splits a switch's ports into down and up; (0, 0) where the model sets no limit.
func (x *fabricBuilder) ports(l *levelSpec, top bool) (down, up int) {
	radix := 0
	if l.model != "" {
		m, ok := x.models[l.model]
		switch {
		case !ok:
			x.addAt(l.pos, "level: model %q is not defined under models", l.model)
		case x.t.models[m].Kind != l.kind:
			x.addAt(l.pos, "level: kind is %v but model %s is a %v", l.kind, l.model, x.t.models[m].Kind)
		default:
			radix = x.t.models[m].Ports
		}
	}
	if top {
		return radix, 0
	}
	o := l.oversubscription
	down = int(math.Floor(float64(radix)*o/(1+o) + 1e-9))
	if up = l.uplinks; up == 0 {
		up = int(math.Floor(float64(down)/o + 1e-9))
	}
	if radix > 0 && (down == 0 || up == 0) {
		x.addAt(l.pos, "level: oversubscription %g leaves a %d-port switch without down or up ports", o, radix)
	}
	return down, up
}

func (x *fabricBuilder) class(name string, p pos) int32 {
	c, ok := x.classes[name]
	if !ok {
		x.addAt(p, "fabric %s: class %q is not defined under classes", x.spec.name, name)
	}
	return c
}

// newSwitches makes n switches of a level.
func (x *fabricBuilder) newSwitches(l *levelSpec, n int) []DeviceID {
	model := int32(-1)
	if m, ok := x.models[l.model]; ok {
		model = m
	}
	if len(x.t.devices)+n > maxDevices {
		x.addAt(l.pos, "level: more than %d devices", maxDevices)
		return nil
	}
	out := make([]DeviceID, n)
	for i := range out {
		out[i] = DeviceID(len(x.t.devices))
		x.t.devices = append(x.t.devices, Device{Kind: l.kind, Node: -1, Local: x.numbered[l.kind], Model: model})
		x.t.rankOf = append(x.t.rankOf, -1)
		x.numbered[l.kind]++
	}
	x.info.devices = len(x.t.devices) - int(x.info.firstDevice)
	return out
}

func (x *fabricBuilder) join(a, b DeviceID, class int32, count int) {
	if len(x.t.links)+2 > maxLinks {
		x.addAt(x.spec.pos, "fabric %s: more than %d links", x.spec.name, maxLinks)
		return
	}
	x.t.links = append(x.t.links, Link{a, b, class, int32(count)}, Link{b, a, class, int32(count)})
}

// spread joins each lower switch's uplinks to the upper ones in turn, uplink u of
// lower switch i to upper switch (i·up+u) mod n, merging parallel links.
func (x *fabricBuilder) spread(lower, upper []DeviceID, up int, class int32) {
	n := len(upper)
	counts := make([]int, n)
	for i, l := range lower {
		clear(counts)
		for u := range up {
			counts[(i*up+u)%n]++
		}
		for j, c := range counts {
			if c > 0 {
				x.join(l, upper[j], class, c)
			}
		}
	}
}
