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
	}
	if fitted != 13 {
		t.Errorf("%d fits of products, want 13", fitted)
	}
	share := fit.AttentionShare(get(t, "h200"), "cudnn", steadyRows(t))
	for _, c := range []struct {
		names  []string
		kernel string
		share  float64
	}{{[]string{"a100"}, "flash2", 1}, {[]string{"gb200", "b200"}, "cudnn", share}} { // cuDNN on B200 is that on GB200
		want, err := fit.FusedAttention(get(t, c.names[0]), c.kernel, attention)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.names {
			got := get(t, name).Attention
			if want.Backward == 0 {
				want.Backward = got.Backward // only the forward pass was measured
			}
			if off(got.Steady, c.share) {
				t.Errorf("%s: steady: %.3f is not what gpus.yaml has: %g", name, c.share, got.Steady)
			}
			sameAttention(t, name, got, want)
		}
	}
}

// TestHeadsTakeTheirExponentials: heads of 64 in the kernels of three libraries, to which nothing was fitted, against heads of 128
// with as many FLOP.
func TestHeadsTakeTheirExponentials(t *testing.T) {
	rows := map[fit.Attention]float64{}
	for _, r := range shipped(t, "gpu-attention.csv", func(r *bytes.Reader, f string) ([]fit.Attention, error) { return fit.ReadAttention(r, f) }) {
		at := r
		at.Time = 0
		rows[at] = r.Time.Seconds()
	}
	off, pairs := map[string]float64{}, map[string]float64{}
	for at, small := range rows {
		large := at
		if large.HeadDim = 128; at.HeadDim != 64 || rows[large] == 0 {
			continue
		}
		one := gpu.Attended{FLOP: 1e12, Tokens: at.Sequence, Head: 64}
		other := one
		other.Head = 128
		g, name := get(t, at.GPU), at.GPU+", "+at.Kernel
		want := g.Attend(gpu.BF16, one).Seconds() / g.Attend(gpu.BF16, other).Seconds()
		off[name] += math.Log(2 * small / rows[large] / want)
		pairs[name]++
	}
	for name, sum := range off {
		if factor := math.Exp(sum / pairs[name]); math.Abs(math.Log(factor)) > math.Log(1.15) {
			t.Errorf("%s: heads of 64 take %.2f of what is predicted from those of 128", name, factor)
		}
	}
	if len(off) != 4 {
		t.Errorf("%d kernels, want 4", len(off))
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
