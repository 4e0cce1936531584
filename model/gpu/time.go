package gpu

import (
	"math"

	"railyard/model/units"
)

// seconds is a duration, rounded up to a picosecond.
func seconds(s float64) units.Time {
	if ps := s * 1e12; ps < float64(units.MaxTime) {
		return units.Time(math.Ceil(ps))
	}
	return units.MaxTime
}

// MatMul is the time of count equal products m×k by k×n in one kernel.
func (g *GPU) MatMul(p Precision, m, n, k, count float64) units.Time {
	c := g.Products[p]
	bytes := count * (float64(p.Bytes())*(m*k+k*n) + float64(max(p.Bytes(), 2))*m*n)
	return c.Launch + seconds(2*m*n*k*count/(g.Peak[p]*c.Efficiency)+c.Traffic*bytes/float64(g.Bandwidth))
}

// Multiply is the time of FLOP whose shapes are not known, and of the bytes of their
// operands and results.
func (g *GPU) Multiply(p Precision, flop, bytes float64) units.Time {
	c := g.Products[p]
	return c.Launch + seconds(flop/(g.Peak[p]*c.Efficiency)+bytes/(float64(g.Bandwidth)*g.Streaming))
}

// Attend is the time of fused attention of so many FLOP over sequences of tokens. No GPU
// here has FP8 attention measured: below 16 bits it is computed in 16.
func (g *GPU) Attend(p Precision, flop, tokens float64, backward bool) units.Time {
	a, share := g.Attention, 1.0
	if backward {
		share = a.Backward
	}
	if p == FP8 {
		p = BF16
	}
	return a.Launch + seconds(flop/(g.Peak[p]*a.Efficiency*share)*(1+a.HalfLength/tokens))
}

// Stream is the time of a kernel that only reads and writes bytes.
func (g *GPU) Stream(bytes float64) units.Time {
	if bytes == 0 {
		return 0
	}
	return launch + seconds(bytes/(float64(g.Bandwidth)*g.Streaming))
}

// launch is what a small kernel costs on the GPU when the host runs ahead: H200,
// 2026-11-21, the launch gap that the fits of matrix products show (gpus.yaml).
const launch = 3 * units.Microsecond
