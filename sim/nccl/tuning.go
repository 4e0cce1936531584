package nccl

import (
	"math/bits"

	"railyard/model/collective"
)

// tune fills the tables of latency and bandwidth (ncclTopoTuneModel).
func (m *Model) tune() {
	for i, k := range kinds {
		for a := range numAlgos {
			for p := range numProtos {
				if offers(k, a, p) && m.enabled(a, p) {
					m.bw[i][a][p] = m.algBW(k, a, p)
					m.latency[i][a][p] = m.microseconds(k, a, p)
				}
			}
		}
	}
}

// graphOf is the graph that an algorithm runs on.
func (m *Model) graphOf(a Algo) *channels {
	switch a {
	case Ring:
		return m.ring
	case NVLS, NVLSTree:
		return m.nvls
	}
	return m.tree
}

// enabled reports whether NCCL would use an algorithm and protocol here at all.
func (m *Model) enabled(a Algo, p Proto) bool {
	switch a {
	case CollNetDirect, CollNetChain:
		if m.nNodes == 1 || !m.collNet {
			return false
		}
	case NVLS: // across nodes it needs CollNet
		if m.nNodes > 1 && !m.collNet || m.nvls.n < 2 {
			return false
		}
	case NVLSTree:
		if m.nNodes == 1 || m.nvls.n < 2 {
			return false
		}
	case PAT: // one GPU a node
		if m.nNodes != m.nRanks || m.m.ccMin < 60 {
			return false
		}
	}
	return p != LL128 || m.mayLL128(m.graphOf(a))
}

// mayLL128 reports whether 128-byte stores arrive whole on all paths: NVLink inside,
// PCIe at most (on Hopper another GPU, too) to the NIC.
func (m *Model) mayLL128(c *channels) bool {
	farthest := pathPXB
	if m.m.ccMin >= 90 {
		farthest = pathPXN
	}
	alike := m.m.ccMin == m.m.ccMax || m.m.ccMin >= 90
	return m.m.ccMin >= 70 && alike && c.typeIntra <= pathNVB && c.typeInter <= farthest
}

// scale is the index into limits: one node, two, more.
func (m *Model) scale() int { return min(m.nNodes, 3) - 1 }

// ppn is the mean number of ranks a node.
func (m *Model) ppn() float64 { return float64(m.nRanks) / float64(m.nNodes) }

// steps is how often a byte is passed on.
func (m *Model) steps(k collective.Kind) int {
	switch k {
	case collective.AllReduce:
		return 2 * (m.nRanks - 1)
	case collective.AllGather, collective.ReduceScatter:
		return m.nRanks - 1
	}
	return m.nRanks
}

// algBW is bytes over time without latency, GB/s.
func (m *Model) algBW(k collective.Kind, a Algo, p Proto) float64 {
	bus := m.busBW(k, a, p)
	switch {
	case a != Ring && k != collective.AllReduce:
		return bus // NCCL converts only rings here
	case a == Tree || a == CollNetDirect || a == CollNetChain:
		return bus / 2
	}
	return bus * float64(m.nRanks) / float64(m.steps(k))
}

// busBW is what the channels carry together, GB/s.
func (m *Model) busBW(k collective.Kind, a Algo, p Proto) float64 {
	c := m.graphOf(a)
	perChannel := c.bwInter
	if m.nNodes <= 2 {
		perChannel = c.bwIntra
	}
	switch a {
	case CollNetDirect, CollNetChain:
		return m.collNetBW(k, a)
	case Ring:
		return m.ringBW(float64(c.n)*perChannel, p)
	case Tree:
		return m.treeBW(float64(c.n)*perChannel, p)
	case PAT:
		return float64(c.n) * perChannel * 0.75
	}
	return float64(c.n) * m.nvlsBW(k, a)
}

func (m *Model) ringBW(bus float64, p Proto) float64 {
	gen, n := generations[generationOf(m.m.ccMin)], float64(m.ring.n)
	switch p {
	case LL:
		return min(m.llMax(), bus/2)
	case LL128:
		return min(bus*0.92, n*gen.ringLL128[m.scale()])
	}
	return bus
}

func (m *Model) treeBW(bus float64, p Proto) float64 {
	gen, n := generations[generationOf(m.m.ccMin)], float64(m.tree.n)
	bus = min(bus*0.92, n*gen.tree[m.scale()])
	switch p {
	case LL:
		bus = min(bus/3.8, m.llMax())
	case LL128:
		share := 120.0 / 128
		if m.nNodes == 1 {
			share = 7.0 / 9
		}
		bus = min(bus*share, n*gen.treeLL128[m.scale()])
	}
	if m.tree.pattern == plainTree {
		bus *= 0.85
	}
	return bus
}

// nvlsBW is a channel's: what the switch and the network let through.
func (m *Model) nvlsBW(k collective.Kind, a Algo) float64 {
	gen, c := generations[generationOf(m.m.ccMin)], m.nvls
	intra := c.bwIntra * gen.nvlsEfficiency * float64(c.n-1) / float64(c.n)
	if k == collective.AllReduce {
		intra *= 2 // reduction and multicast overlap
	} else {
		intra *= (m.ppn() - 1) / m.ppn()
	}
	inter := c.bwInter
	if a != NVLSTree {
		return min(intra, inter)
	}
	if m.nNodes <= 2 {
		inter *= 2
	}
	return min(intra, inter, gen.nvlsTree[m.scale()])
}

// llMax is LL's limit: by GPU in a node, by CPU across nodes.
func (m *Model) llMax() float64 {
	row := generationOf(m.m.ccMin)
	if m.nNodes > 1 {
		row = 0
		if m.m.cpu == AMD {
			row = 1
		}
	}
	return generations[row].llMax[m.scale()]
}

// microseconds is the latency of a collective.
func (m *Model) microseconds(k collective.Kind, a Algo, p Proto) float64 {
	base, intra, inter := baseLatency[a][p], m.step(m.within(a), a, p), m.interLatency(a, p)
	levels := float64(log2(m.nNodes))
	switch a {
	case Ring:
		return base + m.ringLatency(k, p, inter)
	case Tree:
		return base + 2*(float64(m.nRanks/m.nNodes-1)*intra+levels*inter)
	case CollNetDirect, CollNetChain:
		return m.collNetLatency(a, intra, inter)
	case NVLS:
		if m.nNodes > 1 {
			intra += inter
		}
		return intra
	case NVLSTree:
		return intra + 2*levels*inter
	}
	return base + levels*inter/3.5 + 2.8*float64(m.nRanks)
}

func (m *Model) ringLatency(k collective.Kind, p Proto, inter float64) float64 {
	n := float64(m.steps(k))
	if k == collective.Broadcast || k == collective.Reduce {
		over := m.within(Ring)
		if m.nNodes > 1 {
			over = overNet
		}
		switch {
		case m.ring.same:
			return m.step(over, Ring, p)
		case p == Simple:
			return n * m.step(over, Tree, p)
		}
		return n * m.step(over, Ring, p)
	}
	intra, crossings := m.step(m.within(Ring), Ring, p), 0.0
	if m.nNodes > 1 {
		intra = max(intra, m.postCost(p))
		crossings = float64(m.nNodes - 1)
		if k == collective.AllReduce {
			crossings *= 2
		}
	}
	return (n-crossings)*intra + crossings*inter
}

// postCost is the time to post a network operation; Simple posts three.
func (m *Model) postCost(p Proto) float64 {
	if p == Simple {
		return 3 * m.m.cpu.netOverhead()
	}
	return m.m.cpu.netOverhead()
}

// within is what steps inside a node go over.
func (m *Model) within(a Algo) hardware {
	if m.graphOf(a).typeIntra == pathNVL {
		return overNVLink
	}
	return overPCI
}

func (m *Model) step(h hardware, a Algo, p Proto) float64 {
	if h == overPCI && a == Tree && p == Simple && m.m.cpu == POWER {
		a = Ring
	}
	return stepLatency[h][a][p]
}

// interLatency is a step's between nodes: with one GPU a node nothing hides it. NCCL adds the NIC's latency as the
// network plugin reports it; InfiniBand's gives 0.
func (m *Model) interLatency(a Algo, p Proto) float64 {
	if m.nRanks == m.nNodes {
		a = Tree
	}
	return stepLatency[overNet][a][p]
}

// log2 is the logarithm rounded down, −1 for 0.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
