package workload

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/gpu"
)

// expertShape is what an expert sees: tokens are cut over the tensor axis, too, and go
// to TopK experts each, evenly. Experts are whole: the expert axis takes the place of the
// tensor axis (Megatron-Core's folding, arXiv 2504.14960).
func (l *layer) expertShape(x *shape) (y shape, experts float64) {
	y = *x
	y.tp, y.t = false, 1
	experts = float64(l.m.Experts) / float64(x.s.Expert)
	y.tokens = x.tokens / x.t * float64(l.m.TopK) / experts // of each local expert
	return y, experts
}

// Routing is how tokens choose experts.
type Routing struct {
	Experts int `file:"experts"` // 0: dense
	TopK    int `file:"top_k"`
	Limit   int `file:"node_limit"` // domains that a token's experts lie in at most (DeepSeek-V3, section 2.1.2); 0: all
	// Copies sends every copy of a token by an all-to-all of the library (Megatron-Core's dispatcher alltoall), not each token once to
	// a domain (DeepEP, HybridEP).
	Copies bool `file:"send_copies"`
	// Overlapped goes with the computation of another micro-batch (DeepSeek-V3, section 3.2.1; Megatron-Core's moe_a2a_overlap).
	Overlapped bool `file:"overlap_experts"`
}

// Reached is in how many of parts, equal ones of domains, a token has experts, which are
// chosen evenly: that of a part of x experts has none is C(n−x, k) / C(n, k).
func (r *Routing) Reached(domains, parts int) float64 {
	n, each := float64(r.Experts), float64(r.Experts)/float64(parts)
	if r.Limit > 0 && r.Limit < domains {
		n, parts = n*float64(r.Limit)/float64(domains), parts*r.Limit/domains
	}
	none := 1.0
	for i := range r.TopK {
		none *= max(n-each-float64(i), 0) / (n - float64(i))
	}
	return float64(parts) * (1 - none)
}

// dispatch sends tokens to their experts, and back, after or before they are permuted; Size
// is that of all copies.
func (l *layer) dispatch(x *shape, name string, element float64) []Step {
	copies := x.tokens / x.t * float64(l.m.TopK*l.m.Hidden)
	steps := []Step{{Name: name + " permutation", Do: Stream, Kernel: gpu.Copy, Bytes: 2 * copies * x.e}}
	if x.s.Expert == 1 {
		return steps
	}
	exposed := communicate(name, Expert, collective.AllToAll, copies*element, false)
	exposed.Routing = &l.m.Routing
	if !l.m.Overlapped {
		return append(steps, exposed)
	}
	hidden := exposed
	hidden.Beside, hidden.Count = true, 1
	if by := x.s.By; by != nil && by.ExpertOverlap > 0 {
		hidden.Count, exposed.Count = by.ExpertOverlap, 1-by.ExpertOverlap
		steps = append(steps, exposed)
	}
	return append(steps, hidden)
}

// dispatched is the size of an element on its way to the experts; back it has 16 bits.
func (m *Transformer) dispatched(x *shape) float64 {
	if m.Dispatch != "" {
		return float64(m.Dispatch.Bytes())
	}
	return x.e
}

// router is the product that scores experts; its backward pass has two.
func (l *layer) router(x *shape) Step {
	return Step{Name: "router", Do: Product, M: x.tokens / x.t, N: float64(l.m.Experts), K: float64(l.m.Hidden), Count: 1, Wide: true}
}

// grouped makes the products of one expert those of all local ones in one kernel.
func grouped(steps []Step, experts float64) []Step {
	for i := range steps {
		switch steps[i].Do {
		case Product:
			steps[i].Count *= experts
			steps[i].Bytes, steps[i].Converts = steps[i].Bytes*experts, steps[i].Converts*experts
		case Stream:
			steps[i].Bytes *= experts
		}
	}
	return steps
}

// launched are the steps of a pass of an expert layer, of so many products for each of the local experts, that the host launches one
// by one when it has read how many tokens there are: they take as long as it needs for that at least. Where another micro-batch is at
// work beside, that is only true of all that is left of the pass.
func (l *layer) launched(x *shape, experts, products float64, steps ...[]Step) []Step {
	if x.s.By == nil || len(x.s.By.ExpertLaunch) == 0 {
		return slices.Concat(steps...)
	}
	out := slices.Concat([]Step{{Do: Launch, Count: experts * products}}, slices.Concat(steps...))
	if !l.m.Overlapped {
		out = append(out, Step{Do: Launched})
	}
	return out
}

func (l *layer) shared(x shape) *ffn {
	return l.ffn(x, "shared expert", float64(l.m.SharedExperts*l.m.ExpertFFN))
}

func (l *layer) expertsForward(x shape) []Step {
	y, n := l.expertShape(&x)
	expert, apart := l.m.ffnOf(&y, "experts", float64(l.m.ExpertFFN), false), l.expertOperators(&y, false)
	network := slices.Concat(expert.up.forward(), apart.clamp, []Step{expert.act}, expert.down.forward(), apart.bias)
	steps := append([]Step{l.router(&x)}, l.launched(&x, n, 2, l.dispatch(&x, "dispatch", l.m.dispatched(&x)),
		grouped(network, n), l.dispatch(&x, "combine", x.e))...)
	if l.m.SharedExperts > 0 {
		steps = append(steps, l.shared(x).forward()...)
	}
	return steps
}

func (l *layer) expertsBackward(x shape) []Step {
	y, n := l.expertShape(&x)
	expert, apart := l.m.ffnOf(&y, "experts", float64(l.m.ExpertFFN), false), l.expertOperators(&y, true)
	network := slices.Concat(apart.bias, expert.down.backward(), []Step{expert.actBack}, apart.clamp, expert.up.backward())
	steps := append(l.launched(&x, n, 4, l.dispatch(&x, "combine backward", l.m.dispatched(&x)),
		grouped(network, n), l.dispatch(&x, "dispatch backward", x.e)), l.router(&x), l.router(&x))
	if l.m.SharedExperts > 0 {
		steps = append(steps, l.shared(x).backward()...)
	}
	return steps
}
