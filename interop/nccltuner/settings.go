package nccltuner

import (
	"fmt"
	"math/bits"
	"strconv"

	"railyard/interop/foreign"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Settings are the variables of NCCL (2.30, src/graph/paths.cc, src/transport/net.cc, src/init.cc) that a topology gives a
// reason for to differ from NCCL's own choice; none for most machines.
func Settings(t *topology.Topology) (out []foreign.Setting) {
	x := &settings{t: t, router: topology.NewRouter(t)}
	for _, find := range []func() (name, value, why string){x.peers, x.verbs, x.gpuDirect, x.buffer} {
		if name, value, why := find(); name != "" {
			out = append(out, foreign.Setting{Name: name, Value: value, Why: why})
		}
	}
	return out
}

// settings finds reasons.
type settings struct {
	t      *topology.Topology
	router *topology.Router
}

// peers are GPUs of the first node that are joined by PCIe alone: NCCL's usual limit for peer-to-peer is a host bridge.
func (x *settings) peers() (name, value, why string) {
	pairs, staged, farthest := 0, 0, topology.Local
	for a := range x.t.NumRanks() {
		for b := range a {
			if x.t.NodeOf(a) != 0 || x.t.NodeOf(b) != 0 {
				continue
			}
			r, err := x.router.Route(a, b)
			if err != nil {
				return "", "", ""
			}
			if pairs++; r.Kind == topology.HostStaged {
				staged++
			}
			farthest = max(farthest, r.Kind)
		}
	}
	switch {
	case pairs > 0 && staged == pairs:
		return "NCCL_P2P_DISABLE", "1", "the topology says that PCIe peer-to-peer does not work between these GPUs (p2p: false)"
	case farthest == topology.PHB:
		return "NCCL_P2P_LEVEL", "PHB", "GPUs reach one another through one CPU, where the topology says that peer-to-peer works; " +
			"by itself NCCL stops at host bridges"
	}
	return "", "", ""
}

// verbs are of no use where the network is no RDMA network.
func (x *settings) verbs() (name, value, why string) {
	if x.t.NumNodes() < 2 || cost.FabricOf(x.t) != cost.Sockets {
		return "", "", ""
	}
	return "NCCL_IB_DISABLE", "1", "the network's links are Ethernet without RDMA: NCCL goes to sockets at once"
}

// gpuDirect is what the topology says, or reaches through a CPU where all adapters hang on that of their GPUs.
func (x *settings) gpuDirect() (name, value, why string) {
	if x.t.NumNodes() < 2 || !cost.ReachesGPUs(cost.FabricOf(x.t)) {
		return "", "", ""
	}
	if level := x.t.GDRLevel(); level != topology.GDRLevel {
		return "NCCL_NET_GDR_LEVEL", level.String(), "so far adapters reach GPU memory on this machine (gdr_level of its topology), " +
			"which plans and predictions count on"
	}
	if x.t.StagedNICs() == "" {
		return "", "", ""
	}
	for rank := range x.t.NumRanks() {
		for _, p := range x.router.NICs(rank) {
			if !p.GPUDirect(topology.PHB) {
				return "", "", ""
			}
		}
	}
	return "NCCL_NET_GDR_LEVEL", "PHB", "adapters are attached to the CPU of their GPUs, farther than NCCL allows GPUDirect RDMA by " +
		"default; leave this out where that CPU forwards peer-to-peer traffic slowly"
}

// bufferSize is NCCL_BUFFSIZE by itself: what a channel has under way at most.
const bufferSize = 4 * units.MiB

// buffer is what the way between nodes holds, where that is more than a channel has under way: with one channel an adapter it
// would run dry.
func (x *settings) buffer() (name, value, why string) {
	var need units.Bytes
	for rank := 1; rank < x.t.NumRanks(); rank++ {
		if x.t.NodeOf(rank) == x.t.NodeOf(0) {
			continue
		}
		if r, err := x.router.Route(0, rank); err == nil && r.Kind == topology.Net {
			need = max(need, units.Bytes(float64(r.Rate)*2*r.Latency.Seconds()))
		}
	}
	if need <= bufferSize {
		return "", "", ""
	}
	need = (need + units.MiB - 1) / units.MiB * units.MiB
	return "NCCL_BUFFSIZE", strconv.FormatInt(1<<bits.Len64(uint64(need-1)), 10),
		fmt.Sprintf("the longest path between nodes holds %v in flight (rate × round trip), and NCCL's %v a channel do not fill it", need,
			bufferSize)
}
