// Package gpu knows what GPUs compute: their peak rates and memory, and how long matrix
// products, attention and memory-bound work take on them.
package gpu

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Precision is the type in which a GPU multiplies.
type Precision string

// The precisions. TF32 is FP32 in memory.
const (
	FP32 Precision = "fp32"
	TF32 Precision = "tf32"
	FP16 Precision = "fp16"
	BF16 Precision = "bf16"
	FP8  Precision = "fp8"
	// INT8 is what gradients may be sent as; nothing is multiplied in it.
	INT8 Precision = "int8"
)

// Precisions are all that GPUs multiply in, widest first.
func Precisions() []Precision { return []Precision{FP32, TF32, FP16, BF16, FP8} }

// Choices are their names.
func (Precision) Choices() []string { return yamlfile.Words(Precisions()...) }

// ParsePrecision reads a precision's name.
func ParsePrecision(s string) (Precision, error) {
	if p := Precision(strings.ToLower(s)); slices.Contains(Precisions(), p) {
		return p, nil
	}
	return "", fmt.Errorf("precision %q is not one of %v", s, Precisions())
}

// Bytes is the size of an element.
func (p Precision) Bytes() int {
	switch p {
	case FP32, TF32:
		return 4
	case FP8, INT8:
		return 1
	}
	return 2
}

// GPU is a model of GPU with its constants.
type GPU struct {
	Name      string                `file:",key"` // as topologies and flags call it: h100
	Title     string                `file:"title,need"`
	Memory    units.Bytes           `file:"memory,need"`
	Bandwidth units.Rate            `file:"bandwidth,need,most=1000000GB/s"` // of its memory
	SMs       int                   `file:"sms,lo=1,hi=65536"`               // multiprocessors (compute units)
	Power     float64               `file:"power"`                           // its limit, watts; 0: not known
	Clock     float64               // under load, of what it was when its kernels were measured
	Streams   Streams               // what kernels that move memory reach of the bandwidth
	Peak      map[Precision]float64 `file:"tflops,some"` // dense FLOP/s
	Products  map[Precision]Product `file:"products"`
	Attention Attention             `file:"attention,optional"`
	Flash     Attention             `file:"flash_attention_2,optional"` // by FlashAttention-2's kernels, where they were measured
	// SoftmaxHead is the size of heads at which the exponentials of attention's scores take as long as the products.
	SoftmaxHead float64 `file:"softmax_head,hi=4096"`
	// Stepped says that published training steps on it are in the fit of what software adds (validation/steps.csv).
	Stepped bool     `file:"stepped"`
	Source  string   `file:"source,need"`
	Date    string   `file:"date,date"`
	Notes   []string // which constants were measured on another GPU
}

// Product is the fitted cost of a matrix product of m×k by k×n: Launch +
// 2mnk/(peak·Efficiency·Steady) + Traffic·bytes/bandwidth, bytes being all three matrices once.
type Product struct {
	Launch     units.Time `file:"launch,need,most=1s"`
	Efficiency float64    `file:"efficiency,default=1,lo=0.0001,hi=1"` // of large products
	// Steady is the share of it that is left when products follow one another: the power limit lowers the clock.
	Steady   float64 `file:"steady,default=1,lo=0.0001,hi=1"`
	Converts bool    `file:"converts"` // the fit includes the conversion of an operand to the precision
	Traffic  float64 `file:"traffic,default=1"`
	Error    float64 `file:"error,default=1"` // mean absolute relative error on the products that it was fitted on
	Source   string  `file:"source,need"`
}

// Attention is the fitted cost of fused causal attention over s tokens with heads of 128: Launch +
// FLOP/(peak·Efficiency)·(1 + HalfLength/s).
type Attention struct {
	Launch     units.Time `file:"launch,need,most=1s"`
	Efficiency float64    `file:"efficiency,default=1,lo=0.0001,hi=1"`
	HalfLength float64    `file:"half_length,default=1"`             // tokens at which half the efficiency is reached
	Backward   float64    `file:"backward,default=1,lo=0.0001,hi=1"` // efficiency of the backward pass over that of the forward pass
	Steady     float64    `file:"steady,default=1,lo=0.0001,hi=1"`   // as of products; 1 where they were measured without pause
	Error      float64    `file:"error,default=1"`
	Source     string     `file:"source,need"`
}

// Supports reports whether the GPU computes in a precision, and what it can instead.
func (g *GPU) Supports(p Precision) error {
	if g.Peak[p] > 0 {
		return nil
	}
	var known []string
	for _, q := range Precisions() {
		if g.Peak[q] > 0 {
			known = append(known, string(q))
		}
	}
	return fmt.Errorf("%s has no %s: change precision to one of %s", g.Title, p, strings.Join(known, ", "))
}

// NotesFor are the notes about what a workload in a precision uses.
func (g *GPU) NotesFor(p Precision) []string {
	var out []string
	for _, n := range g.Notes {
		if strings.Contains(n, "attention") || strings.Contains(n, " in "+string(p)+":") {
			out = append(out, n)
		}
	}
	return out
}

// Of is the GPU of a topology's ranks, which have to be of one model, with the power that it has there.
func Of(t *topology.Topology) (*GPU, error) {
	name, power := "", 0.0
	for _, d := range t.Ranks() {
		m := t.Devices()[d].Model
		if m < 0 {
			return nil, fmt.Errorf("%s does not say which GPU it has: name one with --gpu (%s)", t.Name(), strings.Join(Names(), ", "))
		}
		switch n := t.Models()[m].Name; {
		case name == "":
			name, power = n, t.Models()[m].Power
		case name != n:
			return nil, fmt.Errorf("%s has GPUs of several models (%s, %s): a step is as slow as the slowest; name it with --gpu",
				t.Name(), name, n)
		}
	}
	g, err := Get(name)
	if err != nil {
		return nil, fmt.Errorf("%s: GPU model %w: name a known one with --gpu", t.Name(), err)
	}
	return g.limited(power), nil
}

// limited is the GPU with another power limit; 0 is its own. Power goes with the cube of the clock: with its square by the voltage,
// which follows it (arXiv 1905.11012, section 2).
func (g *GPU) limited(watts float64) *GPU {
	if watts == 0 || g.Power == 0 {
		return g
	}
	out := *g
	out.Power, out.Clock = watts, g.Clock*math.Cbrt(watts/g.Power)
	return &out
}

// LoadsApart is how far apart the shares of products' rates are that were measured to be left under load, as a logarithm: what is
// taken from another GPU may be off by as much.
func LoadsApart() float64 {
	least, most := 1.0, 0.0
	for _, g := range catalogue() {
		for _, c := range g.Products {
			if c.Steady > 0 && c.Steady < 1 {
				least, most = min(least, c.Steady), max(most, c.Steady)
			}
		}
	}
	return math.Log(most / least)
}
