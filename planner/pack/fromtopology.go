package pack

import (
	"railyard/model/symmetry"
	"railyard/model/topology"
	"slices"
)

// FromTopology is the graph of the links that routes between ranks may use:
//
//   - the scale-up links between ranks and NVSwitches, and other links from rank to rank;
//   - PCIe, sockets and memory of a node only where its ranks do not all reach one
//     another over scale-up links;
//   - the network only where ranks remain that do not reach one another by these. A rank
//     then has its own way to its adapters: nothing turns round in a PCIe switch or an
//     adapter, and no rank uses those of its neighbours.
//
// Switches that carry the same shares of the traffic of the same neighbours become one
// vertex, devices in the middle of a line vanish: both change no flow.
func FromTopology(t *topology.Topology) (*Graph, error) {
	type key struct{}
	return topology.OnceOr(t, key{}, func() (*Graph, error) { return graphOf(t) })
}

func graphOf(t *topology.Topology) (*Graph, error) {
	b := newBuilder(t)
	if b.inNodes(); b.apart() {
		b.network()
	}
	return b.finish()
}

// inNodes adds what joins ranks without networks.
func (b *builder) inNodes() {
	b.scaleUp()
	b.islands()
	b.direct()
	b.hosts()
	b.islands()
}

func newBuilder(t *topology.Topology) *builder {
	b := &builder{t: t, added: map[linkCopy]bool{}}
	for _, d := range t.Ranks() {
		b.at(place{device: d})
	}
	return b
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
	t      *topology.Topology
	joined []topology.Link // what has been added of scale-up links and hosts
	island []int32         // by device: which ranks reach one another over these, with those that pass on
	vertex symmetry.Numbering[place]
	edges  []Edge
	host   []bool // by node: PCIe counts between its ranks
	added  map[linkCopy]bool
}

// islands finds out what reaches what so far.
func (b *builder) islands() { b.island = topology.Components(len(b.t.Devices()), b.joined, nil) }

func (b *builder) at(p place) int32 { return int32(b.vertex.Of(p)) }

func (b *builder) add(l topology.LinkID, from, to place) {
	b.edges = append(b.edges, Edge{b.at(from), b.at(to), int64(b.t.Rate(l))})
}

// join adds the links that admit accepts, by their ends and medium.
func (b *builder) join(admit func(topology.Link, topology.Medium) bool) {
	for i, l := range b.t.Links() {
		if id := topology.LinkID(i); admit(l, b.t.Class(id).Medium) {
			b.addOnce(id, place{device: l.From}, place{device: l.To})
			b.joined = append(b.joined, l)
		}
	}
}

func (b *builder) isRank(d topology.DeviceID) bool { return b.t.RankOf(d) >= 0 }

func isScaleUp(m topology.Medium) bool {
	return m == topology.NVLink || m == topology.XGMI || m == topology.C2C
}

// scaleUp adds the links of ranks and scale-up switches that are scale-up links.
func (b *builder) scaleUp() {
	end := func(d topology.DeviceID) bool { return b.isRank(d) || b.t.Devices()[d].Kind == topology.NVSwitch }
	b.join(func(l topology.Link, m topology.Medium) bool { return isScaleUp(m) && end(l.From) && end(l.To) })
}

// direct adds links from rank to rank of any other medium, inside nodes: routes take them. Whether a node needs its hosts
// is not up to them.
func (b *builder) direct() {
	b.join(func(l topology.Link, m topology.Medium) bool {
		return !isScaleUp(m) && b.isRank(l.From) && b.isRank(l.To) && b.t.Devices()[l.From].Node == b.t.Devices()[l.To].Node
	})
}

// apart reports whether not all ranks reach one another so far.
func (b *builder) apart() bool {
	ranks := b.t.Ranks()
	return slices.ContainsFunc(ranks, func(d topology.DeviceID) bool { return b.island[d] != b.island[ranks[0]] })
}

func isHost(k topology.Kind) bool {
	return k == topology.CPU || k == topology.Memory || k == topology.PCIeSwitch
}

// hosts adds PCIe and memory of the nodes that need it.
func (b *builder) hosts() {
	first := slices.Repeat([]int32{-1}, b.t.NumNodes())
	b.host = make([]bool, b.t.NumNodes())
	for r, d := range b.t.Ranks() {
		n := b.t.NodeOf(r)
		if first[n] < 0 {
			first[n] = b.island[d]
		}
		b.host[n] = b.host[n] || b.island[d] != first[n]
	}
	b.join(func(l topology.Link, _ topology.Medium) bool {
		from, to := b.t.Devices()[l.From], b.t.Devices()[l.To]
		if from.Node < 0 || from.Node != to.Node || !b.host[from.Node] || !isHost(from.Kind) && !isHost(to.Kind) {
			return false
		}
		return (isHost(from.Kind) || b.isRank(l.From)) && (isHost(to.Kind) || b.isRank(l.To))
	})
}

func (b *builder) addOnce(l topology.LinkID, from, to place) {
	if c := (linkCopy{l, b.at(from), b.at(to)}); !b.added[c] {
		b.added[c] = true
		b.add(l, from, to)
	}
}

func (b *builder) finish() (*Graph, error) {
	g, err := New(b.t.NumRanks(), len(b.vertex.All), b.edges)
	if err != nil {
		return nil, err
	}
	for _, p := range b.vertex.All[g.Ranks:] {
		g.names = append(g.names, b.t.DeviceName(p.device))
	}
	g.t, g.host = b.t, b.host
	return g.reduced(), nil
}
