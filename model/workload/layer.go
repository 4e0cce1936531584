package workload

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/gpu"
	"railyard/model/units"
)

// layer is a transformer layer: attention and a feed-forward network, or experts.
type layer struct {
	w        *Workload
	m        *Transformer
	experts  bool
	window   bool // a token attends to Window tokens
	predicts bool // a further token, from the hidden state and that token's embedding
}

// reach is how many tokens one attends to, twice the mean where causality masks half: a window
// of w has w·s − w²/2 of the s² pairs.
func (l *layer) reach() float64 {
	s := float64(l.m.Sequence)
	if w := float64(l.m.Window); l.window && w < s {
		if l.m.Causal {
			return 2*w - w*w/s
		}
		return w
	}
	return s
}

func (l *layer) Parameters(s Sharding) Parameters {
	m := l.m
	p := Parameters{Dense: m.attentionParameters(s.Tensor) + 2*m.norm()}
	if l.predicts {
		p.Dense += 2*float64(m.Hidden*m.Hidden) + 2*m.norm()
	}
	if !l.experts {
		p.Dense += m.ffnParameters(float64(m.FFN), float64(s.Tensor))
		p.Frozen, p.Adapters = m.Adapter > 0, l.adapterParameters(s)
		p.Dense += p.Adapters
		return p
	}
	p.Dense += float64(m.Hidden * m.Experts) // router
	if m.SharedExperts > 0 {
		p.Dense += m.ffnParameters(float64(m.SharedExperts*m.ExpertFFN), float64(s.Tensor))
	}
	p.Expert = float64(m.Experts) / float64(s.Expert) * m.ffnParameters(float64(m.ExpertFFN), 1)
	return p
}

// adapterParameters are those beside all products with weights.
func (l *layer) adapterParameters(s Sharding) float64 {
	if l.m.Adapter == 0 {
		return 0
	}
	x := l.w.shape(s, 1)
	list, out := l.projections(&x)
	network := l.ffn(x, "ffn", float64(l.m.FFN))
	sum := 0.0
	for _, p := range append(list, out, network.up, network.down) {
		sum += p.adapter * (p.k + p.n)
	}
	return sum
}

func (l *layer) FLOP() float64 {
	whole := Sharding{Tensor: 1, Context: 1, Expert: 1}
	sum := 0.0
	for _, step := range l.Forward(whole, 1) {
		switch {
		case step.Do == Product && !step.core:
			sum += 2 * step.M * step.N * step.K * step.Count
		}
	}
	return sum + l.scoreFLOP(float64(l.m.Sequence))
}

// scoreFLOP are those of scores and weighted values of so many tokens: 4·s·h a token for
// ordinary heads and whole sequences.
func (l *layer) scoreFLOP(tokens float64) float64 {
	return 2 * tokens * l.reach() * (l.m.queries() + l.m.values())
}

// joined leads from the hidden state and the embedding of the token behind it to what predicts a
// further one.
func (l *layer) joined(x *shape) *linear {
	return &linear{x: x, name: "prediction in", m: x.cut, n: float64(l.m.Hidden), k: 2 * float64(l.m.Hidden)}
}

// shape is what a layer's steps depend on.
type shape struct {
	e       float64 // bytes of an element
	product float64 // bytes of an operand of a product
	g       float64 // bytes of an accumulated gradient
	t       float64 // tensor axis
	tokens  float64 // on this GPU
	eager   bool
	cut     float64 // tokens that norms and residuals see
	tp      bool
	s       Sharding
}

func (w *Workload) shape(s Sharding, batch float64) shape {
	x := shape{e: float64(w.ElementBytes()), product: float64(w.Precision.Bytes()),
		eager: w.Eager, g: float64(w.Gradients()), t: float64(s.Tensor), s: s, tp: s.Tensor > 1}
	x.tokens = batch * float64(w.Transformer.Sequence) / float64(s.Context)
	x.cut = x.tokens
	if s.Sequence {
		x.cut /= x.t
	}
	return x
}

func (l *layer) Forward(s Sharding, batch float64) []Step {
	x := l.w.shape(s, batch)
	var steps []Step
	if l.predicts {
		steps = l.joined(&x).forward()
	}
	steps = slices.Concat(steps, x.normForward(l.m), l.attention(x, batch), x.residual(l.m), x.normForward(l.m))
	if l.experts {
		steps = append(steps, l.expertsForward(x)...)
	} else {
		steps = append(steps, l.ffn(x, "ffn", float64(l.m.FFN)).forward()...)
	}
	return append(steps, x.residual(l.m)...)
}

func (l *layer) Backward(s Sharding, batch float64) []Step {
	x := l.w.shape(s, batch)
	steps := slices.Concat(x.residualBackward(l.m))
	if l.experts {
		steps = append(steps, l.expertsBackward(x)...)
	} else {
		steps = append(steps, l.ffn(x, "ffn", float64(l.m.FFN)).backward()...)
	}
	steps = slices.Concat(steps, x.normBackward(l.m), x.residualBackward(l.m), l.attentionBackward(x, batch), x.normBackward(l.m))
	if l.predicts {
		steps = append(steps, l.joined(&x).backward()...)
	}
	return steps
}

// Repeated are the steps that the backward pass computes again: what lies before a
// transformer's layers and behind them is kept. What needs no input of the last product of a
// layer is not computed again where the framework stops early (PyTorch's checkpoints, whose
// early_stop is on; torch.utils.checkpoint).
func Repeated(b Block, s Sharding, batch float64, r Recompute) []Step {
	switch r {
	case FullRecompute:
		switch b.(type) {
		case *embedding, *head:
			return nil
		}
		steps := b.Forward(s, batch)
		if s.By != nil && s.By.StopsEarly {
			last := -1
			for i := range steps {
				if steps[i].Kernel == gpu.Activation {
					last = i
				}
			}
			if last >= 0 {
				steps = steps[:last+1]
			}
		}
		return steps
	case SelectiveRecompute:
		if s.By != nil && s.By.Operators {
			return betweenOperators(b, s, batch)
		}
		var out []Step
		for _, step := range b.Forward(s, batch) {
			cheap := s.By != nil && s.By.Modules &&
				(step.activates || slices.Contains([]gpu.Kernel{gpu.Norm, gpu.RMSNorm, gpu.Activation}, step.Kernel))
			if step.core && step.Do != Attend || cheap { // fused attention repeats its scores anyway
				out = append(out, step)
			}
		}
		return out
	}
	return nil
}

// betweenOperators are the steps of a layer but attention, every second product and the
// collectives, whose results are kept (torchtitan, activation_checkpoint.py: selective "op").
func betweenOperators(b Block, s Sharding, batch float64) []Step {
	if _, ok := b.(*layer); !ok {
		return nil
	}
	products := 0
	return slices.DeleteFunc(b.Forward(s, batch), func(step Step) bool {
		if step.Do == Product {
			products++
			return products%2 == 1
		}
		return step.Do == Attend || step.Do == Communicate || step.Do == Wait
	})
}

func (l *layer) Boundary(s Sharding, batch float64) float64 { return l.w.boundary(s, batch) }

// boundary is a hidden state, cut over the tensor axis where sequences are (Korthikanti
// et al.; without sequence parallelism Megatron-LM cuts it for the transfer and gathers
// it again, Narayanan et al., section 4.1).
func (w *Workload) boundary(s Sharding, batch float64) float64 {
	x := w.shape(s, batch)
	return x.tokens / x.t * float64(w.Transformer.Hidden) * x.e
}

// normForward reads and writes the hidden state.
func (x *shape) normForward(m *Transformer) []Step {
	kernel := gpu.Norm
	if m.RMSNorm {
		kernel = gpu.RMSNorm
	}
	return []Step{x.fused(Step{Name: "norm", Do: Stream, Kernel: kernel, Bytes: 2 * x.cut * float64(m.Hidden) * x.e}, eagerNorm, m.RMSNorm)}
}

// normBackward reads input and gradient and writes one.
func (x *shape) normBackward(m *Transformer) []Step {
	return []Step{x.fused(Step{Name: "norm backward", Do: Stream, Kernel: gpu.NormBackward, Bytes: 3 * x.cut * float64(m.Hidden) * x.e},
		eagerNormBackward, m.RMSNorm)}
}

// What operators one by one move, over what one kernel does. RMSNorm: to FP32, square, mean, scale,
// back, weight are 36 bytes an element for 4, its backward pass twice that for 6; rotation by complex
// products in FP32 20 for 4; SwiGLU 10 for 6, and 16 for 10 (counted for PyTorch's operators).
const (
	eagerNorm         = 9.0
	eagerNormBackward = 12.0
	eagerRotation     = 5.0
	eagerActivation   = 1.6
)

// fused is a kernel or, where operators run one by one, all of theirs.
func (x *shape) fused(s Step, times float64, splits bool) Step {
	if x.eager && splits {
		s.Bytes *= times
		if s.Kernel != gpu.Activation && s.Kernel != gpu.ActivationBackward {
			s.Kernel = gpu.Copy
		}
	}
	return s
}

// residual adds a branch to the hidden state, with its dropout.
func (x *shape) residual(m *Transformer) []Step {
	hidden := x.cut * float64(m.Hidden)
	sum := Step{Name: "residual", Do: Stream, Kernel: gpu.Copy, Bytes: hidden * (3*x.e + m.mask())}
	return append(x.apart("dropout", m.mask()*2*hidden*x.e), sum)
}

// residualBackward adds the branch's gradient, and applies its mask.
func (x *shape) residualBackward(m *Transformer) []Step {
	bytes := 3 * x.e
	if m.Dropout {
		bytes += 2*x.e + m.mask()
	}
	return []Step{{Name: "residual backward", Do: Stream, Kernel: gpu.Copy, Bytes: x.cut * float64(m.Hidden) * bytes}}
}

// mask is the byte that dropout keeps for an element.
func (m *Transformer) mask() float64 {
	if m.Dropout {
		return 1
	}
	return 0
}

// communicate is a collective over an axis.
func communicate(name string, axis Axis, kind collective.Kind, bytes float64, async bool) Step {
	return Step{Name: name, Do: Communicate, Axis: axis, Kind: kind, Size: units.Bytes(math.Ceil(bytes)), Async: async}
}
