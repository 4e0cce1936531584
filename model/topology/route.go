package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/units"
)

// Router answers which route a transfer takes. It caches routes per node type and per
// pair of leaves, so that asking for every neighbour in a ring of 16,384 GPUs is cheap.
// A Router is not safe for concurrent use; make one for each goroutine.
type Router struct {
	t      *Topology
	spread *spreader
	inNode map[nodePair]local[Route]
	onHost map[nodePair]local[path]
	toNIC  map[nodePair]local[path] // and back
	gdr    RouteKind                // how far apart GPUDirect RDMA reaches
	trunks *routeCache[*trunk]
	scaled *routeCache[path] // through switches between nodes
	ports  map[DeviceID]*ports
	first  map[string]DeviceID      // rank that was asked for, by its links to switches
	alike  map[DeviceID][2]DeviceID // by a rank that was asked for: two with the same links to switches
	ecmp   bool                     // networks hash flows instead of spreading them
	seed   uint64
	pair   uint64 // identity of the ranks whose flows are being routed
	flows  flows
	passed []Hop // of the last route that only passed (see Passing)
	passes bool

	networks []int32    // by rank, once asked for: see Reaches
	team     teamShares // of the team asked for last
}

type nodePair struct {
	shape    int32
	from, to int32
}

// local is a way inside a node, its links numbered within the node's shape.
type local[T any] struct {
	way T
	ok  bool
}

// NewRouter makes a router for t.
func NewRouter(t *Topology) *Router {
	return &Router{t: t, spread: newSpreader(t), inNode: map[nodePair]local[Route]{}, onHost: map[nodePair]local[path]{},
		toNIC: map[nodePair]local[path]{}, gdr: t.gdr,
		trunks: &routeCache[*trunk]{most: 1 << 22}, scaled: &routeCache[path]{most: 1 << 20},
		ports: map[DeviceID]*ports{}, first: map[string]DeviceID{}, alike: map[DeviceID][2]DeviceID{}}
}

// Route is the route from one rank to another: direct links, else a scale-up switch,
// else PCIe or shared memory within the node, else the network. It fails where no link
// leads there without passing through another rank.
func (r *Router) Route(src, dst int) (Route, error) { return r.RouteFlow(src, dst, 0) }

// Passing is Route, but its hops hold only until the router is asked again: through switches, they are hundreds.
func (r *Router) Passing(src, dst int) (Route, error) {
	r.passes = true
	defer func() { r.passes = false }()
	return r.Route(src, dst)
}

// RouteFlow is the route of one of several flows between two ranks, told apart by their
// labels. They differ only where networks hash (NewECMPRouter).
func (r *Router) RouteFlow(src, dst, label int) (Route, error) {
	return r.inParts(src, dst, flows{label, 1})
}

func (r *Router) inParts(src, dst int, f flows) (Route, error) {
	if src == dst {
		return Route{Kind: Local, Rate: math.MaxInt64}, nil
	}
	a, b := r.t.ranks[src], r.t.ranks[dst]
	r.pair, r.flows = mix(r.seed, uint64(a), uint64(b)), f
	if route, ok := r.best(a, b); ok {
		return route, nil
	}
	return Route{}, Unreachable{From: r.t.DeviceName(a), To: r.t.DeviceName(b)}
}

// Unreachable is the error of ranks that no route joins, as where links have failed.
type Unreachable struct{ From, To, Advice string }

func (e Unreachable) Error() string {
	return cmp.Or(e.Advice, fmt.Sprintf("there is no route from %s to %s", e.From, e.To))
}

// best prefers a scale-up fabric between nodes (NVL72's switches) to the PCIe, C2C or
// memory inside one.
func (r *Router) best(a, b DeviceID) (Route, bool) {
	var local Route
	inside := false
	if r.t.devices[a].Node == r.t.devices[b].Node {
		if local, inside = r.nodeRoute(a, b); inside && local.Kind <= Switched {
			return local, true
		}
	}
	if route, ok := r.switched(a, b, false); ok && (!inside || route.Kind == Switched) {
		return route, true
	}
	if inside {
		return local, true
	}
	return r.net(a, b)
}

// nodeRoute is the best route inside a node, computed once for each node type.
func (r *Router) nodeRoute(a, b DeviceID) (Route, bool) {
	n := &r.t.nodes[r.t.devices[a].Node]
	key := r.pairIn(a, b)
	c, known := r.inNode[key]
	if !known {
		c.way, c.ok = r.computeNodeRoute(a, b)
		shift(c.way.Hops, -n.firstLink)
		r.inNode[key] = c
	}
	if !c.ok {
		return Route{}, false
	}
	out := c.way
	out.Hops = slices.Clone(out.Hops)
	shift(out.Hops, n.firstLink)
	return out, true
}

func shift(hops []Hop, by LinkID) {
	for i := range hops {
		hops[i].Link += by
	}
}

func (r *Router) computeNodeRoute(a, b DeviceID) (Route, bool) {
	if route, ok := r.direct(a, b); ok {
		return route, true
	}
	if route, ok := r.switched(a, b, true); ok {
		return route, true
	}
	return r.pcie(a, b)
}

// sameNode admits devices of a's node that satisfy kinds.
func (r *Router) sameNode(a DeviceID, kinds func(Kind) bool) func(DeviceID) bool {
	node := r.t.devices[a].Node
	return func(d DeviceID) bool { return r.t.devices[d].Node == node && kinds(r.t.devices[d].Kind) }
}

func (r *Router) direct(a, b DeviceID) (Route, bool) {
	p, ok := r.spread.find(a, b, func(DeviceID) bool { return false })
	return r.finish(p, Direct), ok
}

// switched goes over scale-up switches only, within the node or across nodes.
func (r *Router) switched(a, b DeviceID, within bool) (Route, bool) {
	p, ok := path{}, false
	if within { // nodeRoute keeps these
		p, ok = r.spread.findFitting(a, b, r.sameNode(a, func(k Kind) bool { return k == NVSwitch }))
	} else {
		p, ok = r.overSwitches(a, b)
	}
	if !ok {
		// Ranks may also sit directly on the switches of a network (no NICs modelled).
		if within {
			return Route{}, false
		}
		p, ok = r.spread.find(a, b, func(d DeviceID) bool { return r.t.devices[d].Kind.fabricKind() })
		return r.finish(r.hashed(p, a), Net), ok
	}
	return r.finish(p, Switched), ok
}

func isHostPath(k Kind) bool { return k == PCIeSwitch || k == CPU || k == Memory }

// pcie goes over PCIe switches, CPUs and memory of one node.
func (r *Router) pcie(a, b DeviceID) (Route, bool) {
	p, ok := r.hostPath(a, b)
	if !ok {
		return Route{}, false
	}
	kind := r.pcieKind(p)
	if kind == HostStaged {
		return r.hostStaged(a, b)
	}
	return r.finish(p, kind), true
}

// hostPath is a path over PCIe switches, CPUs and memory of one node, found once for each
// node type. Its hops are the caller's own.
func (r *Router) hostPath(a, b DeviceID) (path, bool) {
	if !r.onHostPath(a, b) {
		return path{}, false
	}
	out := r.onHost[r.pairIn(a, b)].way
	out.hops = slices.Clone(out.hops)
	shift(out.hops, r.t.nodes[r.t.devices[a].Node].firstLink)
	return out, true
}

// onHostPath reports whether there is one.
func (r *Router) onHostPath(a, b DeviceID) bool {
	key := r.pairIn(a, b)
	known, ok := r.onHost[key]
	if !ok {
		direct := r.t.devices[a].Kind != GPU || r.t.devices[b].Kind != GPU // what joins GPUs directly is no PCIe
		if known.ok = r.spread.measure(a, b, direct, r.sameNode(a, isHostPath)); known.ok {
			known.way = r.spread.split(a, b, r.spread.rate)
		}
		shift(known.way.hops, -r.t.nodes[r.t.devices[a].Node].firstLink)
		r.onHost[key] = known
	}
	return known.ok
}

func (r *Router) pcieKind(p path) RouteKind {
	for _, h := range p.hops {
		if l := &r.t.links[h.Link]; r.t.described(l.From).noP2P || r.t.described(l.To).noP2P {
			return HostStaged
		}
	}
	switch {
	case p.via[CPU] > 1:
		return SYS
	case p.via[CPU] == 1:
		return PHB
	case p.via[Memory] > 0:
		return Shared
	case p.via[PCIeSwitch] > 1:
		return PXB
	}
	return PIX
}

// hostStaged copies to host memory and from there to the destination: to that of a CPU (memory next to it, where the
// file has any, is written and read), the one with the shortest way.
func (r *Router) hostStaged(a, b DeviceID) (Route, bool) {
	p, ok := r.overMemory(a, b)
	p.latency = p.latency.staged()
	return r.finish(p, HostStaged), ok
}

// overMemory is the way from a device to another of its node over host memory, less what waits for it.
func (r *Router) overMemory(a, b DeviceID) (path, bool) {
	return r.overHost(a, func(a, host DeviceID) (path, bool) {
		up, ok := r.hostPath(a, host)
		down, also := r.hostPath(host, b)
		return join(up, down), ok && also
	})
}

// hosts are the memories of a device's node, or where the file has none, its CPUs.
func (r *Router) hosts(a DeviceID) []DeviceID {
	if out := r.ofNode(a, Memory); len(out) > 0 {
		return out
	}
	return r.ofNode(a, CPU)
}

// ToHost is the way of a rank to the nearest host memory; false where none is known. FromHost is the way back.
func (r *Router) ToHost(rank int) (Route, bool) {
	return r.ofHost(rank, func(d, host DeviceID) (path, bool) { return r.hostPath(d, host) })
}

// FromHost is the way to a rank from the nearest host memory.
func (r *Router) FromHost(rank int) (Route, bool) {
	return r.ofHost(rank, func(d, host DeviceID) (path, bool) { return r.hostPath(host, d) })
}

func (r *Router) ofHost(rank int, way func(d, host DeviceID) (path, bool)) (Route, bool) {
	p, ok := r.overHost(r.t.ranks[rank], way)
	return r.finish(p, HostStaged), ok
}

// overHost is the shortest of the ways of a device to, from or over host memories of its node.
func (r *Router) overHost(d DeviceID, way func(d, host DeviceID) (path, bool)) (best path, found bool) {
	for _, host := range r.hosts(d) {
		if p, ok := way(d, host); ok && (!found || len(p.hops) < len(best.hops)) {
			best, found = p, true
		}
	}
	return best, found
}

// ThroughHost is the route of two ranks of a node through host memory, whether or not they could reach one another; false where no
// host memory is known.
func (r *Router) ThroughHost(a, b int) (Route, bool) { return r.hostStaged(r.t.ranks[a], r.t.ranks[b]) }

// Staged reports whether two ranks of a node exchange data through host memory.
func (r *Router) Staged(a, b int) bool {
	route, err := r.Route(a, b)
	return err == nil && route.Kind == HostStaged
}

// join puts one path behind another.
func join(a, b path) path {
	out := a
	out.hops, out.apart = append(slices.Clone(a.hops), b.hops...), false
	if b.trunk != nil {
		out.trunk, out.at = b.trunk, len(a.hops)+b.at
	}
	out.latency = a.latency.then(b.latency)
	for k, n := range b.via {
		out.via[k] += n
	}
	return out
}

// finish computes what a transfer over the path, less its trunk, gets.
func (r *Router) finish(p path, kind RouteKind) Route {
	if !p.apart {
		p.hops = mergeHops(p.hops)
	}
	out := Route{Kind: kind, Hops: p.hops, Latency: p.latency.all, Beyond: p.latency.beyond, Links: p.links, Rate: math.MaxInt64}
	for _, h := range out.Hops {
		rate := r.t.Rate(h.Link)
		if h.Lane > 0 {
			rate = r.t.Class(h.Link).Rate
		}
		if rate = units.Rate(units.MulDiv(int64(rate), h.Den, h.Num)); rate < out.Rate {
			out.Rate, out.Medium = rate, r.t.Class(h.Link).Medium
		}
	}
	return out
}

// mergeHops adds up the shares of a link that several paths cross, keeping the order.
func mergeHops(hops []Hop) []Hop {
	if len(hops) < 2 {
		return hops
	}
	type lane struct {
		link LinkID
		lane int32
	}
	where := make(map[lane]int, len(hops))
	out := make([]Hop, 0, len(hops))
	for _, h := range hops {
		i, ok := where[lane{h.Link, h.Lane}]
		if !ok {
			where[lane{h.Link, h.Lane}] = len(out)
			out = append(out, h)
			continue
		}
		s := share{out[i].Num, out[i].Den}.plus(share{h.Num, h.Den})
		out[i].Num, out[i].Den = s.num, s.den
	}
	return out
}
