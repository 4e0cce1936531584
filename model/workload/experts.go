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

// dispatch sends tokens to their experts, and back: an all-to-all of all copies.
func (l *layer) dispatch(x *shape, name string) []Step {
	bytes := x.tokens / x.t * float64(l.m.TopK*l.m.Hidden) * x.e
	steps := []Step{{Name: name + " permutation", Do: Stream, Kernel: gpu.Copy, Bytes: 2 * bytes}}
	if x.s.Expert > 1 {
		steps = append(steps, communicate(name, Expert, collective.AllToAll, bytes, false))
	}
	return steps
}

// router is the product that scores experts; its backward pass has two.
func (l *layer) router(x *shape) Step {
	return Step{Name: "router", Do: Product, M: x.tokens / x.t, N: float64(l.m.Experts), K: float64(l.m.Hidden), Count: 1}
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

func (l *layer) shared(x shape) *ffn {
	return l.ffn(x, "shared expert", float64(l.m.SharedExperts*l.m.ExpertFFN))
}

func (l *layer) expertsForward(x shape) []Step {
	y, n := l.expertShape(&x)
	expert := l.m.ffnOf(&y, "experts", float64(l.m.ExpertFFN), false)
	steps := slices.Concat([]Step{l.router(&x)}, l.dispatch(&x, "dispatch"), grouped(expert.forward(), n), l.dispatch(&x, "combine"))
	if l.m.SharedExperts > 0 {
		steps = append(steps, l.shared(x).forward()...)
	}
	return steps
}

func (l *layer) expertsBackward(x shape) []Step {
	y, n := l.expertShape(&x)
	expert := l.m.ffnOf(&y, "experts", float64(l.m.ExpertFFN), false)
	steps := slices.Concat(l.dispatch(&x, "combine backward"), grouped(expert.backward(), n), l.dispatch(&x, "dispatch backward"),
		[]Step{l.router(&x), l.router(&x)})
	if l.m.SharedExperts > 0 {
		steps = append(steps, l.shared(x).backward()...)
	}
	return steps
}
