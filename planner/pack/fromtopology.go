package pack

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/topology"
)

// FromTopology is the graph of the links that routes between ranks may use:
//
//   - the scale-up links between ranks and NVSwitches;
//   - PCIe, sockets and memory of a node only where its ranks do not all reach one
//     another over scale-up links;
//   - the network only where ranks remain that do not reach one another by these. A rank
//     then has its own way to its adapters: nothing turns round in a PCIe switch or an
//     adapter, and no rank uses those of its neighbours.
//
// Switches that carry the same shares of the traffic of the same neighbours become one
// vertex, devices in the middle of a line vanish: both change no flow.
func FromTopology(t *topology.Topology) (*Graph, error) {
	b := &builder{t: t, vertex: map[place]int32{}, added: map[linkCopy]bool{}, comp: make([]int32, len(t.Devices())), vertices: t.NumRanks()}
	for i := range b.comp {
		b.comp[i] = int32(i)
	}
	for r, d := range t.Ranks() {
		b.vertex[place{device: d}] = int32(r)
	}
	b.scaleUp()
	b.hosts()
	if b.apart() {
		if err := b.network(); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// side says which copy of a device a vertex is: adapters and the PCIe switches before
// them have one for each direction.
type side uint8

const (
	whole side = iota
	outward
	inward
)

type place struct {
	device topology.DeviceID
	side   side
	group  string // which adapters this copy of a PCIe switch leads to
}

// linkCopy is a link between certain copies of its ends.
type linkCopy struct {
	link     topology.LinkID
	from, to int32
}

type builder struct {
	t        *topology.Topology
	comp     []int32 // union-find over devices
	vertex   map[place]int32
	vertices int
	members  []topology.DeviceID // of the vertices behind the ranks
	edges    []Edge
	host     []bool // by node: PCIe counts between its ranks
	added    map[linkCopy]bool
}

func (b *builder) root(d topology.DeviceID) int32 {
	for b.comp[d] != int32(d) {
		b.comp[d] = b.comp[b.comp[d]]
		d = topology.DeviceID(b.comp[d])
	}
	return int32(d)
}

func (b *builder) at(p place) int32 {
	v, ok := b.vertex[p]
	if !ok {
		v = int32(b.vertices)
		b.vertex[p] = v
		b.vertices++
		b.members = append(b.members, p.device)
	}
	return v
}

func (b *builder) add(l topology.LinkID, from, to place) {
	b.edges = append(b.edges, Edge{b.at(from), b.at(to), int64(b.t.Rate(l))})
}

// join adds the links between devices that admit accepts.
func (b *builder) join(admit func(topology.DeviceID) bool, medium func(topology.Medium) bool) {
	for i, l := range b.t.Links() {
		if id := topology.LinkID(i); admit(l.From) && admit(l.To) && medium(b.t.Class(id).Medium) {
			b.add(id, place{device: l.From}, place{device: l.To})
			b.comp[b.root(l.From)] = b.root(l.To)
		}
	}
}

func (b *builder) isRank(d topology.DeviceID) bool { return b.t.RankOf(d) >= 0 }

func isScaleUp(m topology.Medium) bool {
	return m == topology.NVLink || m == topology.XGMI || m == topology.C2C
}

func (b *builder) scaleUp() {
	b.join(func(d topology.DeviceID) bool { return b.isRank(d) || b.t.Devices()[d].Kind == topology.NVSwitch }, isScaleUp)
}

// apart reports whether not all ranks reach one another so far.
func (b *builder) apart() bool {
	for _, d := range b.t.Ranks() {
		if b.root(d) != b.root(b.t.Ranks()[0]) {
			return true
		}
	}
	return false
}

func isHost(k topology.Kind) bool {
	return k == topology.CPU || k == topology.Memory || k == topology.PCIeSwitch
}

// hosts adds PCIe and memory of the nodes that need it.
func (b *builder) hosts() {
	first := make([]int32, b.t.NumNodes())
	b.host = make([]bool, b.t.NumNodes())
	for i := range first {
		first[i] = -1
	}
	for r, d := range b.t.Ranks() {
		n := b.t.NodeOf(r)
		if first[n] < 0 {
			first[n] = b.root(d)
		}
		b.host[n] = b.host[n] || b.root(d) != first[n]
	}
	for i, l := range b.t.Links() {
		from, to := b.t.Devices()[l.From], b.t.Devices()[l.To]
		if from.Node < 0 || from.Node != to.Node || !b.host[from.Node] || !isHost(from.Kind) && !isHost(to.Kind) {
			continue
		}
		if (isHost(from.Kind) || b.isRank(l.From)) && (isHost(to.Kind) || b.isRank(l.To)) {
			b.addOnce(topology.LinkID(i), place{device: l.From}, place{device: l.To})
			b.comp[b.root(l.From)] = b.root(l.To)
		}
	}
}

func isNet(k topology.Kind) bool {
	return k == topology.Leaf || k == topology.Spine || k == topology.Core
}

// network adds the fabrics' switches and each rank's way to its adapters: the links that
// its routes to and from a rank of another node use.
func (b *builder) network() error {
	b.join(func(d topology.DeviceID) bool { return b.isRank(d) || isNet(b.t.Devices()[d].Kind) },
		func(m topology.Medium) bool { return m == topology.Network })
	router := topology.NewRouter(b.t)
	for r := range b.t.Ranks() {
		q := b.partner(r)
		if q < 0 {
			continue
		}
		for _, pair := range [2][2]int{{r, q}, {q, r}} {
			route, err := router.Route(pair[0], pair[1])
			if err != nil {
				return fmt.Errorf("pack: %w", err)
			}
			if len(route.NICs) > 0 {
				b.adapters(route)
			}
		}
	}
	used := map[topology.LinkID]bool{} // each link once for each copy of its ends
	for p := range b.vertex {
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
			if isNet(b.t.Devices()[other].Kind) {
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
	return nil
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
		if b.t.NodeOf(q) == node || b.root(ranks[q]) == b.root(ranks[r]) {
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

func (b *builder) addOnce(l topology.LinkID, from, to place) {
	if c := (linkCopy{l, b.at(from), b.at(to)}); !b.added[c] {
		b.added[c] = true
		b.add(l, from, to)
	}
}

func groupName(nics []topology.DeviceID) string {
	list := slices.Clone(nics)
	slices.Sort(list)
	return fmt.Sprint(slices.Compact(list))
}

func (b *builder) finish() (*Graph, error) {
	g, err := New(b.t.NumRanks(), b.vertices, b.edges)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(b.members))
	for i, d := range b.members {
		names[i] = b.t.DeviceName(d)
	}
	g.names = names
	g.t, g.host = b.t, b.host
	return g.reduced(), nil
}

// reduced merges switches that are alike and takes out those in the middle of a line.
func (g *Graph) reduced() *Graph {
	r := newReducer(g)
	for r.lines() || r.twins() {
	}
	return r.graph(g)
}

// reducer is the graph as maps, out and in, by vertex.
type reducer struct {
	ranks   int
	out, in []map[int32]int64
	merged  []int // by vertex: how many it stands for; 0: gone
}

func newReducer(g *Graph) *reducer {
	r := &reducer{ranks: g.Ranks, out: make([]map[int32]int64, g.Vertices), in: make([]map[int32]int64, g.Vertices), merged: make([]int, g.Vertices)}
	for v := range r.out {
		r.out[v], r.in[v], r.merged[v] = map[int32]int64{}, map[int32]int64{}, 1
	}
	for _, e := range g.Edges {
		r.add(e.From, e.To, e.Cap)
	}
	return r
}

func (r *reducer) add(u, v int32, c int64) {
	if u != v {
		r.out[u][v] += c
		r.in[v][u] += c
	}
}

func (r *reducer) remove(v int32) {
	for w := range r.out[v] {
		delete(r.in[w], v)
	}
	for u := range r.in[v] {
		delete(r.out[u], v)
	}
	r.out[v], r.in[v], r.merged[v] = nil, nil, 0
}

// lines takes out switches with one edge in and one out, and those that lead nowhere.
func (r *reducer) lines() bool {
	changed := false
	for v := int32(r.ranks); int(v) < len(r.out); v++ {
		if r.merged[v] == 0 || len(r.out[v]) > 1 || len(r.in[v]) > 1 {
			if r.merged[v] == 0 || len(r.out[v]) > 0 && len(r.in[v]) > 0 {
				continue
			}
		}
		if len(r.out[v]) == 1 && len(r.in[v]) == 1 {
			u, c := only(r.in[v])
			w, d := only(r.out[v])
			r.remove(v)
			r.add(u, w, min(c, d))
		} else {
			r.remove(v)
		}
		changed = true
	}
	return changed
}

func only(m map[int32]int64) (int32, int64) {
	for k, c := range m {
		return k, c
	}
	return -1, 0
}

// twins merges switches whose capacities from and to the same neighbours are
// proportional: whatever flows through them together can be split in that proportion.
func (r *reducer) twins() bool {
	seen := map[string]int32{}
	changed := false
	for v := int32(r.ranks); int(v) < len(r.out); v++ {
		if r.merged[v] == 0 {
			continue
		}
		key := r.signature(v)
		w, ok := seen[key]
		if !ok {
			seen[key] = v
			continue
		}
		for x, c := range r.out[v] {
			r.add(w, x, c)
		}
		for x, c := range r.in[v] {
			r.add(x, w, c)
		}
		r.merged[w] += r.merged[v]
		r.remove(v)
		changed = true
	}
	return changed
}

func (r *reducer) signature(v int32) string {
	var unit int64
	for _, c := range r.out[v] {
		unit = gcd(unit, c)
	}
	for _, c := range r.in[v] {
		unit = gcd(unit, c)
	}
	var s strings.Builder
	for i, m := range []map[int32]int64{r.out[v], r.in[v]} {
		keys := make([]int32, 0, len(m))
		for x := range m {
			keys = append(keys, x)
		}
		slices.Sort(keys)
		fmt.Fprintf(&s, "|%d", i)
		for _, x := range keys {
			fmt.Fprintf(&s, " %d:%d", x, m[x]/unit)
		}
	}
	return s.String()
}

func (r *reducer) graph(g *Graph) *Graph {
	number := make([]int32, len(r.out))
	n := int32(0)
	var names []string
	for v := range r.out {
		if v >= r.ranks && r.merged[v] == 0 {
			continue
		}
		number[v] = n
		n++
		if v >= r.ranks {
			name := g.Name(v)
			if m := r.merged[v]; m > 1 {
				name = fmt.Sprintf("%s and %d like it", name, m-1)
			}
			names = append(names, name)
		}
	}
	var edges []Edge
	for u := range r.out {
		for v, c := range r.out[u] {
			edges = append(edges, Edge{number[u], number[v], c})
		}
	}
	return &Graph{Ranks: g.Ranks, Vertices: int(n), Edges: mergeEdges(edges), t: g.t, host: g.host, names: names}
}
