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
	exchange     float64    // the same where everybody sends to everybody; 0: no less
	inSwitch     float64    // share of scaleUp that in-switch reduction reaches at best
	network      float64    // bytes/s out of a node
	flight       units.Time // of a message across the network
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

// measureScaleUp adds up the links from a rank to switches and to other ranks in use; the
// rank that has least limits all. Where there are none, it is PCIe or memory.
func (m *machineRates) measureScaleUp(t *topology.Topology) error {
	for r := range m.ranks {
		if rate, via := scaleUpOf(t, r); rate > 0 && (m.scaleUp == 0 || rate < m.scaleUp) {
			m.scaleUp, m.via, m.inside = rate, fmt.Sprintf("%s of each GPU", via.Name), via.Medium.String()
		}
	}
	if m.scaleUp > 0 || t.NodeOf(1) != t.NodeOf(0) {
		return nil
	}
	return m.measureShared(t)
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

// measureShared finds what a ring and an exchange between all ranks leave to each rank
// where they share PCIe switches, host bridges and sockets.
func (m *machineRates) measureShared(t *topology.Topology) error {
	router := topology.NewRouter(t)
	ring, all := map[topology.LinkID]float64{}, map[topology.LinkID]float64{}
	for i := range m.ranks {
		for d := 1; d < m.ranks; d++ {
			route, err := router.Route(i, (i+d)%m.ranks)
			if err != nil {
				return err
			}
			m.via = route.Kind.String() + " between GPUs"
			for _, h := range route.Hops {
				share := float64(h.Num) / float64(h.Den)
				all[h.Link] += share / float64(m.ranks-1)
				if d == 1 {
					ring[h.Link] += share
				}
			}
		}
	}
	m.inside = topology.PCIe.String()
	m.scaleUp, m.exchange = slowest(t, ring), slowest(t, all)
	return nil
}

// slowest is the rate at which the fullest link lets every rank send.
func slowest(t *topology.Topology, load map[topology.LinkID]float64) float64 {
	rate := math.Inf(1)
	for l, x := range load {
		rate = min(rate, float64(t.Rate(l))/x)
	}
	return rate
}

// measureNetwork adds up the NICs that a node's ranks use towards another node; the node
// that has least limits all.
func (m *machineRates) measureNetwork(t *topology.Topology) error {
	router := topology.NewRouter(t)
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
		m.flight = max(m.flight, route.Latency)
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
