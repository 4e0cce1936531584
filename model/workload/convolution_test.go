package workload

import (
	"math"
	"strings"
	"testing"

	"railyard/model/gpu"
)

// TestConvolutionsMoveImagesOnce: what a block of ResNet-50 reads and writes for an image, counted by hand (stage1.0: 56 × 56, 64 channels
// in and 256 out), and what it multiplies.
func TestConvolutionsMoveImagesOnce(t *testing.T) {
	w, err := Get("resnet-50")
	if err != nil {
		t.Fatal(err)
	}
	const e, narrow, wide = 2.0, 56 * 56 * 64.0, 56 * 56 * 256.0
	weights := []float64{64 * 64, 9 * 64 * 64, 64 * 256, 64 * 256}
	images := 4*narrow + 2*narrow + 2*wide // each convolution reads 64 channels, two make 64 and two 256
	norms := 2*narrow + 2*wide
	products, streams := 0.0, 0.0
	count := func(steps []Step, passes float64, more float64) {
		t.Helper()
		products, streams = 0, 0
		flop := 0.0
		for _, s := range steps {
			if s.Do == Product {
				products += e*(s.M*s.K+s.K*s.N+s.M*s.N) + s.Bytes
				flop += 2 * s.M * s.N * s.K
			} else {
				streams += s.Bytes
			}
		}
		want := images
		for _, n := range weights {
			want += n
		}
		if math.Abs(products-passes*e*want) > 1e-3 || math.Abs(streams-more) > 1e-3 || math.Abs(flop-passes*462422016) > 1e-3 {
			t.Errorf("products move %.0f bytes, want %.0f; norms and the sum %.0f, want %.0f; %.0f FLOP", products, passes*e*want, streams,
				more, flop)
		}
	}
	block := w.Blocks()[1]
	count(block.Forward(Sharding{}, 1), 1, e*(2*norms+wide))
	count(block.Backward(Sharding{}, 1), 2, e*(3*norms+2*wide))
}

// TestPooledOutputIsKept: the first row keeps what its convolution makes, its norm, and what is pooled of it for the next row.
func TestPooledOutputIsKept(t *testing.T) {
	w, err := Get("resnet-50")
	if err != nil {
		t.Fatal(err)
	}
	const e, made, pooled = 2.0, 112 * 112 * 64.0, 56 * 56 * 64.0
	if got := w.Blocks()[0].Activations(Sharding{}, 1, NoRecompute); got != e*(2*made+pooled) {
		t.Errorf("%.0f bytes, want %.0f", got, e*(2*made+pooled))
	}
}

// TestStridesSkipWhatNoKernelReaches: a kernel of one element with a stride of two reads a quarter of the image.
func TestStridesSkipWhatNoKernelReaches(t *testing.T) {
	one, three := Convolution{Side: 28, Kernel: 1, Stride: 2, In: 256}, Convolution{Side: 28, Kernel: 3, Stride: 2, In: 128}
	if got := one.read(); got != 28*28*256 {
		t.Errorf("1 × 1: %g elements", got)
	}
	if got := three.read(); got != 56*56*128 {
		t.Errorf("3 × 3: %g elements", got)
	}
}

// TestNormsAreIssuedNotMoved: H200's memory is 1.43 times as fast as H100's, and its multiprocessors are as many: MLPerf's ResNet-50
// (training v4.0, 400 images a GPU) gains 1.11 by it; with activations written and read once and norms free it would gain 1.26.
func TestNormsAreIssuedNotMoved(t *testing.T) {
	w, err := Get("resnet-50")
	if err != nil {
		t.Fatal(err)
	}
	took := func(name string) (sum float64) {
		g, err := gpu.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range w.Blocks() {
			for _, s := range append(b.Forward(Sharding{}, 400), b.Backward(Sharding{}, 400)...) {
				sum += s.Time(g, w.Precision).Seconds()
			}
		}
		return sum
	}
	const measured, moved = 63600.6 / 57277.0, 1.26
	if gain := took("h100") / took("h200"); math.Abs(gain-measured) > (moved-measured)*2/3 {
		t.Errorf("H200 is %.3f times as fast, MLPerf's %.3f", gain, measured)
	}
}

// TestTotalsFollowFromConvolutions: a file gives one of them.
func TestTotalsFollowFromConvolutions(t *testing.T) {
	file := func(row string) string {
		return "schema: railyard.workload/v1\nname: x\nsource: a test\ndate: 2026-11-30\nprecision: fp16\noptimizer: sgd\n" +
			"layers:\n  - " + row + "\n"
	}
	for row, want := range map[string]string{
		"{name: a, flop: 8, convolutions: [{side: 2, in: 1, out: 1}]}": "flop follows from convolutions",
		"{name: a, flop: 8, activations: 8}":                           "parameters is missing",
	} {
		if _, err := Parse("x.yaml", []byte(file(row))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
}
