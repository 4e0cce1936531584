package workload

import "railyard/model/gpu"

// What PyTorch's operators do one by one around the products of experts, counted in bytes (Megatron-LM at core_v0.15.0, names in
// frameworks.yaml): `t + b*p` for each expert and a concatenation, where a bias b is weighted by each token's probability p, and clamps
// of both halves of what a gated activation reads. Derivatives are those of PyTorch's autograd (tools/autograd of v2.8).

// operators are what a framework does one by one around the products of experts, between and behind them: forward or backward.
type operators struct {
	clamp []Step // between the products
	bias  []Step // behind the second, before it in the backward pass
}

// expertOperators are none where the framework fuses them.
func (l *layer) expertOperators(y *shape, backward bool) (out operators) {
	if y.s.By == nil || !y.s.By.ExpertOperators {
		return out
	}
	rows, e := y.tokens, y.e
	clamp, bias := 2*2*2*e, 6*e // each half is read and written, and concatenated; b*p, t+b*p and the concatenation
	if backward {
		// x <= high: a byte of mask, where(mask, gradient, 0); x >= low besides, and the two masks joined; the halves are concatenated.
		clamp = (3*e + 2) + (4*e + 6) + 2*2*e
		bias = 2*(3*e) + 2*e // gradient·p, summed over tokens; gradient·b, summed over elements; gradients of t are concatenated
	}
	if l.m.Clamped && l.m.Gated {
		out.clamp = []Step{{Name: "experts clamp", Do: Stream, Kernel: gpu.Copy, Bytes: clamp * rows * float64(l.m.ExpertFFN),
			activates: true}}
	}
	if l.m.Bias {
		out.bias = []Step{{Name: "experts bias", Do: Stream, Kernel: gpu.Copy, Bytes: bias * rows * float64(l.m.Hidden)}}
	}
	return out
}
