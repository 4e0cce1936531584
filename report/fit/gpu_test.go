package fit_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"railyard/model/gpu"
	"railyard/report/fit"
	"railyard/validation"
)

func shipped[T any](t *testing.T, name string, read func(*bytes.Reader, string) ([]T, error)) []T {
	t.Helper()
	data, err := validation.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := read(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestShippedGPUsFollowTheMeasurements refits the constants of gpus.yaml that come from
// single kernels.
func TestShippedGPUsFollowTheMeasurements(t *testing.T) {
	rows := shipped(t, "gpu-products.csv", func(r *bytes.Reader, f string) ([]fit.MatMul, error) { return fit.ReadMatMuls(r, f) })
	attention := shipped(t, "gpu-attention.csv", func(r *bytes.Reader, f string) ([]fit.Attention, error) {
		return fit.ReadAttention(r,
			f)
	})
	fitted := 0
	for _, name := range gpu.Names() {
		g := get(t, name)
		for _, p := range gpu.Precisions() {
			if want, err := fit.Product(g, p, rows); err == nil { // else nobody measured it
				fitted++
				sameProduct(t, name+" "+string(p), g.Products[p], want)
			}
		}
		if want, err := fit.FusedAttention(g, attention); err == nil {
			fitted++
			want.Backward = g.Attention.Backward // only the forward pass was measured
			sameAttention(t, name, g.Attention, want)
		}
	}
	if fitted != 11 {
		t.Errorf("%d fits, want 11: 9 of products, 2 of attention", fitted)
	}
}

func get(t *testing.T, name string) *gpu.GPU {
	t.Helper()
	g, err := gpu.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func sameProduct(t *testing.T, what string, got, want gpu.Product) {
	t.Helper()
	if off(got.Launch.Seconds(), want.Launch.Seconds()) || off(got.Efficiency, want.Efficiency) || off(got.Traffic, want.Traffic) ||
		off(got.Error, want.Error) {
		t.Errorf("%s: {launch: %.3gus, efficiency: %.3f, traffic: %.3f, error: %.3f} is not what gpus.yaml has: %+v", what,
			want.Launch.Microseconds(), want.Efficiency, want.Traffic, want.Error, got)
	}
}

func sameAttention(t *testing.T, what string, got, want gpu.Attention) {
	t.Helper()
	if off(got.Launch.Seconds(), want.Launch.Seconds()) || off(got.Efficiency, want.Efficiency) || off(got.HalfLength, want.HalfLength) ||
		off(got.Backward, want.Backward) || off(got.Error, want.Error) {
		t.Errorf("%s attention: {launch: %.3gus, efficiency: %.3f, half_length: %.0f, backward: %.3f, error: %.3f} is not what "+
			"gpus.yaml has: %+v",
			what, want.Launch.Microseconds(), want.Efficiency, want.HalfLength, want.Backward, want.Error, got)
	}
}

// off allows for the digits that the file prints.
func off(got, want float64) bool { return math.Abs(got-want) > 0.01*want+5e-4*math.Min(1, want) }

func TestReadMatMulsSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "f.csv: empty",
		"gpu,m\n":                               "f.csv:1: the first line must be gpu,type,m,n,k,us",
		"gpu,type,m,n,k,us\na,bf16,1,2,x,4\n":   `f.csv:2: k must be a positive number, not "x"`,
		"gpu,type,m,n,k,us\na,bf16,1,2,3,NaN\n": `f.csv:2: us must be a positive number, not "NaN"`,
		"gpu,type,m,n,k,us\na,int3,1,2,3,4\n":   `f.csv:2: precision "int3"`,
	} {
		if _, err := fit.ReadMatMuls(strings.NewReader(text), "f.csv"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s…", text, err, want)
		}
	}
}
