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
	f := &Framework{Overhead: map[string]float64{"a100": 0.1, "h100": 0.3}}
	for name, want := range map[string]float64{"v100": 0.1, "a100-40gb": 0.1, "h200": 0.3, "b200": 0.3} {
		g, err := gpu.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.On(g); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
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
