package fit

import (
	"fmt"
	"math"

	"railyard/model/gpu"
	"railyard/model/units"
)

// MatMul is a measured matrix product.
type MatMul struct {
	GPU     string
	Type    gpu.Precision
	M, N, K float64
	Time    units.Time
}

// Attention is a measured pass of fused causal attention.
type Attention struct {
	GPU, Kernel                         string
	Backward                            bool
	Batch, Sequence, Heads, KV, HeadDim float64
	Time                                units.Time
}

// Product fits gpu.Product to products on one GPU in one precision, by least squares of
// the relative error.
func Product(g *gpu.GPU, p gpu.Precision, rows []MatMul) (gpu.Product, error) {
	var a [][]float64
	var t []float64
	for _, r := range rows {
		if r.GPU != g.Name || r.Type != p {
			continue
		}
		bytes := float64(p.Bytes())*(r.M*r.K+r.K*r.N) + float64(max(p.Bytes(), 2))*r.M*r.N
		a = append(a, []float64{1, 2 * r.M * r.N * r.K / g.Peak[p], bytes / float64(g.Bandwidth)})
		t = append(t, r.Time.Seconds())
	}
	x, e, err := relative(a, t)
	if err != nil {
		return gpu.Product{}, fmt.Errorf("%s %s: %w", g.Name, p, err)
	}
	return gpu.Product{Launch: units.FromMicroseconds(x[0] * 1e6), Efficiency: 1 / x[1], Traffic: x[2], Error: e}, nil
}

// flop is what a pass multiplies: five products of the size of two in the backward pass.
func (a *Attention) flop() float64 {
	f := 2 * a.Batch * a.Heads * a.Sequence * a.Sequence * a.HeadDim
	if a.Backward {
		f *= 2.5
	}
	return f
}

// FusedAttention fits gpu.Attention to a kernel with heads of 128; without backward passes there is no Backward.
func FusedAttention(g *gpu.GPU, kernel string, rows []Attention) (gpu.Attention, error) {
	var a, back [][]float64
	var t, took []float64
	for _, r := range rows {
		switch flop := r.flop() / g.Peak[gpu.BF16]; {
		case r.GPU != g.Name || r.Kernel != kernel || r.HeadDim != 128:
		case r.Backward:
			back, took = append(back, []float64{flop, flop / r.Sequence}), append(took, r.Time.Seconds())
		default:
			a, t = append(a, []float64{1, flop, flop / r.Sequence}), append(t, r.Time.Seconds())
		}
	}
	x, e, err := relative(a, t)
	if err != nil {
		return gpu.Attention{}, fmt.Errorf("%s attention: %w", g.Name, err)
	}
	c := gpu.Attention{Launch: units.FromMicroseconds(x[0] * 1e6), Efficiency: 1 / x[1], HalfLength: x[2] / x[1], Error: e}
	if len(back) == 0 {
		return c, nil
	}
	var one, rest []float64
	for i, b := range back {
		one = append(one, (b[0]+b[1]*c.HalfLength)/c.Efficiency/took[i])
		rest = append(rest, 1-c.Launch.Seconds()/took[i])
	}
	y, less, err := scale(one, rest)
	c.Backward, c.Error = 1/y, (e+less)/2
	return c, err
}

// relative solves a·x ≈ t for x ≥ 0 with the least squares of the relative error, and
// says the mean absolute relative error.
func relative(a [][]float64, t []float64) ([]float64, float64, error) {
	if len(a) < 8 {
		return nil, 0, fmt.Errorf("%d measurements are too few to fit", len(a))
	}
	scaled, ones := make([][]float64, len(a)), make([]float64, len(a))
	for i, row := range a {
		ones[i] = 1
		for _, v := range row {
			scaled[i] = append(scaled[i], v/t[i])
		}
	}
	x := boundedLeastSquares(scaled, ones, make([]float64, len(a[0])), nil)
	e := 0.0
	for _, row := range scaled {
		sum := 0.0
		for j, v := range row {
			sum += v * x[j]
		}
		e += math.Abs(sum-1) / float64(len(a))
	}
	return x, e, nil
}
