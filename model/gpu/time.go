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

// rate is what large products reach one after the other, in FLOP/s.
func (g *GPU) rate(p Precision) float64 {
	c := g.Products[p]
	return g.Peak[p] * c.Efficiency * c.Steady * g.Clock
}

// Convert is the time to bring an operand of so many elements into the precision of
// products, for both passes: read it, and write it twice, the second time transposed, as
// products in FP8 want it (Transformer Engine's cast and transpose). It is 0 where
// products are fitted with it.
func (g *GPU) Convert(p Precision, elements float64) units.Time {
	if p != FP8 || g.Products[p].Converts {
		return 0
	}
	return g.Stream(Copy, elements*(2+2))
}

// MatMul is the time of count equal products m×k by k×n in one kernel, which reads and
// writes more bytes besides.
func (g *GPU) MatMul(p Precision, m, n, k, count, more float64) units.Time {
	c := g.Products[p]
	bytes := count*(float64(p.Bytes())*(m*k+k*n)+float64(max(p.Bytes(), 2))*m*n) + more
	return c.Launch + seconds(2*m*n*k*count/g.rate(p)+c.Traffic*bytes/float64(g.Bandwidth))
}

// Multiply is the time of FLOP whose shapes are not known, and of the bytes of their
// operands and results.
func (g *GPU) Multiply(p Precision, flop, bytes float64) units.Time {
	c := g.Products[p]
	return c.Launch + seconds(flop/g.rate(p)+bytes/g.streamed(Copy))
}

// Attend is the time of fused attention of so many FLOP over sequences of tokens. No GPU
// here has FP8 attention measured: below 16 bits it is computed in 16. flash asks for
// FlashAttention-2's kernels instead of the fastest.
func (g *GPU) Attend(p Precision, flop, tokens float64, backward, flash bool) units.Time {
	a, share := g.Attention, 1.0
	if flash {
		a = g.Flash
	}
	if backward {
		share = a.Backward
	}
	if p == FP8 {
		p = BF16
	}
	return a.Launch + seconds(flop/(g.Peak[p]*a.Efficiency*share*g.Clock)*(1+a.HalfLength/tokens))
}
