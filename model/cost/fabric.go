package cost

import (
	"slices"
	"strings"

	"railyard/model/topology"
)

// Fabrics are the kinds of networks between nodes that kernels are told apart by, because
// a message over them costs differently: InfiniBand; RoCE; EFA, and EFA from its second
// version on; Google's TCPX and TCPXO.
var Fabrics = []string{"ib", "roce", "efa", "efa2", "tcpx", "tcpxo"}

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
	for _, f := range Fabrics {
		if strings.HasPrefix(class, f) && (best == AnyNetwork || len(f) > len(best)) {
			best = f
		}
	}
	if slices.ContainsFunc(infiniBand, func(p string) bool { return strings.HasPrefix(class, p) }) {
		return "ib"
	}
	return best
}
