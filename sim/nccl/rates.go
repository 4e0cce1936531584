package nccl

import (
	"fmt"
	"math"

	"railyard/model/topology"
	"railyard/model/units"
)

// machineRates are the line rates of what ranks share.
type machineRates struct {
	ranks, nodes int
	scaleUp      float64    // bytes/s out of a rank, inside its node
	inSwitch     float64    // share of scaleUp that in-switch reduction reaches at best
	network      float64    // bytes/s out of a node
	hop          units.Time // of a message inside a node, by its links' latencies
	flight       units.Time // of a message across the network: the longest
	across       units.Time // the mean
	reducing     bool       // the network's switches reduce
	via          string     // what scaleUp is
	inside, over string     // what a kernel crosses in a node, and in all (cost.KernelKey.Over)
}

// ratesOf measures a topology; nodes is the number of scale-up domains.
func ratesOf(t *topology.Topology, nodes int) (machineRates, error) {
	m := machineRates{ranks: t.NumRanks(), nodes: nodes, inSwitch: 1}
	if m.ranks < 2 {
		return m, fmt.Errorf("%s has one rank: there is nothing to communicate", t.Name())
	}
	if err := m.measureScaleUp(t); err != nil {
		return m, err
	}
	if nodes > 1 {
		return m, m.measureNetwork(t)
	}
	return m, nil
}

// measureScaleUp adds up the links from a rank to switches and to other ranks in use, or,
// where there are none, all of its links; the rank that has least limits all. Ranks that are
// alone in their nodes have nothing to send there, at any rate.
func (m *machineRates) measureScaleUp(t *topology.Topology) error {
	for r := range m.ranks {
		if rate, via := scaleUpOf(t, r); rate > 0 && (m.scaleUp == 0 || rate < m.scaleUp) {
			m.scaleUp, m.via, m.inside = rate, fmt.Sprintf("%s of each GPU", via.Name), via.Medium.String()
		}
	}
	alone := t.NodeOf(1) != t.NodeOf(0)
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
	if m.hop = route.Latency; m.via == "" {
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

// measureNetwork adds up the NICs that a node's ranks use towards another node; the node
// that has least limits all.
func (m *machineRates) measureNetwork(t *topology.Topology) error {
	router, count := topology.NewRouter(t), units.Time(m.ranks)
	for first := 0; first < m.ranks; {
		after := first
		for after < m.ranks && t.NodeOf(after) == t.NodeOf(first) {
			after++
		}
		rate, err := m.outOf(t, router, first, after)
		if err != nil {
			return err
		}
		if rate == 0 {
			return fmt.Errorf("no NIC leads from one node of %s to another", t.Name())
		}
		if m.network == 0 || rate < m.network {
			m.network = rate
		}
		first = after
	}
	m.across /= count
	return nil
}

// outOf is what the NICs carry that the ranks from first to before after use towards
// those of the next node.
func (m *machineRates) outOf(t *topology.Topology, router *topology.Router, first, after int) (rate float64, err error) {
	seen := map[topology.DeviceID]bool{}
	for r := first; r < after; r++ {
		route, err := router.Route(r, (r+after-first)%m.ranks)
		if err != nil {
			return 0, err
		}
		m.flight, m.across = max(m.flight, route.Latency), m.across+route.Latency
		for i := 0; i < len(route.NICs); i += 2 {
			if nic := route.NICs[i]; !seen[nic] {
				seen[nic] = true
				rate += nicRate(t, nic)
			}
		}
	}
	return rate, nil
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
