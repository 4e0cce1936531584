package fit

import (
	"math"

	"railyard/model/cost"
	"railyard/model/units"
)

// belief is a kernel that is expected before cases are seen, and how far from it the
// cases' own may be: the fit is the most likely kernel given both.
type belief struct {
	cost.Kernel
	spread
}

// spread are standard deviations, of times and slowdowns as a share of what is expected.
type spread struct {
	base, hop, net, slowdown float64
	wide                     float64 // µs
	step                     float64 // µs that a step may differ at any size
	drain                    float64 // steps
	fill                     float64 // factors of two
}

// noise is the standard deviation of two measurements of one case, with what no kernel
// of this form can follow.
const noise = 0.04

// How far kernels lie from what is expected of them: from the library's constants, and
// from the same kernel on other machines.
var (
	ofConstants = spread{base: 1, wide: 4, hop: 0.015, net: 1, slowdown: 0.5, step: 0.03, drain: 0.1, fill: 1}
	ofFabrics   = spread{base: 0.5, wide: 2, hop: 0.1, net: 5, slowdown: 0.5, step: 20, drain: 0.2, fill: 1}
	ofMachine   = spread{base: 0.5, wide: 3, hop: 0.1, net: 0.3, slowdown: 0.15, step: 0.03, drain: 0.2, fill: 0.5}
)

// ofHops is how far a machine's hops lie from those of all machines: by LL over NVLink H200 takes 0.7 µs, A100 and H100 0.9, B200 1.3.
const ofHops = 0.15

// pieces are where the slowdown of a chunk may change.
var pieces = []units.Bytes{0, 4 * units.KiB, 32 * units.KiB, 128 * units.KiB, 512 * units.KiB, 2 * units.MiB, 8 * units.MiB, 32 * units.MiB}

// slowdowns are what is expected of each piece: the mean over it.
func (b *belief) slowdowns() []float64 {
	out := make([]float64, len(pieces))
	for i, from := range pieces {
		to := 2 * from
		if i+1 < len(pieces) {
			to = pieces[i+1]
		}
		out[i] = max((b.Move(to)-b.Move(from))/float64(to-from), 1)
	}
	return out
}

// deviation is how far a piece's slowdown may be from v, where a step may differ by
// b.step at a line rate.
func (b *belief) deviation(i int, v, line float64) float64 {
	bytes := math.Inf(1)
	if i+1 < len(pieces) {
		bytes = float64(pieces[i+1] - pieces[i])
	}
	return max(b.slowdown*v, b.step*1e-6*line/bytes)
}

// unlikely is how unlikely a shape is, as squared relative errors.
func (b *belief) unlikely(s shape) float64 {
	d := (s.drain - b.Drain) / b.drain
	f := (steps(s.fill) - steps(b.Fill)) / b.fill
	return noise * noise * (d*d + f*f)
}

// steps is a size of a fill on a scale of factors of two.
func steps(fill units.Bytes) float64 { return math.Log2(float64(max(fill, 32*units.KiB))) }
