package nccl

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/topology"
)

// CollNet is NCCL's name for reductions by the network (SHARP on InfiniBand): tuning.cc
// has a chain of GPUs to the NIC, every GPU with its own part (Direct), and NVLS in front
// of the network. NCCL leaves it out unless NCCL_COLLNET_ENABLE=1. Its search for heads
// (COLLNET_DIRECT in search.cc) is not modelled: the channels are those of trees.

// reducingNetwork fails where the switches next to the NICs do not reduce.
func (m *Model) reducingNetwork(t *topology.Topology) error {
	if m.nNodes < 2 {
		return fmt.Errorf("CollNet is for several nodes: there is one")
	}
	found := false
	for _, d := range t.Devices() {
		if d.Kind != topology.Leaf {
			continue
		}
		if found = true; d.Model < 0 || !t.Models()[d.Model].Reduction {
			return fmt.Errorf("CollNet needs switches that reduce: those next to the NICs do not (reduction: true in their model)")
		}
	}
	if !found {
		return fmt.Errorf("CollNet needs switches that reduce: there are none next to the NICs")
	}
	return nil
}

// collNetBW is what the channels carry together, GB/s.
func (m *Model) collNetBW(k collective.Kind, a Algo) float64 {
	c := m.tree
	bus := float64(c.n) * c.bwIntra
	switch {
	case a == CollNetChain:
		return bus
	case k != collective.AllReduce:
		return m.ppn() * min(c.bwIntra, 0.9*c.bwInter)
	}
	perNIC := m.ppn() / float64(c.n) // GPUs; all need one of their own to run at full speed
	perNIC -= (perNIC - 1) / 2
	if bus /= perNIC; m.m.ccMin >= 90 {
		bus *= 0.85
	}
	return bus
}

// aritySerialisation is what each further peer of a head adds, µs.
const aritySerialisation = 0.4

// collNetLatency is up and down inside the node, and once through the network.
func (m *Model) collNetLatency(a Algo, intra, inter float64) float64 {
	others := float64(m.nRanks/m.nNodes - 1)
	if a == CollNetChain {
		return 2*others*intra + inter
	}
	return 2*(min(1, others)*intra+others*aritySerialisation) + inter
}
