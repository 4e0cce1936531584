package nccl

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// machineRates are the line rates of what ranks share.
type machineRates struct {
	ranks, nodes int        // nodes: scale-up domains, such as NVL72 racks
	scaleUp      float64    // bytes/s out of a rank, inside its node
	inSwitch     float64    // share of scaleUp that in-switch reduction reaches at best
	network      float64    // bytes/s out of a scale-up domain, in equal channels
	direct       float64    // the same where each rank sends by its own NICs
	hop          units.Time // of a message inside a node, by its links' latencies
	flight       units.Time // of a message across the network: the longest
	across       units.Time // the mean
	hopMore      float64    // what hop and across are beyond those of usual links, ps
	acrossMore   float64
	reducing     bool    // the network's switches reduce
	heads        float64 // GPUs of a node that in-switch reduction pulls from
	via, exits   string  // what scaleUp and network are
	inside, over string  // what a kernel crosses in a node, and in all (cost.KernelKey.Over)
	links        string  // what GPUs of a node are joined by, whether or not messages cross it
}

// ratesOf measures a topology, whose network is of a fabric.
func ratesOf(t *topology.Topology, fabric string) (machineRates, error) {
	of, domains := t.ScaleUpDomains()
	m := machineRates{ranks: t.NumRanks(), nodes: len(domains), inSwitch: 1, exits: "NICs of each node"}
	m.heads = min(float64(m.ranks)/float64(m.nodes), cost.MaxHeads)
	if m.ranks < 2 {
		return m, unsupported("%s has one rank: there is nothing to communicate", t.Name())
	}
	if err := m.measureScaleUp(t, of[0] != of[1]); err != nil {
		return m, err
	}
	if m.nodes > 1 {
		return m, m.measureNetwork(t, domains, fabric)
	}
	return m, nil
}

// measureScaleUp adds up the links from a rank to switches and to other ranks in use, or,
// where there are none, all of its links; the rank that has least limits all. Ranks that are
// alone in their nodes have nothing to send there, at any rate.
func (m *machineRates) measureScaleUp(t *topology.Topology, alone bool) error {
	for r := range m.ranks {
		if rate, via := scaleUpOf(t, r); rate > 0 && (m.scaleUp == 0 || rate < m.scaleUp) {
			m.scaleUp, m.via, m.inside = rate, fmt.Sprintf("%s of each GPU", via.Name), via.Medium.String()
		}
	}
	if m.scaleUp == 0 {
		m.scaleUp, m.inside = math.Inf(1), topology.PCIe.String()
		for r := range m.ranks {
			if !alone {
				m.scaleUp = min(m.scaleUp, allLinksOf(t, r))
			}
		}
	}
	if alone {
		return nil
	}
	route, err := topology.NewRouter(t).Route(0, 1)
	if m.hop, m.hopMore = route.Latency, float64(route.Beyond); m.via == "" {
		m.via = route.Kind.String() + " between GPUs"
	}
	return err
}

// allLinksOf is what a rank's links carry together.
func allLinksOf(t *topology.Topology, rank int) (rate float64) {
	for _, l := range t.Out(t.Ranks()[rank]) {
		rate += float64(t.Rate(l))
	}
	return rate
}

// scaleUpOf is what a rank's scale-up links carry together, and their class.
func scaleUpOf(t *topology.Topology, rank int) (rate float64, via *topology.Class) {
	for _, l := range t.Out(t.Ranks()[rank]) {
		to := t.Links()[l].To
		medium := t.Class(l).Medium
		if (medium == topology.NVLink || medium == topology.XGMI) && (t.Devices()[to].Kind == topology.NVSwitch || t.RankOf(to) >= 0) {
			rate += float64(t.Rate(l))
			via = t.Class(l)
		}
	}
	return rate, via
}

// measureNetwork finds what the NICs carry that a domain's ranks use towards another one; the domain that has
// least limits all.
func (m *machineRates) measureNetwork(t *topology.Topology, domains [][]int, fabric string) error {
	router := topology.NewRouter(t)
	if !cost.ReachesGPUs(fabric) { // what staging takes is in the kernels of such networks
		router = router.Reaching(topology.HostStaged)
	}
	m.network, m.direct = math.Inf(1), math.Inf(1)
	for d, ranks := range domains {
		nics, err := m.outOf(t, router, ranks, domains[(d+1)%len(domains)])
		if err != nil {
			return err
		}
		m.network, m.direct = min(m.network, inChannels(nics)), min(m.direct, byRanks(nics, len(ranks)))
	}
	if m.network == 0 {
		return unsupported("no NIC leads from one node of %s to another", t.Name())
	}
	m.across /= units.Time(m.ranks)
	m.acrossMore /= float64(m.ranks)
	return nil
}

// adapter is a NIC in use.
type adapter struct {
	rate  float64 // bytes/s: of its wire and slot, and of the ways to it
	rank  float64 // what the slowest way of a rank to it carries
	ways  float64 // what all of them carry
	ranks float64 // that send by it; of a rank with several NICs a part
}

// outOf are the NICs that the ranks of a domain use towards those of another, the fastest first.
func (m *machineRates) outOf(t *topology.Topology, router *topology.Router, ranks, peers []int) ([]adapter, error) {
	number := map[topology.DeviceID]int{}
	var out []adapter
	for i, r := range ranks {
		route, err := router.Route(r, peers[i%len(peers)])
		if err != nil {
			return nil, err
		}
		m.flight, m.across = max(m.flight, route.Latency), m.across+route.Latency
		m.acrossMore += float64(route.Beyond)
		for i := 0; i < len(route.NICs); i += 2 {
			nic := route.NICs[i]
			if _, seen := number[nic]; !seen {
				number[nic] = len(out)
				out = append(out, adapter{rate: nicRate(t, nic), rank: math.Inf(1)})
			}
			x, part := &out[number[nic]], 2/float64(len(route.NICs))
			way := wayOut(t, &route)
			x.rank, x.ways, x.ranks = min(x.rank, way), x.ways+way*part, x.ranks+part
		}
	}
	for i := range out {
		out[i].rate = min(out[i].rate, out[i].ways)
	}
	if t.StagedNICs() != "" { // else what comes takes other links than what goes, and each GPU its own
		if err := overMemory(t, router, ranks, peers, number, out); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b adapter) int { return cmp.Compare(b.rate, a.rate) })
	return out, nil
}

// wayOut is what the links of the sender's node carry of a transfer over the network, up to its NICs.
func wayOut(t *topology.Topology, route *topology.Route) float64 {
	rate := math.Inf(1)
	for _, h := range route.Hops {
		l := t.Links()[h.Link]
		from, to := t.Devices()[l.From], t.Devices()[l.To]
		if node := t.Devices()[route.NICs[0]].Node; from.Node == node && to.Node == node && to.Kind != topology.NIC {
			rate = min(rate, float64(t.Rate(h.Link))*float64(h.Den)/float64(h.Num))
		}
	}
	return rate
}

// overMemory limits NICs, and ranks' ways to them, to what links carry that all of a domain's transfers cross at once where these go over
// host memory, those that come as well: the way up from a PCIe switch is crossed by what its GPUs send and by what its NICs receive.
func overMemory(t *topology.Topology, router *topology.Router, ranks, peers []int, number map[topology.DeviceID]int, nics []adapter) error {
	type transfer struct {
		nic  *adapter
		hops []topology.Hop // in the domain
	}
	var all []transfer
	byNIC, byRank := map[topology.LinkID]float64{}, map[topology.LinkID]float64{} // crossings where each NIC, or each rank, moves one
	for i, r := range ranks {
		for end, pair := range [][2]int{{r, peers[i%len(peers)]}, {peers[i%len(peers)], r}} {
			route, err := router.Route(pair[0], pair[1])
			if err != nil {
				return err
			}
			n, known := number[route.NICs[end]]
			if !known { // what comes may take another, where parts have failed
				continue
			}
			x := transfer{nic: &nics[n]}
			for _, h := range route.Hops {
				l, node := t.Links()[h.Link], int32(t.NodeOf(r))
				if t.Devices()[l.From].Node == node && t.Devices()[l.To].Node == node {
					x.hops = append(x.hops, h)
					byRank[h.Link] += float64(h.Num) / float64(h.Den)
					byNIC[h.Link] += float64(h.Num) / float64(h.Den) / max(x.nic.ranks, 1)
				}
			}
			all = append(all, x)
		}
	}
	for _, x := range all {
		for _, h := range x.hops {
			rate := float64(t.Rate(h.Link))
			x.nic.rate, x.nic.rank = min(x.nic.rate, rate/byNIC[h.Link]), min(x.nic.rank, rate/byRank[h.Link])
		}
	}
	return nil
}

// inChannels is what NICs carry in channels of one rate, which rings, trees and switches' heads are: a slow one carries no
// more than its channel, or is left out where the others do better without it.
func inChannels(nics []adapter) (best float64) {
	for i, x := range nics {
		best = max(best, float64(i+1)*x.rate)
	}
	return best
}

// byRanks is what NICs carry where each of a domain's ranks sends as much by one of them: by its own, or by the fastest, which NCCL
// takes where its own is slower (ncclTopoGetLocal in src/graph/topo.cc compares rates before distances). The one that serves most
// for its rate, or the rank with the slowest way, holds up all.
func byRanks(nics []adapter, ranks int) float64 {
	own, way, shared := math.Inf(1), math.Inf(1), 0.0
	for i, x := range nics {
		own, way = min(own, x.rate/x.ranks), min(way, x.rank)
		shared = max(shared, x.rate/math.Ceil(float64(ranks)/float64(i+1)))
	}
	return min(max(own, shared), way) * float64(ranks)
}

// socketRate is what the thread that drives a rank's sockets copies to or from the kernel, bytes/s. It is derived from what
// was measured over adapters that carry more: two T4 with a socket each
// take 2.0 GB/s of 6, Polaris and Alps with four GPUs a node 9 and 5 of 50 and 100 (series aws-g4dn-tcp, polaris-tcp, alps-tcp).
const socketRate = 2.2e9

// flagRate is more than the thread that sends for a rank passes on of LL's messages, bytes/s with their flags: NCCL leaves them in
// host memory and looks at both flags of every 16 bytes before an adapter may have them (sendProxyProgress in src/transport/net.cc).
// The fastest measured takes 14 GB/s with all latencies (series gcp-a3ultra-1g-2n-ar).
const flagRate = 20e9

// bySenders limits a network to what the threads of a node that send have time for, whatever the adapters carry.
func (m *machineRates) bySenders(rate float64, who string) {
	if rate < m.network {
		m.network, m.exits = rate, who
	}
	m.direct = min(m.direct, rate)
}

// nicRate is what a NIC puts on the network: at most what its PCIe slot carries.
func nicRate(t *topology.Topology, nic topology.DeviceID) float64 {
	var wire, slot float64
	for _, l := range t.Out(nic) {
		if t.Class(l).Medium == topology.Network {
			wire += float64(t.Rate(l))
		}
	}
	for _, l := range t.In(nic) {
		if t.Class(l).Medium == topology.PCIe {
			slot += float64(t.Rate(l))
		}
	}
	if slot > 0 {
		return min(wire, slot)
	}
	return wire
}
