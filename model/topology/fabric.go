package topology

import (
	"math"
	"slices"
)

// fabricBuilder wires one fabric: endpoints of the nodes to first-level switches, and
// level on level above, until everything is joined.
type fabricBuilder struct {
	*builder
	spec   *fabricSpec
	info   *fabricInfo
	made   map[Kind]int32   // switches made so far, by kind
	used   map[DeviceID]int // downlinks of each switch
	prefix string
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
	x := &fabricBuilder{builder: b, spec: f, made: map[Kind]int32{}, used: map[DeviceID]int{}}
	if len(b.f.Fabrics) > 1 {
		x.prefix = f.Name + "/"
	}
	b.t.fabrics = append(b.t.fabrics, fabricInfo{prefix: x.prefix, spec: f, firstDevice: DeviceID(len(b.t.devices))})
	x.info = &b.t.fabrics[len(b.t.fabrics)-1]
	ends := x.endpoints()
	groups := x.firstLevel(ends)
	for i := 1; i < len(f.Levels) && b.Total() == 0; i++ {
		groups = x.nextLevel(i, groups)
	}
	x.info.devices = len(b.t.devices) - int(x.info.firstDevice)
}

// joinsOneNode reports whether a fabric matters within a single node: where it starts
// at the ranks it does, where it starts at NICs it does not.
func (b *builder) joinsOneNode(f *fabricSpec) bool {
	s := b.t.shapes[b.t.nodes[0].shape]
	ends := s.endpoints(f.Endpoints)
	return s.devices[ends[0]].Kind.HoldsRank()
}

// endpoints lists the devices to join, node by node.
func (x *fabricBuilder) endpoints() []endpoint {
	byShape := make([][]int32, len(x.t.shapes))
	for i, s := range x.t.shapes {
		byShape[i] = s.endpoints(x.spec.Endpoints)
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

func (x *fabricBuilder) linksOf(e endpoint) int { return x.spec.Links[e.index%len(x.spec.Links)] }

// ports splits a switch's ports into down and up; (0, 0) where the model sets no limit.
func (x *fabricBuilder) ports(l *levelSpec, top bool) (down, up int) {
	radix := 0
	if l.Model != "" {
		radix = x.t.models[x.models[l.Model]].Ports
	}
	if top {
		return radix, 0
	}
	o := l.Oversubscription
	down = int(math.Floor(float64(radix)*o/(1+o) + 1e-9))
	if up = l.Uplinks; up == 0 {
		up = int(math.Floor(float64(down)/o + 1e-9))
	}
	if radix > 0 && (down == 0 || up == 0) {
		x.AddAt(l.Pos, "level: oversubscription %g leaves a %d-port switch without down or up ports", o, radix)
	}
	return down, up
}

// uplinks is how many a switch of these groups has: as the file says, else as many as the downlinks in use of the fullest one ask for,
// so that all are equivalent; 0 where the model sets no ports.
func (x *fabricBuilder) uplinks(l *levelSpec, groups []switchGroup) int {
	_, up := x.ports(l, false)
	if l.Uplinks > 0 {
		return up
	}
	used := 0
	for _, g := range groups {
		for _, s := range g.switches {
			used = max(used, x.used[s])
		}
	}
	return min(up, int(math.Ceil(float64(used)/l.Oversubscription-1e-9)))
}

// newSwitches makes n switches of a level.
func (x *fabricBuilder) newSwitches(l *levelSpec, n int) []DeviceID {
	model := int32(-1)
	if m, ok := x.models[l.Model]; ok {
		model = m
	}
	if len(x.t.devices)+n > maxDevices {
		x.AddAt(l.Pos, "level: more than %d devices", maxDevices)
		return nil
	}
	x.t.devices, x.t.rankOf = slices.Grow(x.t.devices, n), slices.Grow(x.t.rankOf, n)
	out := make([]DeviceID, n)
	for i := range out {
		out[i] = DeviceID(len(x.t.devices))
		x.t.devices = append(x.t.devices, Device{Kind: l.Kind, Node: -1, Local: x.made[l.Kind], Model: model})
		x.t.rankOf = append(x.t.rankOf, -1)
		x.made[l.Kind]++
	}
	x.info.devices = len(x.t.devices) - int(x.info.firstDevice)
	return out
}

// linksFit says whether so many pairs of devices may still be joined.
func (x *fabricBuilder) linksFit(pairs int) bool {
	if len(x.t.links)+2*pairs > maxLinks {
		x.AddAt(x.spec.Pos, "fabric %s: more than %d links", x.spec.Name, maxLinks)
		return false
	}
	return true
}

// join joins a device to a switch above it.
func (x *fabricBuilder) join(a, b DeviceID, class int32, count int) {
	x.used[b] += count
	x.t.links = append(x.t.links, Link{a, b, class, int32(count)}, Link{b, a, class, int32(count)})
}

// spread joins each lower switch's uplinks to the upper ones in turn, uplink u of
// lower switch i to upper switch (i·up+u) mod n, merging parallel links.
func (x *fabricBuilder) spread(lower, upper []DeviceID, up int, class int32) {
	for i, l := range lower {
		x.connectInTurn(l, upper, i*up, up, class)
	}
}

// connectInTurn joins a device over links in turn to switches, the first one to switch number
// start (mod their number), and lists what it makes by switch.
func (x *fabricBuilder) connectInTurn(d DeviceID, switches []DeviceID, start, links int, class int32) {
	n := len(switches)
	start %= n
	reached := min(links, n)
	each, extra := links/n, links%n
	one := func(j int) {
		count := each
		if (j-start+n)%n < extra {
			count++
		}
		x.join(d, switches[j], class, count)
	}
	for j := range max(0, start+reached-n) { // those beyond the last, from the first on
		one(j)
	}
	for j := start; j < min(start+reached, n); j++ {
		one(j)
	}
}
