package cost

import "math"

// Band is how far predictions were off on machines that their kernels had not seen: 85 to 95 % of rows lay within.
type Band struct {
	Across  string  `file:"across,need"`                // what messages cross: box, pcie, network
	Basis   string  `file:"basis,need"`                 // where the kernel came from: see Bases
	Latency float64 `file:"latency,lo=1,hi=1073741824"` // factor, either way, of times that move no bytes
	Between float64 `file:"between,lo=1,hi=1073741824"` // of times of which half moves bytes: where protocols and pipelines change
	Bytes   float64 `file:"bytes,lo=1,hi=1073741824"`   // of times that do nothing else
	Rows    int     `file:"rows"`
	Systems int     `file:"systems"`
}

// Classes are the media that machines' kernels cross, as far as their predictions are as good as one another.
const (
	InBox    = "box" // NVLink, Infinity Fabric
	OverPCIe = "pcie"
	Across   = AnyNetwork
)

// ClassOf is the class of what a kernel crosses.
func ClassOf(over string) string {
	switch over {
	case "nvlink", "xgmi":
		return InBox
	case "pcie", HostMemory:
		return OverPCIe
	}
	return Across
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

// Band is that of a class and basis; nil where none is known.
func (p *Profile) Band(class, basis string) *Band {
	for i := range p.Bands {
		if b := &p.Bands[i]; b.Across == class && b.Basis == basis {
			return b
		}
	}
	return nil
}

// Factor is by how much a time may be off of which a share moves no bytes.
func (b *Band) Factor(latency float64) float64 {
	end, share := b.Bytes, 2*latency
	if latency > 0.5 {
		end, share = b.Latency, 2-share
	}
	return math.Exp(share*math.Log(b.Between) + (1-share)*math.Log(end))
}
