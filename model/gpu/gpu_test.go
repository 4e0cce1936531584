package gpu_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func get(t *testing.T, name string) *gpu.GPU {
	t.Helper()
	g, err := gpu.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestNamesAreTheFiles: the names that are read without the rest are those of the GPUs that are read.
func TestNamesAreTheFiles(t *testing.T) {
	data, err := os.ReadFile("gpus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := gpu.Parse("gpus.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(maps.Keys(all)); !slices.Equal(gpu.Names(), want) {
		t.Errorf("%v, want %v", gpu.Names(), want)
	}
}

// TestNoWorkBeatsThePeak: fitted times never promise more than the datasheet.
func TestNoWorkBeatsThePeak(t *testing.T) {
	for _, name := range gpu.Names() {
		g := get(t, name)
		for p, peak := range g.Peak {
			for _, n := range []float64{1, 64, 1000, 8192, 65536} {
				if flop := 2 * n * n * n; flop/g.MatMul(p, n, n, n, 1, 0).Seconds() > peak {
					t.Errorf("%s %s: a product of %g³ is faster than the peak", name, p, n)
				}
			}
			if p != gpu.FP8 && 1e15/g.Attend(p, gpu.Attended{FLOP: 1e15, Tokens: 65536, Head: 1024}).Seconds() > peak {
				t.Errorf("%s %s: attention is faster than the peak", name, p)
			}
		}
		if bytes := 1e9; bytes/g.Stream(gpu.Copy, bytes).Seconds() > float64(g.Bandwidth) {
			t.Errorf("%s: streams faster than its memory", name)
		}
	}
}

// TestMatMulAgainstMeasurements: two rows of gpu-products.csv, within twice the fit's
// mean error.
func TestMatMulAgainstMeasurements(t *testing.T) {
	for _, c := range []struct {
		gpu     string
		m, n, k float64
		tflops  float64
	}{
		{"a100", 4096, 4096, 4096, 0.86 * 312},
		{"h100", 8192, 8192, 8192, 0.741 * 989.4},
		{"b200", 8192, 8192, 8192, 0.680 * 2250},
	} {
		g := get(t, c.gpu)
		got := 2 * c.m * c.n * c.k / g.MatMul(gpu.BF16, c.m, c.n, c.k, 1, 0).Seconds() / 1e12
		if got < c.tflops*0.82 || got > c.tflops*1.18 {
			t.Errorf("%s: %.0f TFLOP/s, measured %.0f", c.gpu, got, c.tflops)
		}
	}
}

func TestOf(t *testing.T) {
	for name, want := range map[string]string{"dgx-h100": "h100", "dgx-h200": "h200", "dgx1-p100": "p100", "dgx1-v100": "v100",
		"dgx2":          "v100",
		"superpod-a100": "a100", "gb200-nvl72": "gb200", "mi300x-node": "mi300x", "mi250x-node": "mi250x", "leaf-spine-roce": "h100",
		"dgx-b200": "b200", "dgx-b300": "b300", "gb300-nvl72": "gb300", "gh200": "gh200", "hgx-h800": "h800", "hgx-h20": "h20",
		"mi325x-node": "mi325x", "mi355x-node": "mi355x"} {
		top, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g, err := gpu.Of(top); err != nil || g.Name != want {
			t.Errorf("%s: %v, %v, want %s", name, g, err, want)
		}
	}
	top, err := topology.Load(topologies.Source, "pcie3-server", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Of(top); err == nil || !strings.Contains(err.Error(), "--gpu") {
		t.Errorf("pcie3-server: %v, want to be asked for --gpu", err)
	}
}

func TestBorrowedConstantsAreNoted(t *testing.T) {
	if g := get(t, "v100"); len(g.Notes) != 2 || g.Attention != get(t, "a100").Attention {
		t.Errorf("v100: %q", g.Notes)
	}
	if g := get(t, "p100"); g.Products[gpu.FP16] != get(t, "v100").Products[gpu.FP16] || len(g.NotesFor(gpu.FP16)) < 2 {
		t.Errorf("p100: %q", g.Notes)
	}
	if share := get(t, "gb200").Products[gpu.BF16].Steady; share != get(t, "h200").Products[gpu.BF16].Steady {
		t.Errorf("gb200 under load: %v", share)
	}
	if b200, h200 := get(t, "b200"), get(t, "h200"); len(b200.NotesFor(gpu.BF16)) != 1 ||
		len(h200.NotesFor(gpu.BF16))+len(h200.NotesFor(gpu.FP8)) != 0 {
		t.Errorf("rates under load: b200 %q, h200 %q", b200.Notes, h200.Notes)
	}
	if g := get(t, "h100"); g.Supports(gpu.FP8) != nil || get(t, "a100").Supports(gpu.FP8) == nil {
		t.Error("H100 has FP8, A100 has not")
	}
}

const valid = `schema: railyard.gpus/v1
gpus:
  mine:
    title: "Mine"
    memory: 80GiB
    bandwidth: 3000GB/s
    tflops: {bf16: 1000}
    like: h100
    source: "me"
    date: 2026-11-21
`

// TestPowerIsThatOfWhomAGPUTakesAfter: its kernels were measured at that GPU's limit, whatever others have a peak rate that is nearer.
func TestPowerIsThatOfWhomAGPUTakesAfter(t *testing.T) {
	for like, watts := range map[string]float64{"h100": 700, "gb200": 1200} {
		list, err := gpu.Parse("f.yaml", []byte(strings.Replace(valid, "like: h100", "power: 350\n    like: "+like, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := list["mine"].Clock, math.Cbrt(350/watts); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("350 W, like %s: clock %.3f, want %.3f", like, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	if _, err := gpu.Parse("f.yaml", []byte(valid)); err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string][2]string{
		"80GiB":          {"-1GiB", "f.yaml:5: "},
		"3000GB/s":       {"0GB/s", "f.yaml:6: gpu mine: bandwidth is 0GB/s: a rate must be positive"},
		"{bf16: 1000}":   {"{bf16: NaN}", `f.yaml:7: gpus.mine.tflops: bf16 must be a positive number, not "NaN"`},
		"tflops: {bf16":  {"tflops: {bf17", `f.yaml:7: gpus.mine.tflops: unknown key "bf17"`},
		"like: h100":     {"like: h999", `f.yaml:8: gpu mine: there is no GPU "h999"`},
		"    like: h100": {"", "products"},
		"gpus/v1":        {"gpus/v9", `f.yaml:1: schema "railyard.gpus/v9" is not known`},
	} {
		_, err := gpu.Parse("f.yaml", []byte(strings.Replace(valid, old, c[0], 1)))
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s → %s: %v, want %s", old, c[0], err, c[1])
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := gpu.Parse("f.yaml", data)
		if err != nil {
			return
		}
		for _, g := range list {
			for p := range g.Peak {
				if d := g.MatMul(p, 128, 128, 128, 1, 0); d < 0 || d > units.MaxTime {
					t.Errorf("a product takes %v", d)
				}
			}
		}
	})
}

// TestProductsTakeTheirBytes: no product is faster than its operands and its result cross the memory once. Batched products of
// attention on V100 (512 tokens, heads of 64) took 0.72 of that by the fit alone.
func TestProductsTakeTheirBytes(t *testing.T) {
	for _, name := range gpu.Names() {
		g := get(t, name)
		for p := range g.Peak {
			for _, c := range [][4]float64{{512, 512, 64, 128}, {512, 64, 512, 128}, {1, 4096, 4096, 1}, {8192, 8, 8192, 4}} {
				e := float64(p.Bytes())
				bytes := c[3] * (e*(c[0]*c[2]+c[2]*c[1]) + max(e, 2)*c[0]*c[1])
				if rate := bytes / g.MatMul(p, c[0], c[1], c[2], c[3], 0).Seconds(); rate > float64(g.Bandwidth) {
					t.Errorf("%s %s: %v moves %.0f GB/s, of %s", name, p, c, rate/1e9, g.Bandwidth)
				}
			}
		}
		if bytes := 1e9; bytes/g.Attend(gpu.BF16, gpu.Attended{Bytes: bytes, Tokens: 128, Head: 64}).Seconds() > float64(g.Bandwidth) {
			t.Errorf("%s: attention reads faster than its memory", name)
		}
	}
}

// TestSmallHeadsTakeLonger: for as many FLOP, the more so where exponentials are slower beside products, and less so in the
// backward pass, which multiplies more for each.
func TestSmallHeadsTakeLonger(t *testing.T) {
	took := func(name string, head float64, backward bool) float64 {
		return get(t, name).Attend(gpu.BF16, gpu.Attended{FLOP: 1e13, Tokens: 4096, Head: head, Backward: backward}).Seconds()
	}
	last := 1.0
	for _, name := range []string{"a100", "h100", "b200"} {
		forward, back := took(name, 64, false)/took(name, 128, false), took(name, 64, true)/took(name, 128, true)
		if !(forward > last && 1 < back && back < forward) || took(name, 256, false) != took(name, 128, false) {
			t.Errorf("%s: heads of 64 take %.2f and, backward, %.2f of those of 128", name, forward, back)
		}
		last = forward
	}
}

// TestTopologiesSayThePower: DGX-2's V100 have 350 W. More power brings back the clock of single products and no more.
func TestTopologiesSayThePower(t *testing.T) {
	rate := func(set ...string) float64 {
		top, err := topology.Load(topologies.Source, "dgx2", topology.Options{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		g, err := gpu.Of(top)
		if err != nil {
			t.Fatal(err)
		}
		return 2 * 16384 * 16384 * 16384 / g.MatMul(gpu.FP16, 16384, 16384, 16384, 1, 0).Seconds()
	}
	v100 := get(t, "v100")
	most := v100.Peak[gpu.FP16] * v100.Products[gpu.FP16].Efficiency
	own, dgx2, all := rate("models.v100.power=300"), rate(), rate("models.v100.power=3000")
	if math.Abs(dgx2/own-math.Cbrt(350.0/300)) > 0.005 || all > most || all < 0.97*most {
		t.Errorf("%.1f, %.1f and %.1f TFLOP/s with 300, 350 and 3,000 W, single ones %.1f", own/1e12, dgx2/1e12, all/1e12, most/1e12)
	}
}

// TestPowerCapsTheClock: by the cube root, against the shipped GPU; a title's watts count.
func TestPowerCapsTheClock(t *testing.T) {
	for title, want := range map[string]float64{"H100, 500 W": math.Cbrt(500.0 / 700), "H100": 1} {
		g, err := gpu.ParseOne("mine.yaml", []byte(fmt.Sprintf(`
schema: railyard.gpus/v1
gpus:
  mine:
    title: %q
    memory: 80GiB
    bandwidth: 3350GB/s
    sms: 132
    tflops: {fp16: 989.4, bf16: 989.4}
    like: h100
    source: test
    date: 2026-11-23
`, title)))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(g.Clock-want) > 1e-12 {
			t.Errorf("%s: clock %v, want %v", title, g.Clock, want)
		}
	}
}
