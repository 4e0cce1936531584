package workload

import (
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/model/gpu"
)

// TestReachedIsWhatDrawingFinds: by counting all choices of 3 of 8 experts.
func TestReachedIsWhatDrawingFinds(t *testing.T) {
	for _, c := range []struct{ domains, limit, parts int }{{4, 0, 4}, {4, 0, 8}, {2, 0, 4}, {4, 2, 4}, {4, 2, 8}} {
		r := Routing{Experts: 8, TopK: 3, Limit: c.limit}
		allowed := 8
		if c.limit > 0 {
			allowed = 8 * c.limit / c.domains // the experts of the first domains: all choices of domains are equivalent
		}
		sum, count := 0.0, 0.0
		for a := range allowed {
			for b := range a {
				for e := range b {
					parts := []int{a * c.parts / 8, b * c.parts / 8, e * c.parts / 8}
					sum += float64(len(slices.Compact(parts))) // sorted: a > b > e
					count++
				}
			}
		}
		if got, want := r.Reached(c.domains, c.parts), sum/count; math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: %v parts are reached, drawing finds %v", c, got, want)
		}
	}
}

// TestFrameworksAreKnown: the file reads, names GPUs that exist, and a workload that names
// none gets the usual one.
func TestFrameworksAreKnown(t *testing.T) {
	if names := FrameworkNames(); len(names) < 4 {
		t.Fatalf("only %v", names)
	}
	w, err := Get("llama-3-8b", "transformer.flash_attention_2=true")
	if err != nil {
		t.Fatal(err)
	}
	for zero, want := range map[int]string{1: "megatron-core", 3: "fsdp"} {
		if got := w.RunBy(zero).Name; got != want {
			t.Errorf("zero %d is run by %s, not %s", zero, got, want)
		}
	}
	if w, err = Get("llama-3-8b", "framework=megatron-deepspeed"); err != nil || w.RunBy(3).Name != "megatron-deepspeed" {
		t.Errorf("a workload's own framework: %v", err)
	}
	if _, err := Get("llama-3-8b", "framework=nobody"); err == nil || !strings.Contains(err.Error(), "megatron-core") {
		t.Errorf("an unknown framework does not name the known ones: %v", err)
	}
}

// TestOverheadIsTheNearestGPUs: by peak rate.
func TestOverheadIsTheNearestGPUs(t *testing.T) {
	f := &Framework{Overhead: Shares{"a100": 0.1, "h100": 0.3}, OverheadFP8: Shares{"h100": 0.4}}
	for name, want := range map[string]float64{"v100": 0.1, "a100-40gb": 0.1, "h200": 0.3, "b200": 0.3} {
		g, err := gpu.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.OverheadOn(g, gpu.BF16); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := f.OverheadOn(g, gpu.FP8); got != 0.4 {
			t.Errorf("%s in FP8: %v, want 0.4", name, got)
		}
	}
}

// TestFrameworksStopRecomputingEarly: the last product of a layer, which nobody needs, is not
// made again; embedding and head never are.
func TestFrameworksStopRecomputingEarly(t *testing.T) {
	w, err := Get("llama-3-8b")
	if err != nil {
		t.Fatal(err)
	}
	products := func(b Block, by *Framework) (names []string) {
		for _, s := range Repeated(b, Sharding{Tensor: 1, Context: 1, Expert: 1, By: by}, 1, FullRecompute) {
			if s.Do == Product {
				names = append(names, s.Name)
			}
		}
		return names
	}
	blocks := w.Blocks()
	all, some := products(blocks[1], nil), products(blocks[1], &Framework{StopsEarly: true})
	if len(all) != len(some)+1 || !slices.Equal(all[:len(some)], some) {
		t.Errorf("of %v %v are repeated", all, some)
	}
	if got := products(blocks[len(blocks)-1], nil); got != nil {
		t.Errorf("the head repeats %v", got)
	}
}

// TestWindowsLeaveOutPairs: a window of a quarter of the sequence has 7/16 of the causal pairs, one of the
// whole sequence all; every second layer is full where it says so.
func TestWindowsLeaveOutPairs(t *testing.T) {
	attend := func(i int, set ...string) float64 {
		w, err := Get("llama-3-8b", set...)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range w.Blocks()[i].Forward(Sharding{Tensor: 1, Context: 1, Expert: 1}, 1) {
			if s.Do == Attend {
				return s.FLOP
			}
		}
		return 0
	}
	all := attend(1)
	for _, c := range []struct {
		layer int
		set   []string
		share float64
	}{
		{1, []string{"transformer.window=2048"}, 7.0 / 16}, {1, []string{"transformer.window=8192"}, 1},
		{1, []string{"transformer.window=2048", "transformer.full_every=2"}, 7.0 / 16},
		{2, []string{"transformer.window=2048", "transformer.full_every=2"}, 1},
	} {
		if got := attend(c.layer, c.set...) / all; math.Abs(got-c.share) > 1e-12 {
			t.Errorf("layer %d %v: %v of the pairs, want %v", c.layer, c.set, got, c.share)
		}
	}
}

// TestFurtherTokensCostALayerAndAHead: DeepSeek-V3's module has 14 billion parameters, of which an embedding
// and a head are shared (685 in all with 671 of the model; model card).
func TestFurtherTokensCostALayerAndAHead(t *testing.T) {
	count := func(set ...string) (parameters, flop float64) {
		w, err := Get("deepseek-v3", set...)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range w.Blocks() {
			parameters += b.Parameters(Sharding{Tensor: 1, Context: 1, Expert: 1}).Total()
			flop += b.FLOP()
		}
		return parameters, flop
	}
	p, f := count()
	more, longer := count("transformer.predicted_tokens=1")
	if billions := (more - p) / 1e9; billions < 11 || billions > 14 {
		t.Errorf("a module has %.1f billion parameters", billions)
	}
	if longer <= f {
		t.Errorf("a module costs nothing: %g of %g FLOP", longer, f)
	}
}

// TestAdaptersAreTrainedAlone: rank 16 of all products of Llama 2 7B has 40.0 million parameters (4 h·2r for
// attention, 3·(h + f)·r for the network, 32 layers), the other weights make no gradients.
func TestAdaptersAreTrainedAlone(t *testing.T) {
	w, err := Get("llama-2-7b", "transformer.lora_rank=16")
	if err != nil {
		t.Fatal(err)
	}
	base, err := Get("llama-2-7b")
	if err != nil {
		t.Fatal(err)
	}
	whole, trained := Sharding{Tensor: 1, Context: 1, Expert: 1}, 0.0
	for i, b := range w.Blocks() {
		p, before := b.Parameters(whole), base.Blocks()[i].Parameters(whole)
		trained += p.Trained().Total()
		if p.Total()-p.Adapters != before.Total() {
			t.Errorf("%T: %g parameters besides adapters, %g without", b, p.Total()-p.Adapters, before.Total())
		}
		for _, s := range b.Backward(whole, 1) {
			if s.ofWeights {
				t.Errorf("%T: %s", b, s.Name)
			}
		}
	}
	h, f := 4096.0, 11008.0
	if want := 32 * 16 * ((h + 3*h) + (h + h) + (h + 2*f) + (f + h)); trained != want {
		t.Errorf("%g are trained, want %g", trained, want)
	}
	if got := w.ModelFLOP() / base.ModelFLOP(); got < 0.66 || got > 0.69 {
		t.Errorf("%.2f of the FLOP", got)
	}
}
