package workload

// Activations counts the tensors that the backward pass needs (Korthikanti et al.,
// section 4.1): s·b·h·(10 + 24/t + 5·a·s/(h·t)) bytes for GPT in 16 bits without sequence
// parallelism, s·b·h·(34 + 5·a·s/h)/t with it. Fused attention keeps its output, which is
// the projection's input anyway, instead of scores. A fully recomputed layer keeps its input.
func (l *layer) Activations(s Sharding, batch float64, r Recompute) float64 {
	x, m := l.w.shape(s, batch), l.m
	h := float64(m.Hidden)
	if r == FullRecompute {
		return x.cut * h * x.e
	}
	whole := x.cut * h * (4*x.e + 2*m.mask()) // inputs of two norms, of qkv and of the network; two masks
	heads := x.tokens * l.headElements(&x) * x.e
	network := l.networkElements(&x) * x.e
	sum := whole + heads + network
	if !m.Fused && r == NoRecompute {
		per := x.e + m.mask()*(x.e+1) // weights; dropout's mask and output
		sum += x.tokens * float64(m.Sequence) * float64(m.Heads) / x.t * per
	}
	return sum
}

// headElements are queries, keys, values and the projection's input of a token.
func (l *layer) headElements(x *shape) float64 {
	m := l.m
	if m.KVRank > 0 { // the latents are kept as well
		up := 2*m.queries() + 2*m.values()
		return up/x.t + float64(m.QueryRank+m.KVRank+m.RopeDim)
	}
	return (m.queries()+m.values())/x.t + 2*m.localKV(x.s.Tensor)*float64(m.HeadDim)
}

// networkElements are the input and the output of the feed-forward network's activation;
// of experts also the copies of tokens that go in and come out.
func (l *layer) networkElements(x *shape) float64 {
	m, parts := l.m, 2.0
	if m.Gated {
		parts = 3
	}
	if !l.experts {
		return x.tokens * parts * float64(m.FFN) / x.t
	}
	copies := x.tokens / x.t * float64(m.TopK)
	return copies*(parts*float64(m.ExpertFFN)+2*float64(m.Hidden)) + x.tokens*parts*float64(m.SharedExperts*m.ExpertFFN)/x.t
}
