package cost

import (
	"cmp"

	"railyard/model/units"
)

// LL is the protocol that sends a flag beside each four bytes.
const LL = "ll"

// Estimate is how far the library's own estimates are off over a medium on machines that it was not made on.
// Corrected they are
//
//	Latency·l·(1 + size/(size+FillFrom)) + Bytes·Flags·b
//
// where l is the part that moves no bytes, b the rest, and Flags is 1 but for LL, of which the library expects too much from
// 64 KiB on: what a kernel takes of which nothing was measured.
type Estimate struct {
	Over    string  `file:"over,need"`                  // as a kernel's
	Latency float64 `file:"latency,lo=0,hi=1073741824"` // factors
	Bytes   float64 `file:"bytes,lo=0,hi=1073741824"`
	Flags   float64 `file:"flags,lo=0,hi=1073741824"` // 0: not fitted, as 1
	Rows    int     `file:"rows,hi=1073741824"`       // measurements behind it
	Systems int     `file:"systems,hi=1073741824"`    // machines behind those
}

// FillFrom is the size at which half of what fills pipelines is paid: on 2 to 32 nodes measured times are above the
// library's estimates by as much from some 10 MiB on (series aws-p5-2n-ar, aws-p4de-2n-ar, h100-2n-ar-b in validation/).
const FillFrom = 8 * units.MiB

// Corrected are the two parts of the library's own estimate for a size by a protocol, after the correction.
func (e *Estimate) Corrected(latency, bytes float64, size units.Bytes, protocol string) (l, b float64) {
	if protocol == LL {
		bytes *= cmp.Or(e.Flags, 1)
	}
	return e.Latency * latency * (1 + float64(size)/float64(size+FillFrom)), e.Bytes * bytes
}

// Estimate is the correction over a medium; over a network that is not known, that of all networks. nil: there is none.
func (p *Profile) Estimate(over string) *Estimate {
	for _, name := range []string{over, TransportOf(over), ClassOf(over)} {
		for i := range p.Estimates {
			if p.Estimates[i].Over == name {
				return &p.Estimates[i]
			}
		}
	}
	return nil
}
