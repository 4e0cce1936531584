package workload

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/gpu"
)

// linear is a product with weights k×n that are cut over the tensor axis by columns or
// by rows (Shoeybi et al. 2019, arXiv 1909.08053, section 3), or not at all.
type linear struct {
	x       *shape
	name    string
	m, n, k float64 // of this GPU
	columns bool
	rows    bool
	wide    bool    // in 16 bits at least, whatever the precision of the other products
	frozen  bool    // its weights are not trained
	adapter float64 // rank of what is added to them and trained; 0: nothing
	bias    bool
}

// adapters are a low-rank product beside the frozen one: k×r and r×n (LoRA, section 4.1). Its backward
// pass has two products for each.
func (l *linear) adapters(backward bool) []Step {
	if l.adapter == 0 {
		return nil
	}
	product := func(m, n, k float64) Step {
		return Step{Name: l.name + " adapter", Do: Product, M: m, N: n, K: k, Count: 1, Backward: backward}
	}
	m, n, k, r := l.m, l.n, l.k, l.adapter
	if !backward {
		return []Step{product(m, r, k), product(m, n, r)}
	}
	return []Step{product(m, r, n), product(r, n, m), product(m, k, r), product(k, r, m)}
}

// hidden is the size of what the tensor axis exchanges: the hidden states of all tokens.
func (l *linear) hidden() float64 {
	if l.columns {
		return l.m * l.k * l.x.e
	}
	return l.m * l.n * l.x.e
}

// gathered is the size of what is gathered for a product: in the products' precision, since it
// is converted before it is sent (Transformer Engine's sequence-parallel layers gather FP8).
func (l *linear) gathered() float64 {
	if l.wide {
		return l.hidden()
	}
	return l.hidden() / l.x.e * l.x.product
}

// forward gathers the sequence before a product by columns; after one by rows, partial
// results are added.
func (l *linear) forward() []Step { return slices.Concat(l.adapters(false), l.weights(), l.addBias()) }

// weights is the product with them.
func (l *linear) weights() []Step {
	product := Step{Name: l.name, Do: Product, M: l.m, N: l.n, K: l.k, Count: 1, Converts: l.m * l.k, Wide: l.wide}
	switch {
	case !l.x.tp || !l.columns && !l.rows:
		return []Step{product}
	case l.columns && l.x.s.Sequence:
		return l.x.overlappedGather(communicate(l.name+" all-gather", Tensor, collective.AllGather, l.gathered(), false), product)
	case l.columns:
		return []Step{product}
	case l.x.s.Sequence:
		return l.x.overlappedScatter(product, communicate(l.name+" reduce-scatter", Tensor, collective.ReduceScatter, l.hidden(), false))
	}
	return []Step{product, communicate(l.name+" all-reduce", Tensor, collective.AllReduce, l.hidden(), false)}
}

// overlappedGather is a gather and the product of what it gathers. Where the framework does both in
// pieces, a GPU multiplies the piece that it has while others arrive.
func (x *shape) overlappedGather(gather, product Step) []Step {
	if x.s.By == nil || x.s.By.TensorPieces == 0 {
		return []Step{gather, product}
	}
	gather.Async = true
	return []Step{gather, product, {Do: Wait}}
}

// overlappedScatter is a product and the exchange of its result. Where the framework does both in
// pieces, only the last one is exchanged when the product has ended.
func (x *shape) overlappedScatter(product, scatter Step) []Step {
	if x.s.By == nil || x.s.By.TensorPieces == 0 {
		return []Step{product, scatter}
	}
	beside := scatter
	scatter.Count = 1 / float64(x.s.By.TensorPieces)
	beside.Count, beside.Async = 1-scatter.Count, true
	return []Step{beside, product, {Do: Wait}, scatter}
}

// backward: the gradient of the input depends on the weights, that of the weights on the
// input; what the tensor axis adds up for the one overlaps with the product of the other
// (Korthikanti et al., section 4.2.2, and Megatron-LM's asynchronous all-reduce).
func (l *linear) backward() []Step {
	steps := append(l.sumBias(), l.gradients()...)
	if l.frozen {
		steps = slices.DeleteFunc(steps, func(s Step) bool { return s.ofWeights })
	}
	return append(steps, l.adapters(true)...)
}

func (l *linear) gradients() []Step {
	input := Step{Name: l.name + " dgrad", Do: Product, M: l.m, N: l.k, K: l.n, Count: 1, Converts: l.m * l.n, Backward: true,
		Wide: l.wide}
	weight := Step{Name: l.name + " wgrad", Do: Product, M: l.k, N: l.n, K: l.m, Count: 1, Bytes: l.accumulation(), Backward: true,
		Wide: l.wide, ofWeights: true}
	wait := Step{Do: Wait}
	switch {
	case !l.x.tp || !l.columns && !l.rows, l.rows && !l.x.s.Sequence:
		return []Step{input, weight}
	case l.columns && l.x.s.Sequence:
		return []Step{communicate(l.name+" all-gather", Tensor, collective.AllGather, l.gathered(), true), input, wait,
			communicate(l.name+" reduce-scatter", Tensor, collective.ReduceScatter, l.hidden(), true), weight, wait}
	case l.columns:
		return []Step{input, communicate(l.name+" all-reduce", Tensor, collective.AllReduce, l.hidden(), true), weight, wait}
	}
	return append(l.x.overlappedGather(communicate(l.name+" all-gather", Tensor, collective.AllGather, l.gathered(), false), input), weight)
}

// accumulation is what the product that makes the weights' gradient moves besides its
// operands: it adds to what other micro-batches have left, in the type of the gradients
// (Megatron-LM's fused gradient accumulation reads and writes main_grad).
func (l *linear) accumulation() float64 {
	return l.k * l.n * (2*l.x.g - l.x.e)
}

// ffn is a feed-forward network of width f for the tokens of the shape.
type ffn struct {
	up, down linear
	act      Step
	actBack  Step
}

func (l *layer) ffn(x shape, name string, f float64) *ffn { return l.m.ffnOf(&x, name, f, true) }

// ffnOf cuts over the tensor axis where asked to.
func (m *Transformer) ffnOf(x *shape, name string, f float64, cut bool) *ffn {
	h, width, reads, back := float64(m.Hidden), f, 2.0, 3.0
	if cut {
		width /= x.t
	}
	if m.Gated { // reads two, writes one; backward reads three, writes two
		reads, back = 3, 5
	}
	bytes := x.tokens * width * x.e
	return &ffn{
		up: linear{x: x, name: name + " up", m: x.tokens, n: m.widened(width), k: h, columns: cut, frozen: m.Adapter > 0,
			adapter: float64(m.Adapter), bias: m.Bias},
		down: linear{x: x, name: name + " down", m: x.tokens, n: h, k: width, rows: cut, frozen: m.Adapter > 0,
			adapter: float64(m.Adapter), bias: m.Bias},
		act: x.fused(Step{Name: name + " activation", Do: Stream, Kernel: gpu.Activation, Bytes: reads * bytes}, eagerActivation, m.Gated),
		actBack: x.fused(Step{Name: name + " activation backward", Do: Stream, Kernel: gpu.ActivationBackward, Bytes: back * bytes},
			eagerActivation, m.Gated),
	}
}

func (f *ffn) forward() []Step {
	return append(append(f.up.forward(), f.act), f.down.forward()...)
}

func (f *ffn) backward() []Step {
	return append(append(f.down.backward(), f.actBack), f.up.backward()...)
}
