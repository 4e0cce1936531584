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

// TestShippedGPUsFollowTheMeasurements refits every constant of gpus.yaml.
func TestShippedGPUsFollowTheMeasurements(t *testing.T) {
	products := shipped(t, "gpu-products.csv", func(r *bytes.Reader, f string) ([]fit.MatMul, error) { return fit.ReadMatMuls(r, f) })
	attention := shipped(t, "gpu-attention.csv", func(r *bytes.Reader, f string) ([]fit.Attention, error) { return fit.ReadAttention(r, f) })
	fitted := 0
	for _, name := range gpu.Names() {
		g, err := gpu.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range gpu.Precisions() {
			want, err := fit.Product(g, p, products)
			if err != nil {
				continue // nobody measured it
			}
			fitted++
			got := g.Products[p]
			if off(got.Launch.Seconds(), want.Launch.Seconds()) || off(got.Efficiency, want.Efficiency) || off(got.Traffic, want.Traffic) || off(got.Error, want.Error) {
				t.Errorf("%s %s: {launch: %.3gus, efficiency: %.3f, traffic: %.3f, error: %.3f} is not what gpus.yaml has: %+v", name, p, want.Launch.Microseconds(), want.Efficiency, want.Traffic, want.Error, got)
			}
		}
		if want, err := fit.FusedAttention(g, attention); err == nil {
			fitted++
			if got := g.Attention; off(got.Launch.Seconds(), want.Launch.Seconds()) || off(got.Efficiency, want.Efficiency) || off(got.HalfLength, want.HalfLength) || off(got.Error, want.Error) {
				t.Errorf("%s attention: {launch: %.3gus, efficiency: %.3f, half_length: %.0f, error: %.3f} is not what gpus.yaml has: %+v", name, want.Launch.Microseconds(), want.Efficiency, want.HalfLength, want.Error, got)
			}
		}
	}
	if fitted != 13 {
		t.Errorf("%d fits, want 13: 9 of products, 4 of attention", fitted)
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
