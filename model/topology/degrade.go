package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/model/units"
)

// Degrade is a copy of the machine that lacks what has failed, with lower rates where
// something is slow. Ranks on failed GPUs and nodes are gone and the others numbered
// densely, in order (OriginalRank says what they were); names of devices stay. Routes go
// around the rest. It fails where a part is unknown, and where a rank has no way to
// another any more.
func (t *Topology) Degrade(faults []Fault) (*Topology, error) {
	if len(faults) == 0 {
		return t, nil
	}
	x := &degrader{t: t, lost: make([]bool, len(t.devices)), pieces: map[LinkID][]piece{}, slowed: map[slowClass]int32{}, classes: t.classes}
	var errs []error
	for _, f := range faults {
		if err := x.apply(f); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	out := x.build()
	out.healthy, out.faults = t.Healthy(), slices.Concat(t.faults, faults)
	out.name = out.healthy.name + " " + describe(out.faults)
	if t.idle != nil {
		var err error
		if out.idle, err = t.idle.Degrade(faults); err != nil {
			return nil, err
		}
		out.name += backgroundSuffix
	}
	if len(out.ranks) == 0 {
		return nil, fmt.Errorf("%s: no GPU is left", out.name)
	}
	if x.removed {
		if err := out.checkReachable(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Healthy is the topology that t is a degraded or loaded copy of: whole and idle; t itself
// where nothing has failed and nobody else is there.
func (t *Topology) Healthy() *Topology {
	if t.healthy == nil {
		return t
	}
	return t.healthy
}

// Faults are what has failed or is slow.
func (t *Topology) Faults() []Fault { return slices.Clone(t.faults) }

// OriginalRank is the number that a rank has in the healthy topology.
func (t *Topology) OriginalRank(rank int) int {
	if t.original == nil {
		return rank
	}
	return int(t.original[rank])
}

// LostRanks are the ranks of the healthy topology that are gone.
func (t *Topology) LostRanks() []int {
	var out []int
	next := 0
	for rank := range t.Healthy().ranks {
		if next < len(t.ranks) && t.OriginalRank(next) == rank {
			next++
		} else {
			out = append(out, rank)
		}
	}
	return out
}

// degrader makes a degraded copy.
type degrader struct {
	t       *Topology
	lost    []bool             // by device
	pieces  map[LinkID][]piece // of links that have changed: what they now consist of
	classes []Class            // t's, and those of slow links
	slowed  map[slowClass]int32
	removed bool // something is gone, not only slow

	// The copy and the numbers in it.
	out     *Topology
	number  []DeviceID // of a device in the copy; −1: lost
	touched []bool     // by node of t: devices, links or the use of its NICs differ
	variant map[string]int32
	shapes  map[int32]int32
}

// piece are the parallel links of one class that a link of the healthy machine has left.
type piece struct{ class, count int32 }

type slowClass struct {
	class int32
	rate  float64
}

func (x *degrader) now(l LinkID) []piece {
	if p, ok := x.pieces[l]; ok {
		return p
	}
	return []piece{{x.t.links[l].Class, x.t.links[l].Count}}
}

// change takes some parallel links (all where some is 0) of a bundle and makes them slow,
// or takes them away.
func (x *degrader) change(bundle []LinkID, some int, rate float64) {
	left := int32(some)
	if some == 0 {
		left = math.MaxInt32
	}
	for _, l := range bundle {
		if x.lost[x.t.links[l].From] || x.lost[x.t.links[l].To] {
			continue
		}
		var out []piece
		for _, p := range x.now(l) {
			n := min(left, p.count)
			left -= n
			if p.count > n {
				out = append(out, piece{p.class, p.count - n})
			}
			if n > 0 && rate > 0 {
				out = append(out, piece{x.slower(p.class, rate), n})
			}
		}
		x.pieces[l] = out
	}
}

// slower is the class of links that have a share of a class's rate left.
func (x *degrader) slower(class int32, rate float64) int32 {
	key := slowClass{class, rate}
	c, ok := x.slowed[key]
	if !ok {
		slow := x.classes[class]
		slow.Name = fmt.Sprintf("%s@%g", slow.Name, rate)
		slow.Rate = max(1, units.Rate(math.Round(float64(slow.Rate)*rate)))
		if c = int32(slices.Index(x.classes, slow)); c < 0 {
			c = int32(len(x.classes))
			x.classes = append(x.classes[:c:c], slow)
		}
		x.slowed[key] = c
	}
	return c
}

func (x *degrader) build() *Topology {
	t := x.t
	x.out = &Topology{derived: new(derived), description: t.description, profile: t.profile, models: t.models, classes: x.classes, lone: t.lone, rack: t.rack}
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
	return s == o || s.template == o.template && slices.Equal(s.ids, o.ids) && slices.Equal(s.devices, o.devices) && slices.Equal(s.noP2P, o.noP2P) &&
		slices.Equal(s.links, o.links) && slices.EqualFunc(s.nics, o.nics, slices.Equal)
}

// usableNICs says which devices of a node are NICs that still have a link each way
// into a fabric; where no NIC of the node had one, all are.
func (x *degrader) usableNICs(first, end DeviceID) []bool {
	t := x.t
	outside := func(d DeviceID) bool { return t.devices[d].Node < 0 }
	left := func(l LinkID) bool {
		p, changed := x.pieces[l]
		return !x.lost[t.links[l].From] && !x.lost[t.links[l].To] && (!changed || len(p) > 0)
	}
	out := make([]bool, end-first)
	joined := false
	for d := first; d < end; d++ {
		if t.devices[d].Kind != NIC {
			continue
		}
		var up, down bool
		for _, l := range t.Out(d) {
			joined = joined || outside(t.links[l].To)
			up = up || outside(t.links[l].To) && left(l)
		}
		for _, l := range t.In(d) {
			down = down || outside(t.links[l].From) && left(l)
		}
		out[d-first] = up && down
	}
	if !joined {
		for d := first; d < end; d++ {
			out[d-first] = t.devices[d].Kind == NIC && !x.lost[d]
		}
	}
	return out
}

// difference is what sets a node apart from its shape, "" where nothing does. Nodes of
// a shape with the same difference share a new one.
func (x *degrader) difference(n int, usable []bool) string {
	node := &x.t.nodes[n]
	s := x.t.shapes[node.shape]
	var b strings.Builder
	served := make([]bool, len(s.devices))
	for _, nics := range s.nics {
		for _, nic := range nics {
			served[nic] = true
		}
	}
	for i := range s.devices {
		if x.lost[node.firstDevice+DeviceID(i)] {
			fmt.Fprintf(&b, "-%d", i)
		} else if served[i] && !usable[i] {
			fmt.Fprintf(&b, "/%d", i)
		}
	}
	for i := range s.links {
		if p, changed := x.pieces[node.firstLink+LinkID(i)]; changed {
			fmt.Fprintf(&b, " %d%v", i, p)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%s", node.shape, b.String())
}

// newShape is s without what a node has lost. first is the node's first device in t, at
// the one in the copy.
func (x *degrader) newShape(s *shape, first, at DeviceID, links []Link, usable []bool) *shape {
	out := &shape{template: s.template, profile: s.profile, local: map[string]int32{}}
	var use []bool
	for i, d := range s.devices {
		if x.lost[first+DeviceID(i)] {
			continue
		}
		d.Local = int32(len(out.devices))
		out.local[s.ids[i]] = d.Local
		out.ids = append(out.ids, s.ids[i])
		out.devices = append(out.devices, d)
		out.noP2P = append(out.noP2P, s.noP2P[i])
		use = append(use, usable[i])
		if d.Kind.HoldsRank() {
			out.ranks = append(out.ranks, d.Local)
		}
	}
	out.links = make([]Link, len(links))
	out.out = make([][]int32, len(out.devices))
	for i, l := range links {
		l.From -= at
		l.To -= at
		out.links[i] = l
		out.out[l.From] = append(out.out[l.From], int32(i))
	}
	out.nics = make([][]int32, len(out.devices))
	for i, d := range s.devices {
		if x.lost[first+DeviceID(i)] || !d.Kind.HoldsRank() {
			continue
		}
		g := int32(x.number[first+DeviceID(i)] - at)
		var own []int32
		for _, nic := range s.nics[i] {
			if d := x.number[first+DeviceID(nic)]; d >= 0 {
				own = append(own, int32(d-at))
			}
		}
		out.nics[g] = out.nicsLeft(g, own, use, len(s.nics[i]) > 0)
	}
	return out
}

// nicsLeft are those of a rank's own NICs that it can use; where it has lost all of
// them, the nearest that it can use.
func (s *shape) nicsLeft(g int32, own []int32, use []bool, had bool) []int32 {
	if !had {
		return nil
	}
	up, down := s.hostDistances(g, false), s.hostDistances(g, true)
	useless := func(nic int32) bool { return !use[nic] || up[nic] < 0 || down[nic] < 0 }
	if own = slices.DeleteFunc(own, useless); len(own) > 0 {
		return own
	}
	var out []int32
	for i, d := range s.devices {
		nic := int32(i)
		if d.Kind != NIC || useless(nic) || len(out) > 0 && up[nic] > up[out[0]] {
			continue
		}
		if len(out) > 0 && up[nic] < up[out[0]] {
			out = out[:0]
		}
		out = append(out, nic)
	}
	return out
}

// hostDistances are the lengths of the ways from g (or, back, to g) over PCIe switches,
// CPUs and memory; −1 where there is none.
func (s *shape) hostDistances(g int32, back bool) []int32 {
	dist := make([]int32, len(s.devices))
	for i := range dist {
		dist[i] = -1
	}
	dist[g] = 0
	next := s.out
	if back {
		next = make([][]int32, len(s.devices))
		for i, l := range s.links {
			next[l.To] = append(next[l.To], int32(i))
		}
	}
	for queue := []int32{g}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		if v != g && !isHostPath(s.devices[v].Kind) {
			continue
		}
		for _, l := range next[v] {
			to := int32(s.links[l].To)
			if back {
				to = int32(s.links[l].From)
			}
			if dist[to] < 0 {
				dist[to] = dist[v] + 1
				queue = append(queue, to)
			}
		}
	}
	return dist
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
