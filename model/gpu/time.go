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
	return g.Peak[p] * c.Efficiency * g.loaded(c.Steady)
}

// loaded is the clock under load, of what it is in single kernels; steady is that with the power limit of the GPU's model.
func (g *GPU) loaded(steady float64) float64 { return min(steady*g.Clock, 1) }

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
// writes more bytes besides. It takes no less than its bytes take once at the best rate of
// memory (the roofline, Williams et al. 2009, doi 10.1145/1498765.1498785): the fits are of products that compute for
// longer than that.
func (g *GPU) MatMul(p Precision, m, n, k, count, more float64) units.Time {
	c := g.Products[p]
	bytes := count*(float64(p.Bytes())*(m*k+k*n)+float64(max(p.Bytes(), 2))*m*n) + more
	return c.Launch + seconds(max(2*m*n*k*count/g.rate(p)+c.Traffic*bytes/float64(g.Bandwidth), bytes/g.best()))
}

// Multiply is the time of FLOP whose shapes are not known, and of the bytes of their
// operands and results.
func (g *GPU) Multiply(p Precision, flop, bytes float64) units.Time {
	c := g.Products[p]
	return c.Launch + seconds(flop/g.rate(p)+bytes/g.streamed(Copy))
}

// Attended is a call of fused attention.
type Attended struct {
	FLOP     float64
	Bytes    float64 // of queries, keys, values and what comes out, and of their gradients
	Tokens   float64 // of a sequence
	Head     float64 // size of a head: the mean of queries' and values'
	Backward bool
	Flash    bool // by FlashAttention-2's kernels instead of the fastest
}

// Attend is the time of fused attention. No GPU here has FP8 attention measured: below 16 bits it is computed in 16. It takes no
// less than its bytes do.
func (g *GPU) Attend(p Precision, c Attended) units.Time {
	a, share := g.Attention, 1.0
	if c.Flash {
		a = g.Flash
	}
	if c.Backward {
		share = a.Backward
	}
	if p == FP8 {
		p = BF16
	}
	rate := g.Peak[p] * a.Efficiency * share * g.loaded(a.Steady) / (1 + a.HalfLength/c.Tokens) / g.headed(c.Head, c.Backward)
	return a.Launch + seconds(max(c.FLOP/rate, c.Bytes/g.best()))
}

// measuredHead is the size of the heads of which attention was measured.
const measuredHead = 128

// headed is how much longer attention takes for a FLOP with heads of this size than with the measured ones. A score costs four FLOP
// for each element of a head, ten in the backward pass, and one exponential in both, which takes as long as the products of
// SoftmaxHead elements in the forward pass (FlashAttention-3, arXiv 2407.08608). Larger heads gain nothing: kernels hide
// the exponentials then, and hold fewer scores at a time (cuDNN on GB200, 4,096 tokens: 1,406 TFLOP/s with 192 and 128, 1,408 with 128).
func (g *GPU) headed(size float64, backward bool) float64 {
	e := g.SoftmaxHead
	if backward {
		e /= 10.0 / 4
	}
	return (1 + e/min(size, measuredHead)) / (1 + e/measuredHead)
}
