package cost

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/units"
)

// Normal is the share of machines that bands hold: what lies outside is not normal.
const Normal = 0.9

// Band is how far predictions were off on machines that their kernels had not seen: Normal of those lay within.
type Band struct {
	Across  string `file:"across,need"` // what messages cross: see BandMedia
	Basis   string `file:"basis,need"`  // where the kernel came from: see Bases
	Ranks   int    `file:"ranks"`       // from so many on
	Factors []Off  `file:"off,some"`    // by size; between sizes their logarithms lie on a line
	Rows    int    `file:"rows"`
	Systems int    `file:"systems"`
}

// Off is by which factor, either way, times of a size may be off.
type Off struct {
	Size   units.Bytes `file:"size,some,ascends"`
	Factor float64     `file:"factor,some,lo=1,hi=1073741824"`
}

// BandSizes are the sizes that bands are fitted at, each 16 times the one before. Errors differ by sizes more than by
// what share of a time moves bytes: most where protocols and pipelines change.
var BandSizes = []units.Bytes{4 * units.KiB, 64 * units.KiB, units.MiB, 16 * units.MiB, 256 * units.MiB}

// BandRanks are the numbers of ranks from which on bands are fitted: where many share a network, their slowest part and what they
// share decide, which differ more from one cluster to the next than links do.
var BandRanks = []int{0, 64}

// Classes are the media that machines' kernels cross, as far as their predictions are as good as one another.
const (
	InBox    = "box" // NVLink, Infinity Fabric
	OverPCIe = "pcie"
	Across   = AnyNetwork
)

// ClassOf is the class of what a kernel crosses.
func ClassOf(over string) string {
	switch over {
	case "nvlink", "xgmi", Rack:
		return InBox
	case "pcie", HostMemory:
		return OverPCIe
	}
	return Across
}

// Transports are what drives a network's adapters for NCCL: verbs, a libfabric plugin, or threads that copy from and to sockets.
const (
	Verbs     = "verbs"
	Libfabric = "libfabric"
	Copying   = "sockets"
)

// TransportOf is what drives a network's adapters; "" for networks that are not known, and inside nodes.
func TransportOf(over string) string {
	switch over {
	case "ib", "roce":
		return Verbs
	case "efa", "efa2", "slingshot", "opa":
		return Libfabric
	case Sockets, "tcpx", "tcpxo":
		return Copying
	}
	return ""
}

// Rack is NVLink over several nodes.
const Rack = "rack"

// BandMedia are what has bands of its own. Networks share theirs, as PCIe and host memory do: most were measured on few systems, which
// differ more than networks do.
var BandMedia = []string{"nvlink", Rack, "xgmi", OverPCIe, Across}

// BandMedium is the one of BandMedia that a kernel crosses in so many nodes.
func BandMedium(over string, nodes int) string {
	switch class := ClassOf(over); {
	case class != InBox:
		return class
	case over == "nvlink" && nodes > 1:
		return Rack
	}
	return over
}

// Bases are where a prediction comes from, the best first: a kernel of this machine for this collective, the same
// beyond the sizes that it was fitted on, one of another collective or of all machines together, the library's own
// estimate; and last a launch floor.
const (
	OwnKernel    = "own"
	Extrapolated = "extrapolated"
	OtherKernel  = "other"
	OwnEstimate  = "estimate"
	LaunchFloor  = "floor"
)

// Bases are all of them.
var Bases = []string{OwnKernel, Extrapolated, OtherKernel, OwnEstimate, LaunchFloor}

// Band is that of a medium (BandMedium) and basis with so many ranks; nil where none is known.
func (p *Profile) Band(medium, basis string, ranks int) (best *Band) {
	for i := range p.Bands {
		if b := &p.Bands[i]; b.Across == medium && b.Basis == basis && b.Ranks <= ranks && (best == nil || best.Ranks < b.Ranks) {
			best = b
		}
	}
	return best
}

// Factor is by how much the time of a size may be off, either way.
func (b *Band) Factor(size units.Bytes) float64 {
	i, exact := slices.BinarySearchFunc(b.Factors, size, func(x Off, size units.Bytes) int { return cmp.Compare(x.Size, size) })
	if exact || i == 0 {
		return b.Factors[i].Factor
	}
	low := b.Factors[i-1]
	if i == len(b.Factors) {
		return low.Factor
	}
	next := b.Factors[i]
	share := math.Log(float64(size)/float64(low.Size)) / math.Log(float64(next.Size)/float64(low.Size))
	return low.Factor * math.Pow(next.Factor/low.Factor, share)
}
