package nccl

import (
	"math"
	"math/bits"

	"railyard/model/units"
)

// reckoned is what NCCL reckons with that a channel carries to a peer across the network, GB/s (NCCL_P2P_PER_CHANNEL_NET_BW in
// src/graph/paths.cc of NCCL 2.30.7), and channelToPeer what it does carry at best, bytes/s: B200 and H100 send 15 GB/s
// by one channel and 26 by two (series dgxc-b200-16n-sendrecv, dgxc-b200-8n-sendrecv, cnode3-10n).
const (
	reckoned      = 14
	channelToPeer = 15.3e9
)

// peersTogether is how many peers a channel serves at once (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
const peersTogether = 8

// toPeer is what a rank sends at most to one peer across the network, bytes/s: NCCL takes as many channels as fill the
// adapter, and halves them until all peers fit into one round of its channels (ncclTopoComputeP2pChannels).
func (m *Model) toPeer() float64 {
	all := powerAbove(m.nChannels)
	n := powerAbove(max(int(math.Ceil(m.nicBW/reckoned)), 1))
	for n > 1 && n*((m.nRanks+peersTogether-1)/peersTogether) > all {
		n /= 2
	}
	return float64(n) * channelToPeer
}

// sendPart is what a channel takes of a message inside a node before another one helps, in slots (calcP2pChannelCount in
// src/enqueue.cc).
const sendPart = 32

// What one channel sends over NVLink, bytes/s, as messages show that few channels share: before Hopper (series
// liplus-a100x8-sendrecv, leonardo-1n-2g-sendrecv) and from it on (cnode3-1n-4g-sr, cnode3-1n-8g-sr); and in CUDA graphs, where
// buffers are registered and nothing is copied into slots (h200-nccl: 316 GB/s by eight).
const (
	perSender      = 14e9
	perSenderSM90  = 20.5e9
	perSenderGraph = 40e9
)

// toNeighbour is what a rank sends at most to one other of its node, bytes/s: channels are shared out among all ranks, and
// doubled as long as a part of the message is large.
func (m *Model) toNeighbour(size, slot units.Bytes, graph bool) float64 {
	all := powerAbove(m.nChannels)
	n := max(all/powerAbove(m.nRanks), 1)
	for n < all && int64(size) > int64(n)*int64(sendPart*slot) {
		n *= 2
	}
	switch {
	case graph:
		return float64(n) * perSenderGraph
	case m.m.ccMin >= 90:
		return float64(n) * perSenderSM90
	}
	return float64(n) * perSender
}

// powerAbove is the least power of two that is not below n.
func powerAbove(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
