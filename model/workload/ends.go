package workload

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/gpu"
)

// embedding looks tokens up; its rows are cut over the tensor axis.
type embedding struct {
	w *Workload
	m *Transformer
}

func (b *embedding) Parameters(s Sharding) Parameters {
	h := float64(b.m.Hidden)
	return Parameters{Dense: float64(b.m.Vocabulary)/float64(s.Tensor)*h + float64(b.m.Positions)*h, Frozen: b.m.Adapter > 0}
}

func (b *embedding) FLOP() float64 { return 0 }

func (b *embedding) Forward(s Sharding, batch float64) []Step {
	x := b.w.shape(s, batch)
	bytes := x.tokens * float64(b.m.Hidden) * x.e
	steps := []Step{{Name: "embedding", Do: Stream, Kernel: gpu.Copy, Bytes: 2 * bytes}}
	switch {
	case !x.tp:
	case s.Sequence:
		steps = append(steps, communicate("embedding reduce-scatter", Tensor, collective.ReduceScatter, bytes, false))
	default:
		steps = append(steps, communicate("embedding all-reduce", Tensor, collective.AllReduce, bytes, false))
	}
	return steps
}

func (b *embedding) Backward(s Sharding, batch float64) []Step {
	x := b.w.shape(s, batch)
	bytes := x.tokens * float64(b.m.Hidden) * x.e
	if b.m.Adapter > 0 {
		return nil
	}
	var steps []Step
	if x.tp && s.Sequence {
		steps = append(steps, communicate("embedding all-gather", Tensor, collective.AllGather, bytes, false))
	}
	return append(steps, Step{Name: "embedding backward", Do: Stream, Kernel: gpu.Copy, Bytes: 3 * bytes})
}

func (b *embedding) Activations(s Sharding, batch float64, r Recompute) float64 {
	x := b.w.shape(s, batch)
	return x.cut * float64(b.m.Hidden) * b.m.mask()
}

func (b *embedding) Boundary(s Sharding, batch float64) float64 { return b.w.boundary(s, batch) }

// head is the last norm, the product with the vocabulary and the loss.
type head struct {
	w *Workload
	m *Transformer
}

func (b *head) Parameters(s Sharding) Parameters {
	p := Parameters{Dense: b.m.norm(), Frozen: b.m.Adapter > 0}
	if !b.m.Tied {
		p.Dense += float64(b.m.Vocabulary) / float64(s.Tensor) * float64(b.m.Hidden)
	}
	return p
}

func (b *head) FLOP() float64 {
	return 2 * b.m.predictions() * float64(b.m.Sequence) * float64(b.m.Hidden) * float64(b.m.Vocabulary) * float64(1+b.m.Predicted)
}

// logits are computed in 16 bits: FP8 is for the products inside layers (Megatron-Bridge,
// docs/performance-guide.md; torchtitan's recipes leave "output" out of its conversion).
func (b *head) logits(x *shape) linear {
	return linear{x: x, name: "logits", m: x.tokens * b.m.predictions(), n: float64(b.m.Vocabulary) / x.t, k: float64(b.m.Hidden),
		columns: true, wide: true, frozen: b.m.Adapter > 0}
}

// Forward: the loss reads and writes logits in FP32, three times in all; cut over the
// tensor axis it needs two numbers a token from everybody.
func (b *head) Forward(s Sharding, batch float64) []Step {
	x := b.w.shape(s, batch)
	product := b.logits(&x)
	steps := slices.Concat(x.normForward(b.m), product.forward(),
		[]Step{{Name: "loss", Do: Stream, Kernel: gpu.Loss, Bytes: 3 * 4 * product.m * product.n}})
	if x.tp {
		steps = append(steps, communicate("loss all-reduce", Tensor, collective.AllReduce, 8*product.m, false))
	}
	return slices.Repeat(steps, 1+b.m.Predicted)
}

func (b *head) Backward(s Sharding, batch float64) []Step {
	x := b.w.shape(s, batch)
	product := b.logits(&x)
	steps := slices.Concat([]Step{{Name: "loss backward", Do: Stream, Kernel: gpu.Loss, Bytes: (4 + x.e) * product.m * product.n}},
		product.backward(), x.normBackward(b.m))
	return slices.Repeat(steps, 1+b.m.Predicted)
}

// Activations: the inputs of norm and product, and logits in FP32 (Korthikanti et al.,
// section 4.3); with PyTorch's own loss also in 16 bits, and the gradients of both.
func (b *head) Activations(s Sharding, batch float64, r Recompute) float64 {
	x := b.w.shape(s, batch)
	logit := 4.0
	if s.By != nil && s.By.PlainLoss {
		logit = 2 * (4 + x.e)
	}
	return (2*x.cut*float64(b.m.Hidden)*x.e + logit*x.tokens*b.m.predictions()*float64(b.m.Vocabulary)/x.t) * float64(1+b.m.Predicted)
}

func (b *head) Boundary(s Sharding, batch float64) float64 { return 0 }
