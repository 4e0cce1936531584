package cost

import (
	"maps"
	"slices"
	"strings"

	"railyard/model/topology"
)

// Fabrics are the kinds of networks between nodes that kernels are told apart by, because
// a message over them costs differently: InfiniBand; RoCE; EFA, and EFA from its second
// version on; Google's TCPX and TCPXO; TCP sockets without RDMA; Slingshot; Omni-Path.
var Fabrics = []string{"ib", "roce", "efa", "efa2", "tcpx", "tcpxo", "tcp", "slingshot", "opa"}

// Sockets is the network that goes through the hosts' kernels.
const Sockets = "tcp"

// fabricNames are other names of them.
var fabricNames = map[string]string{"infiniband": "ib", "socket": "tcp", "sockets": "tcp", "eth": "tcp", "ethernet": "tcp",
	"cxi": "slingshot", "omnipath": "opa", "omni-path": "opa"}

// FabricNamed is the kind of network with a name; false where there is none.
func FabricNamed(name string) (string, bool) {
	name = strings.ToLower(name)
	if other := fabricNames[name]; other != "" {
		name = other
	}
	return name, slices.Contains(Fabrics, name)
}

// ReachesGPUs reports whether a network's adapters read and write GPU memory. Sockets copy, and NCCL's verbs have no
// GPUDirect on Omni-Path.
func ReachesGPUs(fabric string) bool { return fabric != Sockets && fabric != "opa" }

// FabricOf is the kind of a topology's network, as the class of the NICs' links is named (hdr200,
// roce400, efa2-100), else any.
func FabricOf(t *topology.Topology) string {
	for l := range t.Links() {
		if c := t.Class(topology.LinkID(l)); c.Medium == topology.Network {
			return fabricNamed(c.Name)
		}
	}
	return AnyNetwork
}

// infiniBand are the names of its speeds.
var infiniBand = []string{"ib", "sdr", "ddr", "qdr", "fdr", "edr", "hdr", "ndr", "xdr"}

// fabricNamed is the kind of network that a link class is named for: its letters before
// the rate.
func fabricNamed(class string) string {
	class = strings.ToLower(class)
	best := AnyNetwork
	long := 0 // the longest name that it begins with
	for _, f := range append(slices.Sorted(maps.Keys(fabricNames)), Fabrics...) {
		if strings.HasPrefix(class, f) && len(f) > long {
			best, _ = FabricNamed(f)
			long = len(f)
		}
	}
	if slices.ContainsFunc(infiniBand, func(p string) bool { return strings.HasPrefix(class, p) }) {
		return "ib"
	}
	return best
}
