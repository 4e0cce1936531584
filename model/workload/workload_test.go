package workload_test

import (
	"math"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/workload"
)

func get(t *testing.T, name string) *workload.Workload {
	t.Helper()
	w, err := workload.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var whole = workload.Sharding{Tensor: 1, Context: 1, Expert: 1}

// TestParameters holds counts to published ones.
func TestParameters(t *testing.T) {
	for name, want := range map[string]struct{ count, tolerance float64 }{
		"resnet-50":    {25_557_032, 0},           // torchvision.models.resnet50
		"resnet-152":   {60_192_808, 0},           // torchvision.models.resnet152
		"alexnet":      {61_100_840, 0},           // torchvision.models.alexnet
		"vgg-16":       {138_357_544, 0},          // torchvision.models.vgg16
		"bert-large":   {335_141_888, 0.004},      // Hugging Face bert-large-uncased with pooler, which is left out here
		"gpt-2-1.5b":   {1_557_611_200, 0},        // Hugging Face gpt2-xl
		"gpt-3-13b":    {13.0e9, 0.015},           // arXiv 2005.14165, table 2.1
		"gpt-3-175b":   {174.6e9, 0.001},          // arXiv 2005.14165, table D.1
		"llama-2-7b":   {6_738_415_616, 0},        // Hugging Face meta-llama/Llama-2-7b
		"llama-3-8b":   {8_030_261_248, 0},        // Hugging Face meta-llama/Meta-Llama-3-8B
		"llama-3-70b":  {70_553_706_496, 0},       // Hugging Face meta-llama/Meta-Llama-3-70B
		"llama-3-405b": {405_853_388_800, 0},      // Hugging Face meta-llama/Llama-3.1-405B
		"mixtral-8x7b": {46_702_792_704, 0},       // Hugging Face mistralai/Mixtral-8x7B-v0.1
		"deepseek-v3":  {671_026_419_200, 0.0001}, // Hugging Face deepseek-ai/DeepSeek-V3 without the MTP layer: 671B
	} {
		got := parameters(get(t, name))
		if math.Abs(got-want.count) > want.tolerance*want.count {
			t.Errorf("%s: %.0f parameters, published %.0f", name, got, want.count)
		}
	}
}

// TestGPTFormulae: Narayanan et al. (arXiv 2104.04473, equations 2 and 3): parameters
// 12lh²(1 + 13/12h + (V+s)/12lh), FLOP with full recomputation
// 96Bslh²(1 + s/6h + V/16lh); the latter is 4/3 of ours for the layers, and counts the
// head without recomputation.
func TestGPTFormulae(t *testing.T) {
	w := get(t, "gpt-3-175b")
	m := w.Transformer
	l, h, s, v := float64(m.Layers), float64(m.Hidden), float64(m.Sequence), float64(m.Vocabulary)
	if got, want := parameters(w), 12*l*h*h*(1+13/(12*h)+(v+s)/(12*l*h)); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("%.0f parameters, equation 2 gives %.0f", got, want)
	}
	if got, want := w.ModelFLOP(), 72*s*l*h*h*(1+s/(6*h)+v/(12*l*h)); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%g FLOP, equation 3 without recomputation gives %g", got, want)
	}
}

// TestActivations: Korthikanti et al. (arXiv 2205.05198), table 2, for a GPT layer.
func TestActivations(t *testing.T) {
	w := get(t, "gpt-3-175b")
	m := w.Transformer
	s, b, h, a := float64(m.Sequence), 2.0, float64(m.Hidden), float64(m.Heads)
	layer := w.Blocks()[1]
	for _, c := range []struct {
		shard workload.Sharding
		r     workload.Recompute
		want  float64
	}{
		{whole, workload.NoRecompute, s * b * h * (34 + 5*a*s/h)},
		{workload.Sharding{Tensor: 8, Context: 1, Expert: 1}, workload.NoRecompute, s * b * h * (10 + 24.0/8 + 5*a*s/(h*8))},
		{workload.Sharding{Tensor: 8, Context: 1, Expert: 1, Sequence: true}, workload.NoRecompute, s * b * h / 8 * (34 + 5*a*s/h)},
		{workload.Sharding{Tensor: 8, Context: 1, Expert: 1}, workload.SelectiveRecompute, s * b * h * (10 + 24.0/8)},
		{workload.Sharding{Tensor: 8, Context: 1, Expert: 1, Sequence: true}, workload.SelectiveRecompute, s * b * h / 8 * 34},
		{whole, workload.FullRecompute, s * b * h * 2},
	} {
		if got := layer.Activations(c.shard, b, c.r); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%+v %s: %g bytes, table 2 gives %g", c.shard, c.r, got, c.want)
		}
	}
}

// TestActiveParameters: what a token of an expert model computes with.
func TestActiveParameters(t *testing.T) {
	for name, want := range map[string]float64{"mixtral-8x7b": 12.9e9, "deepseek-v3": 37e9} { // arXiv 2401.04088, 2412.19437
		w := get(t, name)
		flop, m := 0.0, w.Transformer
		for _, b := range w.Blocks() {
			flop += b.FLOP()
		}
		attention := 4 * float64(m.Layers*m.Sequence) * float64(m.Sequence) * float64(m.Heads) * float64(m.HeadDim)
		if m.KVRank > 0 {
			attention = 2 * float64(m.Layers*m.Sequence) * float64(m.Sequence) * float64(m.Heads) * float64(m.HeadDim+m.RopeDim+m.ValueDim)
		}
		got := (flop-attention)/2/float64(m.Sequence) + float64(m.Vocabulary*m.Hidden) // the embedding multiplies nothing
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s: %.3g active parameters, published %.3g", name, got, want)
		}
	}
}

// TestShardsAddUp: the work of all GPUs of a tensor, context and expert group is that of
// one GPU, and so are its parameters where nothing is copied.
func TestShardsAddUp(t *testing.T) {
	for _, name := range []string{"gpt-3-175b", "llama-3-70b", "mixtral-8x7b"} {
		w := get(t, name)
		for _, b := range w.Blocks()[:2] {
			s := workload.Sharding{Tensor: 4, Context: 2, Expert: 1, Sequence: true}
			for _, pass := range []func(workload.Block, workload.Sharding) []workload.Step{
				func(b workload.Block, s workload.Sharding) []workload.Step { return b.Forward(s, 2) },
				func(b workload.Block, s workload.Sharding) []workload.Step { return b.Backward(s, 2) },
			} {
				got, want := flop(pass(b, s)), flop(pass(b, whole))
				if math.Abs(8*got-want) > 1e-6*want {
					t.Errorf("%s %T: 8 × %g FLOP, whole %g", name, b, got, want)
				}
			}
		}
	}
}

func flop(steps []workload.Step) float64 {
	sum := 0.0
	for _, s := range steps {
		sum += 2*s.M*s.N*s.K*s.Count + s.FLOP
	}
	return sum
}

// TestBackwardIsTwiceForward in products, without attention's recomputed scores.
func TestBackwardIsTwiceForward(t *testing.T) {
	for _, name := range workload.Names() {
		w := get(t, name)
		for _, b := range w.Blocks() {
			f, back := products(b.Forward(whole, 1)), products(b.Backward(whole, 1))
			if math.Abs(back-2*f) > 1e-9*f {
				t.Errorf("%s %T: %g FLOP backward, %g forward", name, b, back, f)
			}
		}
	}
}

func products(steps []workload.Step) float64 {
	sum := 0.0
	for _, s := range steps {
		if s.Do != workload.Attend {
			sum += 2*s.M*s.N*s.K*s.Count + s.FLOP
		}
	}
	return sum
}

// TestStateBytes: ZeRO (arXiv 1910.02054, section 3.1): 12 bytes of Adam's state besides
// 2 + 2 of parameter and gradient.
func TestStateBytes(t *testing.T) {
	w := &workload.Workload{Precision: "fp16", Optimizer: workload.Adam}
	if got := w.StateBytes(); got != 12 {
		t.Errorf("%d bytes, want 12", got)
	}
	w.Precision = "fp32"
	if got := w.StateBytes(); got != 8 {
		t.Errorf("FP32: %d bytes, want 8", got)
	}
}

const valid = `schema: railyard.workload/v1
name: mine
source: "me"
date: 2026-11-21
precision: bf16
optimizer: adam
micro_batch: 2
global_batch: 8
transformer:
  layers: 4
  hidden: 256
  heads: 8
  vocabulary: 1000
  sequence: 128
`

func TestParseErrors(t *testing.T) {
	if _, err := workload.Parse("f.yaml", []byte(valid)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"heads: 8", "heads: 7", "f.yaml:12: transformer: hidden 256 is not a multiple of heads 7: change one, or give head_dim"},
		{"heads: 8", "heads: 8\n  kv_heads: 3", "f.yaml:13: transformer: heads 8 is not a multiple of kv_heads 3"},
		{"global_batch: 8", "global_batch: 7", "f.yaml:8: global_batch 7 is not a multiple of micro_batch 2"},
		{"layers: 4", "layers: 0", `f.yaml:10: transformer: layers must be a whole number from 1 to 16384, not "0"`},
		{"layers: 4", "layers: NaN", `f.yaml:10: transformer: layers must be`},
		{"  hidden: 256\n", "", `transformer: "hidden" is missing`},
		{"adam", "adamant", `f.yaml:6: workload: optimizer must be one of [adam lamb momentum sgd], not "adamant"`},
		{"bf16", "bf15", `f.yaml:5: workload: precision must be one of`},
		{"sequence: 128", "sequence: 128\n  top_k: 2",
			"f.yaml:10: transformer: top_k, shared_experts, expert_ffn and dense_layers go with experts"},
		{"sequence: 128", "sequence: 128\n  colour: red", `f.yaml:15: transformer: unknown key "colour"`},
		{"transformer:", "layers: []\ntransformer_:", "give either transformer or layers"},
		{"workload/v1", "workload/v2", `f.yaml:1: schema "railyard.workload/v2" is not known`},
	} {
		_, err := workload.Parse("f.yaml", []byte(strings.Replace(valid, c[0], c[1], 1)))
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %s", c[1], err, c[2])
		}
	}
	// What follows from another mistake is none of its own.
	if _, err := workload.Parse("f.yaml", []byte(strings.Replace(valid, "hidden: 256", "hidden: 1e3", 1))); err == nil ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one mistake", err)
	}
	if _, err := workload.Get("llama-9"); err == nil || !strings.Contains(err.Error(), "llama-3-8b") {
		t.Errorf("unknown name: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("schema: railyard.workload/v1\nname: t\nsource: s\ndate: 2026-11-21\nprecision: fp16\noptimizer: sgd\nlayers:\n  - " +
		"{name: a, parameters: 1e3, flop: 2e6, activations: 0, repeat: 3}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := workload.Parse("f.yaml", data)
		if err != nil {
			return
		}
		if n := parameters(w); math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			t.Errorf("%g parameters", n)
		}
		if n := w.ModelFLOP(); math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			t.Errorf("%g FLOP", n)
		}
	})
}

// parameters are those of the whole network.
func parameters(w *workload.Workload) float64 {
	sum := 0.0
	for _, b := range w.Blocks() {
		sum += b.Parameters(whole).Total()
	}
	return sum
}
