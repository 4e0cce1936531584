package nccl

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// linkLimits are what the links of a topology allow a way to run a collective, whatever its
// kernel costs.
type linkLimits struct {
	line    float64 // bytes/s of each rank's wire over the fullest link of its messages' routes; +Inf: not looked at
	link    topology.LinkID
	memory  float64          // the same of host memory, whose rate is what it sustains: no kernel's headers and flags slow it down
	seconds float64          // that each byte of the collective takes at least, by the cuts of the topology
	cut     string           // which one
	latency collective.Bound // of the farthest ranks
	err     error
}

type limitKey struct {
	kind      collective.Kind
	algorithm string
	options   Options
}

// limits finds them once for each topology.
func (r *Runtime) limits(k collective.Kind, algorithm string) *linkLimits {
	return topology.Once(r.topo, limitKey{k, algorithm, r.options}, func() *linkLimits {
		spec := collective.Spec{Kind: k, Ranks: r.topo.NumRanks()}
		if k == collective.AllToAllV { // everybody sends everybody the same
			spec.Kind = collective.AllToAll
		}
		const probe = units.Bytes(1 << 40)
		cuts := collective.LowerBound(r.topo, spec, probe)
		x := &traffic{t: r.topo, router: topology.NewRouter(r.topo), model: r.model, on: map[topology.LinkID]float64{}}
		r.messages(x, k, algorithm)
		out := &linkLimits{seconds: cuts.Time.Seconds() / float64(probe), cut: cuts.Cut, err: x.err}
		out.latency = collective.LatencyBound(r.topo, spec, (*topology.Class).Full)
		out.line, out.link = x.slowest(false)
		out.memory, _ = x.slowest(true)
		return out
	})
}

// senders are how many of a node's ranks hand messages to the network: all, or as many as there are channels at this size, whose
// parts count, so that no time falls where one more is taken.
func (r *Runtime) senders(a Ask, c choice) float64 {
	local := float64(r.rates.ranks) / float64(r.rates.nodes)
	if r.model == nil || c.algorithm == "p2p" {
		return local
	}
	algorithm, protocol := c.names()
	perChannel := r.model.threads(algorithm, protocol) * r.model.threadBytes(algorithm, protocol)
	return min(max(float64(a.Size)/float64(perChannel), 1), local, float64(r.model.nChannels))
}

// work is what a choice has to do, at the rate that the links on its way allow.
func (r *Runtime) work(a Ask, c choice) (Work, error) {
	rates, l := r.rates, r.limits(a.Kind, c.algorithm)
	if c.protocol == cost.LL && rates.nodes > 1 {
		rates.bySenders(flagRate*r.senders(a, c), "threads that check LL's flags")
	}
	if line := l.line * r.left(l.link); line < rates.scaleUp {
		rates.scaleUp, rates.via = line, "link "+r.topo.LinkName(l.link)
	}
	w, err := rates.work(a.Kind, c.algorithm, a.Size)
	if err != nil {
		return w, err
	}
	if algorithm, protocol := c.names(); algorithm == Tree && protocol == LL128 && r.model != nil {
		w.Waits = treeChunks(a.Size, r.model.nChannels, rates.nodes, rates.ranks) - 1
	}
	if line, limit := r.toPeers(a); line < w.Line {
		w.Line, w.Limit = line, limit
	}
	share := r.scaleUp
	if r.rates.nodes > 1 {
		share = r.network
	}
	if least := l.seconds * float64(a.Size) / share; w.Wire/w.Line < least {
		w.Line, w.Limit = w.Wire/least, l.cut
	}
	return w, l.err
}

// toPeers is what the channels of sends carry to all that a rank sends to. It bounds all-to-alls of few GPUs, too, whose channels to a
// peer do not fill its links: of two B200 16 carry 331 GB/s over links of 900, of two RTX PRO 6000 two carry 25.7 over 63 (series
// aic-b200_sxm-2.29.2-alltoall-2 and aic-rtx_pro_6000_server-2.29.2-alltoall-2). What small parts do not fill is the kernel's.
func (r *Runtime) toPeers(a Ask) (line float64, limit string) {
	peers := 1.0
	switch {
	case r.model == nil:
		return math.Inf(1), ""
	case a.Kind == collective.SendRecv:
	case (a.Kind == collective.AllToAll || a.Kind == collective.AllToAllV) && r.rates.nodes == 1:
		peers, a.Size = float64(r.rates.ranks-1), manyChunks
	default:
		return math.Inf(1), ""
	}
	line = peers * r.model.toPeer(a.Size, a.Graph)
	if r.rates.nodes > 1 {
		return line * r.network, "channels to a peer across the network"
	}
	return line * r.scaleUp, "channels to a peer"
}

// left is the share of a link that other collectives leave.
func (r *Runtime) left(l topology.LinkID) float64 {
	if l != topology.NoLink && r.topo.Class(l).Medium == topology.Network {
		return r.network
	}
	return r.scaleUp
}

// bounded makes a prediction no less than what no schedule beats, and marks it where it was.
func (r *Runtime) bounded(p *Prediction, k collective.Kind, size units.Bytes) {
	l := r.limits(k, p.Algorithm)
	why := l.latency.Cut
	p.least = max(p.Work.Least(), l.latency.Time, units.Time(math.Ceil(p.Work.Wire/(l.memory*r.scaleUp)*1e12)))
	if cut := units.Time(math.Ceil(l.seconds * float64(size) * 1e12)); cut > p.least {
		p.least, why = cut, l.cut
	}
	if p.Time < p.least {
		p.Time = p.least
		p.Warnings = append(p.Warnings, "no schedule is as fast as the kernel would be: the least time of all was taken ("+why+")")
	}
}

// messages puts the messages of an algorithm on links, those inside nodes in parts of what
// each rank has on the wire. Where all ranks of a node are joined by switches alone, their own
// links are as full as any.
func (r *Runtime) messages(x *traffic, k collective.Kind, algorithm string) {
	n := r.topo.NumRanks()
	switch meshed := r.overPCIe() || hasDirectLinks(r.topo); {
	case k == collective.SendRecv:
		for i := range n {
			x.send(i, (i+1)%n, 1)
		}
	case !meshed:
	case algorithm == "ring":
		r.channels(func(ranks []int, share float64) {
			for i := range ranks {
				if i+1 < len(ranks) || r.rates.nodes == 1 && goesAround(k) {
					x.send(ranks[i], ranks[(i+1)%len(ranks)], share)
				}
			}
		}, func(f *found) *channels { return f.ring })
	case algorithm == "tree":
		r.channels(func(ranks []int, share float64) { // up and down
			for i := range len(ranks) - 1 {
				x.send(ranks[i], ranks[i+1], share/r.rates.treeSteps())
				x.send(ranks[i+1], ranks[i], share/r.rates.treeSteps())
			}
		}, func(f *found) *channels { return f.tree })
	case algorithm == "p2p":
		for i := range n {
			for j := range n {
				if i != j && r.topo.NodeOf(i) == r.topo.NodeOf(j) {
					x.send(i, j, 1/float64(n-1))
				}
			}
		}
	}
}

// channels visits the ranks of each node in the order of each of its channels, with the
// channel's share of the bytes. Where no model of NCCL's search knows them, PCIe is taken in
// the order of ranks; meshes are left to their cuts.
func (r *Runtime) channels(visit func(ranks []int, share float64), of func(*found) *channels) {
	if r.model == nil {
		for first, n := 0, r.topo.NumRanks(); first < n && r.overPCIe(); {
			var ranks []int
			for node := r.topo.NodeOf(first); first < n && r.topo.NodeOf(first) == node; first++ {
				ranks = append(ranks, first)
			}
			visit(ranks, 1)
		}
		return
	}
	for i, s := range r.model.found {
		c := of(s)
		n := max(min(c.n, r.model.ring.n), 1)
		for _, gpus := range c.intra[:n] {
			ranks := make([]int, len(gpus))
			for g, gpu := range gpus {
				ranks[g] = r.model.m.systems[i][gpu]
			}
			visit(ranks, 1/float64(n))
		}
	}
}

// pair are two ranks of a node as NCCL's search numbers them there; nil: it did not look at them.
func (m *Model) pair(src, dst int) (*found, []int, [2]int) {
	if m == nil || m.m.systemOf[src] != m.m.systemOf[dst] {
		return nil, nil, [2]int{}
	}
	ranks := m.m.systems[m.m.systemOf[src]]
	a, _ := slices.BinarySearch(ranks, src)
	b, _ := slices.BinarySearch(ranks, dst)
	return m.found[m.m.systemOf[src]], ranks, [2]int{a, b}
}

// hasDirectLinks reports whether ranks have scale-up links to one another.
func hasDirectLinks(t *topology.Topology) bool {
	for _, d := range t.Ranks() {
		for _, l := range t.Out(d) {
			if t.RankOf(t.Links()[l].To) >= 0 {
				return true
			}
		}
	}
	return false
}

// traffic is what messages put on links.
type traffic struct {
	t      *topology.Topology
	router *topology.Router
	model  *Model // nil: messages take the shortest ways
	on     map[topology.LinkID]float64
	err    error
}

// send puts a message on the links of its route: over the GPU that NCCL relays it by (both have NVLink to it but not to each
// other), or through host memory where it takes that.
func (x *traffic) send(src, dst int, bytes float64) {
	found, ranks, pair := x.model.pair(src, dst)
	if found != nil {
		if gpu, ok := found.relays[pair]; ok {
			x.send(src, ranks[gpu], bytes)
			x.send(ranks[gpu], dst, bytes)
			return
		}
	}
	route, err := x.router.Route(src, dst)
	if err != nil {
		x.err = err
	}
	if found != nil && found.staged[pair] {
		if staged, ok := x.router.ThroughHost(src, dst); ok {
			route = staged
		}
	}
	for _, h := range route.Hops {
		x.on[h.Link] += bytes * float64(h.Num) / float64(h.Den)
	}
}

// slowest is the rate at which the fullest link lets every rank send, and that link: of those of host memory, or of the others.
func (x *traffic) slowest(memory bool) (rate float64, link topology.LinkID) {
	rate, link = math.Inf(1), topology.NoLink
	for l := range x.t.Links() {
		id := topology.LinkID(l)
		if memory != (x.t.Class(id).Medium == topology.MemBus) {
			continue
		}
		if own := float64(x.t.Rate(id)) / x.on[id]; x.on[id] > 0 && own < rate {
			rate, link = own, id
		}
	}
	return rate, link
}
