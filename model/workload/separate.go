package workload

import "railyard/model/gpu"

// What PyTorch did until 2020 in kernels of their own, and NVIDIA's BERT with it: the bias of a product is added in place, and its
// gradient is a sum over the tokens (torch/nn/functional.py of PyTorch 1.2 to 1.5, linear: "output += bias"); dropout writes before
// a branch is added; scores are divided, and masked, in two more passes; queries, keys, values and what comes out of
// attention are transposed by copies (DeepLearningExamples at 23a6382c, PyTorch/LanguageModeling/BERT/modeling.py, BertSelfAttention).

// separate reports whether that is so.
func (x *shape) separate() bool { return x.s.By != nil && x.s.By.Separate }

// apart is a kernel that moves so many bytes, where such kernels are apart.
func (x *shape) apart(name string, bytes float64) []Step {
	if !x.separate() || bytes == 0 {
		return nil
	}
	return []Step{{Name: name, Do: Stream, Kernel: gpu.Copy, Bytes: bytes}}
}

// biased are the bytes of a result to which a bias is added.
func (l *linear) biased() float64 {
	if !l.bias {
		return 0
	}
	return l.m * l.n * l.x.e
}

// addBias reads and writes a product's result.
func (l *linear) addBias() []Step { return l.x.apart(l.name+" bias", 2*l.biased()) }

// sumBias reads the gradient of a product's result.
func (l *linear) sumBias() []Step { return l.x.apart(l.name+" bias gradient", l.biased()) }

// transposed are four copies of a hidden state. In the backward pass three gradients of the layer's input are added up besides.
func (l *layer) transposed(x *shape, backward bool) []Step {
	hidden := x.tokens * l.m.queries() / x.t * x.e
	if backward {
		return x.apart("transposes and sums of gradients", (4*2+2*3)*hidden)
	}
	return x.apart("transposes", 4*2*hidden)
}

// scaled are a division of so many scores and their mask; the mask has no gradient.
func (x *shape) scaled(scores float64, backward bool) []Step {
	if backward {
		return x.apart("scale backward", 2*x.e*scores)
	}
	return x.apart("scale and mask", 2*2*x.e*scores)
}
