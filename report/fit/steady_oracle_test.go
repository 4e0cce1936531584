package fit

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"railyard/model/gpu"
	"railyard/model/units"
)

// Steady is a kernel that was run back to back until the clocks had settled
// (exec/peers/training.py).
type Steady struct {
	GPU, Kernel string
	Shape       []float64 // m, n, k of a product; batch, heads, sequence, head of attention
	Type        gpu.Precision
	FLOP, Bytes float64
	Time        units.Time
	Burst       units.Time // of one after a pause
}

// ReadSteady reads what training.py wrote, with the GPU's name in front.
func ReadSteady(r io.Reader, file string) ([]Steady, error) {
	var out []Steady
	header := []string{"gpu", "kernel", "shape", "type", "flop", "bytes", "burst_us", "steady_us", "sm_mhz", "watts"}
	err := eachRow(r, file, header, 6, func(text []string, v []float64) error {
		p, err := gpu.ParsePrecision(text[3])
		if err != nil {
			return err
		}
		row := Steady{GPU: text[0], Kernel: text[1], Type: p, Time: units.FromMicroseconds(v[1]), Burst: units.FromMicroseconds(v[0])}
		if row.Shape, err = numbers(strings.Split(text[2], "x")); err != nil {
			return fmt.Errorf("shape: %w", err)
		}
		work, err := numbers(text[4:6]) // 0 where a kernel has none
		if err != nil {
			return fmt.Errorf("flop and bytes: %w", err)
		}
		row.FLOP, row.Bytes = work[0], work[1]
		out = append(out, row)
		return nil
	})
	return out, err
}

func numbers(text []string) ([]float64, error) {
	out := make([]float64, len(text))
	for i, cell := range text {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || v != v {
			return nil, fmt.Errorf("%q is not a number of at least 0", cell)
		}
		out[i] = v
	}
	return out, nil
}

// products are the rows of some kernels as matrix products.
func products(g *gpu.GPU, p gpu.Precision, rows []Steady, kernels ...string) []MatMul {
	var out []MatMul
	for _, r := range rows {
		for _, k := range kernels {
			if r.GPU == g.Name && r.Type == p && r.Kernel == k && len(r.Shape) == 3 {
				out = append(out, MatMul{GPU: g.Name, Type: p, M: r.Shape[0], N: r.Shape[1], K: r.Shape[2], Time: r.Time})
			}
		}
	}
	return out
}

// SteadyProduct fits gpu.Product to products without pause.
func SteadyProduct(g *gpu.GPU, p gpu.Precision, rows []Steady) (gpu.Product, error) {
	return Product(g, p, products(g, p, rows, "forward"))
}

// SteadyShare is the share of a fit's efficiency that products without pause have, of
// both passes, and the mean absolute relative error then.
func SteadyShare(g *gpu.GPU, p gpu.Precision, rows []Steady) (share, mean float64, err error) {
	c := g.Products[p]
	var a, rest []float64
	for _, r := range products(g, p, rows, "forward", "dgrad", "wgrad") {
		t := r.Time.Seconds()
		bytes := float64(p.Bytes()) * (r.M*r.K + r.K*r.N + r.M*r.N)
		a = append(a, 2*r.M*r.N*r.K/(g.Peak[p]*c.Efficiency)/t)
		rest = append(rest, 1-(c.Launch.Seconds()+c.Traffic*bytes/float64(g.Bandwidth))/t)
	}
	x, e, err := scale(a, rest)
	return 1 / x, e, err
}

// SteadyAttention fits gpu.Attention, both passes, to fused kernels without pause.
func SteadyAttention(g *gpu.GPU, kernel string, rows []Steady) (gpu.Attention, error) {
	return FusedAttention(g, kernel, steadyPasses(rows))
}

// steadyPasses are the rows of attention.
func steadyPasses(rows []Steady) (out []Attention) {
	for _, r := range rows {
		name, ok := strings.CutPrefix(r.Kernel, "attention ")
		kernel, back := strings.CutSuffix(name, " backward")
		if s := r.Shape; ok {
			out = append(out, Attention{GPU: r.GPU, Kernel: kernel, Backward: back, Batch: s[0], Heads: s[1], KV: s[1], Sequence: s[2],
				HeadDim: s[3], Time: r.Time})
		}
	}
	return out
}

// AttentionShare is what is left of the rate of single kernels without pause, in the mean of both passes of the longest that were
// measured: the power limit lowers the clock.
func AttentionShare(g *gpu.GPU, kernel string, rows []Steady) float64 {
	longest, share, n := 0.0, 0.0, 0.0
	for _, r := range rows {
		if r.GPU != g.Name || !strings.HasPrefix(r.Kernel, "attention "+kernel) {
			continue
		}
		if r.Shape[2] > longest {
			longest, share, n = r.Shape[2], 0, 0
		}
		if r.Shape[2] == longest {
			share, n = share+r.Burst.Seconds()/r.Time.Seconds(), n+1
		}
	}
	return share / n
}

// scale solves a·x ≈ b for one x with the least squares.
func scale(a, b []float64) (x, mean float64, err error) {
	if len(a) < 8 {
		return 0, 0, fmt.Errorf("%d measurements are too few to fit", len(a))
	}
	var ab, aa float64
	for i := range a {
		ab, aa = ab+a[i]*b[i], aa+a[i]*a[i]
	}
	x = ab / aa
	for i := range a {
		mean += math.Abs(a[i]*x-b[i]) / float64(len(a))
	}
	return x, mean, nil
}

// streamRows are the measured kernels that stand for a kind.
var streamRows = map[gpu.Kernel]string{
	gpu.Copy: "copy", gpu.Norm: "layernorm", gpu.RMSNorm: "rmsnorm", gpu.NormBackward: "layernorm backward",
	gpu.Activation: "gelu", gpu.ActivationBackward: "gelu backward", gpu.Softmax: "softmax", gpu.Loss: "loss forward and backward",
	gpu.Optimizer: "adamw fused", gpu.GradientNorm: "gradient norm",
}

// Streams are the shares of the bandwidth that kernels reached which move memory.
func Streams(g *gpu.GPU, rows []Steady) gpu.Streams {
	out := gpu.Streams{}
	for kind, name := range streamRows {
		for _, r := range rows {
			if r.GPU == g.Name && r.Kernel == name {
				out[kind] = r.Bytes / r.Time.Seconds() / float64(g.Bandwidth)
			}
		}
	}
	return out
}
