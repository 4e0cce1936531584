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
	whole := x.cut * h * (2*x.e + 2*x.product + 2*m.mask()) // inputs of two norms, of qkv and of the network; two masks
	heads := x.tokens * l.headElements(&x) * x.e
	sum := whole + heads + l.networkBytes(&x, x.product)
	switch selective := r == SelectiveRecompute && s.By != nil; {
	case selective && s.By.Operators && !l.experts:
		sum = l.operatorBytes(&x)
	case selective && s.By.Modules: // what norms and activations make is made again
		sum = whole - 2*x.cut*h*x.product + heads + l.networkBytes(&x, 0)
	}
	if l.predicts {
		sum += 2 * x.cut * h * x.product
	}
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

// networkBytes are the input and the output of the feed-forward network's activation, which
// is the input of a product and has so many bytes an element; of experts also the copies of tokens
// that go in and come out.
func (l *layer) networkBytes(x *shape, activated float64) float64 {
	m, width := l.m, x.e+activated
	if m.Gated {
		width += x.e
	}
	if !l.experts {
		return x.tokens * width * float64(m.FFN) / x.t
	}
	copies := x.tokens / x.t * float64(m.TopK)
	return copies*(width*float64(m.ExpertFFN)+(x.product+x.e)*float64(m.Hidden)) +
		x.tokens*width*float64(m.SharedExperts*m.ExpertFFN)/x.t
}

// operatorBytes are what betweenOperators keeps: the layer's input, the results of attention and of
// every second product, where a gated network's first two are two.
func (l *layer) operatorBytes(x *shape) float64 {
	in, out := l.projections(x)
	kept := x.cut*float64(l.m.Hidden) + x.tokens*(out.k+float64(l.m.FFN)/x.t)
	for _, p := range in {
		kept += p.m * p.n
	}
	if l.m.Gated {
		kept += x.cut * float64(l.m.Hidden)
	}
	return kept * x.e
}
