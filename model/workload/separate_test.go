package workload

import (
	"math"
	"testing"
)

// TestSeparateKernelsMoveWhatPyTorchsDo: operator by operator, as modeling.py calls them, in bytes for a token of a layer.
func TestSeparateKernelsMoveWhatPyTorchsDo(t *testing.T) {
	w, err := Get("bert-large", "transformer.sequence=512")
	if err != nil {
		t.Fatal(err)
	}
	const hidden, scores = 2 * 1024.0, 2 * 16 * 512.0 // bytes of a token's hidden state, and of its scores
	forward := []float64{
		2 * 3 * hidden,                     // output += bias, of queries, keys and values
		2 * hidden, 2 * hidden, 2 * hidden, // their transposes
		2 * scores, 2 * scores, // scores / sqrt(d), + mask
		2 * hidden,             // transpose of what comes out
		2 * hidden, 2 * hidden, // output += bias, dropout
		2 * 4 * hidden,         // output += bias of the first product
		2 * hidden, 2 * hidden, // of the second; dropout
	}
	backward := []float64{
		hidden, 4 * hidden, hidden, 3 * hidden, // sums of gradients over tokens, for the four biases
		2 * hidden, 2 * hidden, 2 * hidden, 2 * hidden, // transposes
		2 * scores,             // / sqrt(d)
		3 * hidden, 3 * hidden, // gradients of the input by queries, keys and values are added up
	}
	moved := func(steps []Step) (bytes, flop float64) {
		for _, s := range steps {
			if s.Do == Stream {
				bytes += s.Bytes
			}
			flop += s.M * s.N * s.K * s.Count
		}
		return bytes, flop
	}
	layer := w.Blocks()[1]
	plain, apart := Sharding{Tensor: 1, Context: 1, Expert: 1}, Sharding{Tensor: 1, Context: 1, Expert: 1, By: frameworks()["apex"]}
	for _, c := range []struct {
		name string
		of   func(Sharding, float64) []Step
		more []float64
	}{{"forward", layer.Forward, forward}, {"backward", layer.Backward, backward}} {
		want := 0.0
		for _, b := range c.more {
			want += b
		}
		less, flop := moved(c.of(plain, 1))
		more, same := moved(c.of(apart, 1))
		if got := (more - less) / 512; math.Abs(got-want) > 1e-6 || flop != same {
			t.Errorf("%s: %.0f bytes a token more, PyTorch's operators move %.0f; %g and %g multiplications", c.name, got, want, flop, same)
		}
	}
}
