package workload

import (
	"math"
	"testing"
)

// TestExpertsMoveWhatPyTorchsOperatorsDo: operator by operator, in bytes for a token at one expert, of which e is an element's, and m a
// mask's; h is the width of a hidden state and w that of the network.
func TestExpertsMoveWhatPyTorchsOperatorsDo(t *testing.T) {
	w, err := Get("mixtral-8x7b", "transformer.bias=true", "transformer.clamped=true")
	if err != nil {
		t.Fatal(err)
	}
	const h, f, e, m = 4096.0, 14336.0, 2.0, 1.0
	bias := []float64{
		e * h,        // b * p
		3 * e * h,    // t + b*p
		e * h, e * h, // cat, read and written
	}
	clamp := []float64{
		2 * e * f, 2 * e * f, // clamp of either half
		2 * e * f, 2 * e * f, // cat of both
	}
	ofBias := []float64{
		2 * e * h, e * h, // gradient * p, and its sum over tokens
		2 * e * h, e * h, // gradient * b, and its sum over elements
		2 * e * h, // cat of the gradients of t
	}
	ofClamp := []float64{
		(e + m) * f, (2*e + m) * f, // x <= high, where
		2 * (e + m) * f, 3 * m * f, (2*e + m) * f, // low <= x, x <= high, and, where
		2 * e * f, 2 * e * f, // cat of both gradients
	}
	moved := func(steps []Step) (bytes float64) {
		for _, s := range steps {
			if s.Do == Stream {
				bytes += s.Bytes
			}
		}
		return bytes
	}
	layer, copies := w.Blocks()[1], 4096.0*2
	for _, c := range []struct {
		name string
		of   func(Sharding, float64) []Step
		want [][]float64
	}{{"forward", layer.Forward, [][]float64{bias, clamp}}, {"backward", layer.Backward, [][]float64{ofBias, ofClamp}}} {
		want := 0.0
		for _, list := range c.want {
			for _, b := range list {
				want += b
			}
		}
		by := func(name string) float64 {
			return moved(c.of(Sharding{Tensor: 1, Context: 1, Expert: 2, By: frameworks()[name]}, 1))
		}
		if got := (by("megatron-core") - by("megatron-core-graphs")) / copies; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %.0f bytes a token and expert more, PyTorch's operators move %.0f", c.name, got, want)
		}
	}
}

// TestGatedNetworksHaveBothBiases: the first product of a gated network makes twice its width.
func TestGatedNetworksHaveBothBiases(t *testing.T) {
	with, err := Get("mixtral-8x7b", "transformer.bias=true")
	if err != nil {
		t.Fatal(err)
	}
	without, err := Get("mixtral-8x7b")
	if err != nil {
		t.Fatal(err)
	}
	one := Sharding{Tensor: 1, Context: 1, Expert: 1}
	more := with.Blocks()[1].Parameters(one).Expert - without.Blocks()[1].Parameters(one).Expert
	if want := 8.0 * (2*14336 + 4096); more != want {
		t.Errorf("%g parameters more with biases, want %g", more, want)
	}
}
