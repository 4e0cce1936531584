package workload

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/gpu"
)

// attention is everything from the hidden state to the branch that is added to it.
func (l *layer) attention(x shape, batch float64) []Step {
	in, out := l.projections(&x)
	var steps []Step
	for i := range in {
		steps = append(steps, in[i].forward()...)
	}
	steps = append(steps, l.rotate(&x)...)
	steps = append(steps, x.ring(l.gatherKeys(&x, collective.AllGather), l.core(&x, batch, false), nil)...)
	return append(steps, out.forward()...)
}

func (l *layer) attentionBackward(x shape, batch float64) []Step {
	in, out := l.projections(&x)
	steps := slices.Concat(out.backward(), x.ring(l.gatherKeys(&x, collective.AllGather), l.core(&x, batch, true),
		l.gatherKeys(&x, collective.ReduceScatter)), l.rotate(&x))
	for _, p := range slices.Backward(in) {
		steps = append(steps, p.backward()...)
	}
	return steps
}

// projections lead from the hidden state to queries, keys and values, and from the heads
// back. Latent attention goes through small matrices that are not cut.
func (l *layer) projections(x *shape) (in []linear, out linear) {
	m, h, t := l.m, float64(l.m.Hidden), x.t
	tuned := linear{x: x, m: x.tokens, frozen: m.Adapter > 0, adapter: float64(m.Adapter), bias: m.Bias}
	matrix := func(name string, n, k float64, columns bool) linear {
		p := tuned
		p.name, p.n, p.k, p.columns = name, n, k, columns
		return p
	}
	out = matrix("attention out", h, m.values()/t, false)
	out.rows = true
	if m.KVRank == 0 {
		n := m.queries()/t + 2*m.localKV(x.s.Tensor)*float64(m.HeadDim)
		return []linear{matrix("qkv", n, h, true)}, out
	}
	q, kv := float64(m.QueryRank), float64(m.KVRank)
	return []linear{matrix("qkv down", q+kv+float64(m.RopeDim), h, false), matrix("q up", m.queries()/t, q, true),
		matrix("kv up", float64(m.Heads*(m.HeadDim+m.ValueDim))/t, kv, true)}, out
}

// rotate applies rotary position embeddings to queries and keys.
func (l *layer) rotate(x *shape) []Step {
	m := l.m
	if m.Positions > 0 {
		return nil
	}
	width := m.queries()/x.t + m.localKV(x.s.Tensor)*float64(m.HeadDim)
	if m.KVRank > 0 {
		width = 2 * m.queries() / x.t
	}
	bytes := 2 * width * x.tokens * x.e
	return []Step{x.fused(Step{Name: "rotary embedding", Do: Stream, Kernel: gpu.Copy, Bytes: bytes}, eagerRotation, true)}
}

// gatherKeys exchanges keys and values, or their gradients, over the context axis
// (Llama 3, arXiv 2407.21783, section 3.3.2: all-gather before attention).
func (l *layer) gatherKeys(x *shape, kind collective.Kind) []Step {
	if x.s.Context == 1 {
		return nil
	}
	width := 2 * l.m.localKV(x.s.Tensor) * float64(l.m.HeadDim)
	if l.m.KVRank > 0 {
		width = float64(l.m.KVRank + l.m.RopeDim)
	}
	return []Step{communicate("keys and values "+kind.String(), Context, kind, width*x.tokens*float64(x.s.Context)*x.e, false)}
}

// ring is attention between the exchanges of its keys and values and of their gradients. Where the
// framework passes them round piece by piece, they go on beside it.
func (x *shape) ring(before, core, after []Step) []Step {
	if x.s.By == nil || !x.s.By.ContextRing || len(before) == 0 {
		return slices.Concat(before, core, after)
	}
	exchanged := append(before, after...)
	for i := range exchanged {
		exchanged[i].Async = true
	}
	return slices.Concat(exchanged, core, []Step{{Do: Wait}})
}

// core is attention itself. The fused kernel skips what causality masks; its backward
// pass computes the scores again: 5 products instead of 2 (FlashAttention-2, arXiv
// 2307.08691, section 4.1). The context axis balances the causal work (Llama 3).
func (l *layer) core(x *shape, batch float64, backward bool) []Step {
	m := l.m
	flop := l.scoreFLOP(x.tokens) / x.t
	if m.Fused {
		if m.Causal {
			flop /= 2
		}
		if backward {
			flop *= 2.5
		}
		return []Step{{Name: "attention", Do: Attend, FLOP: flop, Bytes: l.attended(x, backward), Tokens: l.reach(), Head: m.head(),
			Backward: backward, Flash: m.Flash, core: true}}
	}
	s, keys, width := float64(m.Sequence), m.queries()/float64(m.Heads), m.values()/float64(m.Heads)
	heads := batch * float64(m.Heads) / x.t
	rows := s / float64(x.s.Context)
	scores := Step{Name: "scores", Do: Product, M: rows, N: s, K: keys, Count: heads, Backward: backward, Wide: true, core: true}
	values := Step{Name: "weighted values", Do: Product, M: rows, N: width, K: s, Count: heads, Backward: backward, Wide: true,
		core: true}
	softmax := Step{Name: "softmax", Do: Stream, Kernel: gpu.Softmax, Bytes: heads * rows * s * (2*x.e + m.mask()*(2*x.e+1)), core: true}
	scaled, transposed := x.scaled(heads*rows*s, backward), l.transposed(x, backward)
	if !backward {
		return slices.Concat(transposed, []Step{scores}, scaled, []Step{softmax, values})
	}
	softmax.Bytes *= 1.5 // reads the weights and the gradient, writes one
	return slices.Concat([]Step{values, values, softmax}, scaled, []Step{scores, scores}, transposed)
}

// attended are queries, keys, values and what comes out of fused attention, each once; the backward pass reads these and the gradient
// of the result, and writes three.
func (l *layer) attended(x *shape, backward bool) float64 {
	m := l.m
	in := m.queries()/x.t + m.localKV(x.s.Tensor)*(m.queries()+m.values())/float64(m.Heads)
	sum := in + m.values()/x.t
	if backward {
		sum += in + m.values()/x.t
	}
	return sum * x.tokens * x.e
}
