package nccl

import (
	"math/bits"

	"railyard/model/units"
)

// reckoned is what NCCL reckons with that a channel carries to a peer across the network, GB/s (NCCL_P2P_PER_CHANNEL_NET_BW in
// src/graph/paths.cc of NCCL 2.30.7).
const reckoned = 14

// channelsPerPeer is how many channels a send gets that fill the way to any other rank: two for each NVLink between them or for
// PCIe, and across the network those that the GPU's adapters need, one each at least. It is the least of all pairs, since all ranks
// agree on one number (ncclTopoComputeP2pChannelsPerPeer, and init.cc after AllGather3).
func (s *system) channelsPerPeer() int {
	least := maxChannels
	for _, gpu := range s.of[vGPU] {
		if s.inter {
			least = min(least, s.channelsToNet(gpu))
		}
		for peer, p := range gpu.paths[vGPU] {
			switch {
			case peer == gpu.index:
			case p.kind == pathNVL || p.kind == pathNVB:
				least = min(least, 2*max(1, int(p.bw/nvlinkBW(gpu.cc))))
			default:
				least = min(least, 2)
			}
		}
	}
	return least
}

// channelsToNet are those that a GPU's own adapters need, as many of them as its way to the host fills
// (ncclTopoGetLocalNetCountByBw).
func (s *system) channelsToNet(gpu *vertex) int {
	nets, rate, first := 0, 0.0, s.localNet(gpu, 0)
	cpu := s.localCPU(gpu)
	for c := range maxChannels {
		net := s.localNet(gpu, c)
		if net < 0 || c > 0 && net == first || cpu != nil && c > 0 && rate >= gpu.paths[vCPU][cpu.index].bw {
			break
		}
		nets, rate = nets+1, rate+gpu.paths[vNET][net].bw
	}
	if nets == 0 {
		return 2
	}
	return max(nets, (int(rate)+reckoned-1)/reckoned)
}

// peersTogether is how many peers a channel serves at once (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
const peersTogether = 8

// sendChannels are those of a message to one peer: all of them take part in one round for all peers; more are taken where a
// channel's part would be large (ncclTopoComputeP2pChannels, addP2pToPlan and scheduleP2pTasksToPlan in src/enqueue.cc). NCCL rounds
// those of small messages up; a part of one is taken here, so that no message takes longer than a larger one.
func (m *Model) sendChannels(size units.Bytes) float64 {
	all, most := powerAbove(m.nChannels), powerAbove(m.perPeer)
	slot := 512 * units.KiB // NCCL_P2P_NVL_CHUNKSIZE
	smallest, largest := slot/8, 32*slot
	if m.nNodes > 1 {
		for most > 1 && most*((m.nRanks+peersTogether-1)/peersTogether) > all {
			most /= 2
		}
		slot = 128 * units.KiB // NCCL_P2P_NET_CHUNKSIZE; twice that on GBx, which has four GPUs a host (computeBuffSizes in src/init.cc)
		if m.m.cpu == ARM && m.m.ccMin >= 100 {
			slot *= 2
		}
		smallest, largest = slot/2, slot
	}
	most = min(most, all)
	n := most
	for n > 1 && n*m.nRanks > all {
		n /= 2
	}
	for n <= most/2 && size > units.Bytes(n)*largest {
		n *= 2
	}
	return min(float64(n), max(float64(size)/float64(smallest), 1))
}

// manyChunks is a message for which all channels that a peer may have are taken.
const manyChunks = units.Bytes(1) << 50

// What one channel sends, bytes/s, as messages show that few channels share. Across the network: B200 and H100 send 15.2 and
// 17.2 GB/s by one channel, 25.7 and 34.2 by two (series dgxc-b200-*n-sendrecv, cnode3-10n-*-sr, slinky-b200-*n-sendrecv): whether
// channels hinder one another differs from system to system. Over NVLink: before Hopper (series liplus-a100x8-sendrecv,
// leonardo-1n-2g-sendrecv) and from it on (cnode3-1n-4g-sr, cnode3-1n-8g-sr); and in CUDA graphs, where buffers are registered and
// nothing is copied into slots (h200-nccl: 316 GB/s by eight).
const (
	perSenderNet   = 15.3e9
	perSender      = 14e9
	perSenderSM90  = 20.5e9
	perSenderGraph = 40e9
)

// toPeer is what a rank sends at most to one other, bytes/s.
func (m *Model) toPeer(size units.Bytes, graph bool) float64 {
	n := m.sendChannels(size)
	switch {
	case m.nNodes > 1:
		return n * perSenderNet
	case graph:
		return n * perSenderGraph
	case m.m.ccMin >= 90:
		return n * perSenderSM90
	}
	return n * perSender
}

// powerAbove is the least power of two that is not below n.
func powerAbove(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
