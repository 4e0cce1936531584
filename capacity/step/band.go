package step

import (
	"math"

	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/workload"
)

// Class is what decides how far off a prediction may be.
type Class string

// The classes.
const (
	Experts Class = "experts"
	Sharded Class = "FSDP" // gradients or parameters are cut over replicas
	Encoder Class = "encoder"
	Layers  Class = "layers" // a network described by totals
	FP8     Class = "dense, FP8"
	Dense   Class = "dense"
)

// ClassOf is a step's class.
func ClassOf(w *workload.Workload, l *Layout) Class {
	m := w.Transformer
	switch {
	case m == nil:
		return Layers
	case m.Experts > 0:
		return Experts
	case l.Zero >= 2:
		return Sharded
	case !m.Causal:
		return Encoder
	case w.Precision == gpu.FP8:
		return FP8
	}
	return Dense
}

// Bands are how far off nine of ten steps of a class are, as the logarithm of measured over
// predicted, when what frameworks add is fitted without the step's source: the ⌈0.9·(n+1)⌉-th
// smallest error of n, the largest where there are fewer than nine. `lab steps` prints them; a
// test holds them to validation/steps.csv.
var Bands = map[Class]float64{Dense: 0.15, FP8: 0.12, Sharded: 0.19, Experts: 0.31, Encoder: 0.18, Layers: 0.37}

// UnseenBands are those on a GPU of which no step is in the fit: without all steps whose share is the same
// GPU's, and with how far GPUs' rates under load are apart, which steps would show.
var UnseenBands = map[Class]float64{Dense: 0.20, FP8: 0.19, Sharded: 0.25, Experts: 0.35, Encoder: 0.25, Layers: 0.40}

// Band is between what and what nine of ten measured steps lie.
func (r *Result) Band() (low, high units.Time) {
	bands := Bands
	if r.unseen {
		bands = UnseenBands
	}
	wide := math.Exp(bands[ClassOf(r.Workload, &r.Layout)])
	return units.Time(float64(r.Time) / wide), units.Time(float64(r.Time) * wide)
}
