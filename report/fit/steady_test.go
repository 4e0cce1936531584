package fit_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/model/gpu"
	"railyard/model/workload"
	"railyard/report/fit"
)

func steadyRows(t *testing.T) []fit.Steady {
	t.Helper()
	return shipped(t, "gpu-steady.csv", func(r *bytes.Reader, f string) ([]fit.Steady, error) { return fit.ReadSteady(r, f) })
}

// TestShippedGPUsFollowTheSteadyMeasurements: what was measured on H200 holds for H100,
// the same chip with the same power limit.
func TestShippedGPUsFollowTheSteadyMeasurements(t *testing.T) {
	rows, h200 := steadyRows(t), get(t, "h200")
	for _, name := range []string{"h100", "h200"} {
		g := get(t, name)
		if want, e, err := fit.SteadyShare(h200, gpu.BF16, rows); err != nil || e > 0.02 || off(g.Products[gpu.BF16].Steady, want) {
			t.Errorf("%s: steady: %.3f (error %.3f, %v) is not what gpus.yaml has: %g", name, want, e, err, g.Products[gpu.BF16].Steady)
		}
		want, err := fit.SteadyProduct(h200, gpu.FP8, rows)
		if err != nil {
			t.Fatal(err)
		}
		sameProduct(t, name+" fp8", g.Products[gpu.FP8], want)
		for kernel, got := range map[string]gpu.Attention{"cudnn": g.Attention, "flash2": g.Flash} {
			want, err := fit.SteadyAttention(h200, kernel, rows)
			if err != nil {
				t.Fatal(err)
			}
			sameAttention(t, name+" "+kernel, got, want)
		}
	}
	want := fit.Streams(h200, rows)
	for _, kind := range gpu.Kernels() {
		if got := h200.Streams[kind]; off(got, want[kind]) {
			t.Errorf("streams: %s: %.3f, gpus.yaml has %g", kind, want[kind], got)
		}
	}
}

// TestLayersAgainstMeasurements: whole layers, to which nothing was fitted, forward and
// backward, on H200 without pause. PyTorch picks its attention kernel itself.
func TestLayersAgainstMeasurements(t *testing.T) {
	seen := 0
	for _, r := range steadyRows(t) {
		if !strings.HasPrefix(r.Kernel, "3 layers") {
			continue
		}
		seen++
		got := layers(t, 3, r.Shape[0], r.Shape[1], r.Shape[2], strings.HasSuffix(r.Kernel, "backward"))
		if e := got/r.Time.Seconds() - 1; math.Abs(e) > 0.04 {
			t.Errorf("%s of %v: %.2f ms, measured %.2f ms (%+.1f %%)", r.Kernel, r.Shape, got*1e3, r.Time.Microseconds()/1e3, 100*e)
		}
	}
	if seen != 10 {
		t.Errorf("%d rows of layers, want 10", seen)
	}
}

// layers is the predicted time in seconds of so many of training.py's layers.
func layers(t *testing.T, n, batch, sequence, hidden float64, backward bool) float64 {
	t.Helper()
	text := fmt.Sprintf(`schema: railyard.workload/v1
name: layers
source: exec/peers/training.py
date: 2026-11-22
precision: bf16
gradients: bf16
optimizer: adam
transformer: {layers: 1, hidden: %g, heads: %g, vocabulary: 1000, sequence: %g, positions: 1}
`, hidden, hidden/128, sequence)
	file := filepath.Join(t.TempDir(), "layers.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := workload.Get(file)
	if err != nil {
		t.Fatal(err)
	}
	one := workload.Sharding{Tensor: 1, Context: 1, Expert: 1}
	layer := w.Blocks()[1]
	steps := layer.Forward(one, batch)
	if backward {
		steps = append(steps, layer.Backward(one, batch)...)
	}
	sum := 0.0
	for i := range steps {
		sum += steps[i].Time(get(t, "h200"), w.Precision).Seconds()
	}
	return n * sum
}

func TestReadSteadySaysWhere(t *testing.T) {
	const header = "gpu,kernel,shape,type,flop,bytes,burst_us,steady_us,sm_mhz,watts\n"
	for text, want := range map[string]string{
		"gpu\n":                                  "f.csv:1: the first line must be gpu,kernel",
		header + "a,copy,1x?,bf16,0,1,1,1,1,1\n": `f.csv:2: shape: "?" is not a number`,
		header + "a,copy,1,bf16,0,NaN,1,1,1,1\n": `f.csv:2: flop and bytes: "NaN"`,
		header + "a,copy,1,bf16,0,1,1,0,1,1\n":   `f.csv:2: steady_us must be a positive number, not "0"`,
		header + "a,copy,1,int4,0,1,1,1,1,1\n":   `f.csv:2: precision "int4"`,
	} {
		if _, err := fit.ReadSteady(strings.NewReader(text), "f.csv"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s…", text, err, want)
		}
	}
}
