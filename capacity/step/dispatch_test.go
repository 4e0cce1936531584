package step_test

import (
	"testing"

	"railyard/capacity/step"
	"railyard/capacity/steptest"
	"railyard/model/workload"
)

// dispatched is how long a step's tokens travel to experts and back, in one collective.
func dispatched(t *testing.T, layout string, set ...string) step.Collective {
	t.Helper()
	p := steptest.Predictor(t, "superpod-h100", 8)
	l, err := step.ParseLayout(layout)
	if err != nil {
		t.Fatal(err)
	}
	r, err := step.Run(p, steptest.Workload(t, "deepseek-v3", set...), l, step.Options{AllowOverflow: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Collectives {
		if c.Axis == workload.Expert {
			return c
		}
	}
	return step.Collective{}
}

// TestTokensCrossOncePerNode: of 8 nodes a token of DeepSeek-V3 reaches 4 at most, each once,
// and 58.7 MB of tokens cannot cross faster than 50 GB/s a GPU.
func TestTokensCrossOncePerNode(t *testing.T) {
	const layout = "dp64 ep64 zero1 mb1 gb64"
	limited, free := dispatched(t, layout), dispatched(t, layout, "transformer.node_limit=0")
	tokens := 4096 * 7168 * 2.0
	if least := 4 * 7.0 / 8 * tokens * 0.98 / 50e9; limited.Time.Seconds() < least {
		t.Errorf("%v: the network allows %v s", limited.Time, least)
	}
	if copies := 8 * 7.0 / 8 * tokens / 50e9; free.Time.Seconds() >= copies {
		t.Errorf("%v is not less than that of all copies, %v s", free.Time, copies)
	}
	if limited.Time >= free.Time {
		t.Errorf("limited to four nodes %v, without limit %v", limited.Time, free.Time)
	}
	half := dispatched(t, layout, "transformer.dispatch=fp8")
	if ratio := half.Time.Seconds() / limited.Time.Seconds(); ratio < 0.49 || ratio > 0.51 {
		t.Errorf("in FP8 it takes %.2f of the time", ratio)
	}
	if inside := dispatched(t, "dp64 ep8 zero1 mb1 gb64"); inside.Network || inside.Time >= limited.Time {
		t.Errorf("inside a node: %v, network %v", inside.Time, inside.Network)
	}
}

// TestFrameworkIsAPart: framework and stragglers are parts of their own.
func TestFrameworkIsAPart(t *testing.T) {
	p := steptest.Predictor(t, "superpod-h100", 8)
	l, err := step.ParseLayout("dp64 zero3 mb1 gb64 full")
	if err != nil {
		t.Fatal(err)
	}
	r, err := step.Run(p, steptest.Workload(t, "llama-3-8b", "framework=fsdp"), l, step.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum, seen := int64(0), map[string]bool{}
	for _, x := range r.Parts() {
		sum += int64(x.Time)
		seen[x.Name] = true
	}
	if sum != int64(r.Time) || !seen["framework"] || !seen["stragglers"] {
		t.Errorf("parts add up to %d of %d: %v", sum, int64(r.Time), r.Parts())
	}
}

// TestOverlappedTokensWaitLess: beside another micro-batch's computation only what is longer than that is waited for, and
// what the framework cannot hide.
func TestOverlappedTokensWaitLess(t *testing.T) {
	const layout, overlap = "dp64 ep64 zero1 mb1 gb64", "transformer.overlap_experts=true"
	exposed, all, part := dispatched(t, layout), dispatched(t, layout, overlap, "framework=none"), dispatched(t, layout, overlap)
	for _, hidden := range []step.Collective{all, part} {
		if hidden.Time != exposed.Time || hidden.Count != exposed.Count || hidden.Exposed >= exposed.Exposed {
			t.Errorf("%v of %v is waited for, %v without overlap", hidden.Exposed, hidden.Time, exposed.Exposed)
		}
	}
	if all.Exposed >= part.Exposed {
		t.Errorf("%v is waited for where all may hide, %v where 37 %% do", all.Exposed, part.Exposed)
	}
}

// TestCopiesTravelAlone: the library's all-to-all carries every copy, and is predicted as the library's.
func TestCopiesTravelAlone(t *testing.T) {
	const layout = "dp64 ep64 zero1 mb1 gb64"
	once, copies := dispatched(t, layout), dispatched(t, layout, "transformer.send_copies=true")
	if least := 8 * 7.0 / 8 * 4096 * 7168 * 2.0 / 50e9; copies.Time.Seconds() < least || copies.Schedule == once.Schedule {
		t.Errorf("%v by %s: the network allows %v s", copies.Time, copies.Schedule, least)
	}
}

// TestExpertsAreLaunchedOneByOne: small products of many experts wait for the host, large ones hide it.
func TestExpertsAreLaunchedOneByOne(t *testing.T) {
	p := steptest.Predictor(t, "dgx-h100", 1)
	played := func(set ...string) *step.Result {
		l, err := step.ParseLayout("dp8 ep8 zero1 mb1 gb8")
		if err != nil {
			t.Fatal(err)
		}
		r, err := step.Run(p, steptest.Workload(t, "mixtral-8x7b", append(set, "transformer.layers=8")...), l,
			step.Options{AllowOverflow: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	small := []string{"transformer.experts=128", "transformer.expert_ffn=256"}
	waits := func(set []string) float64 {
		return (played(set...).Time - played(append(set, "framework=megatron-core-graphs")...).Time).Seconds()
	}
	framework := steptest.Workload(t, "mixtral-8x7b").RunBy(1)
	launches := 8 * 16 * 6 * framework.ExpertLaunch.On(p.Machine().GPU) / 1e6 // layers, local experts, products
	if few := waits(nil); few != 0 {
		t.Errorf("one large expert a GPU waits %v s", few)
	}
	if many := waits(small); many < launches/2 || many > launches {
		t.Errorf("small experts wait %v s, their launches take %v s", many, launches)
	}
}

// TestAdaptersNeedLess: no weights' gradients to compute, keep or exchange.
func TestAdaptersNeedLess(t *testing.T) {
	p := steptest.Predictor(t, "dgx-h100", 1)
	play := func(set ...string) *step.Result {
		l, err := step.ParseLayout("dp4 tp2 zero1 mb1 gb64 sp")
		if err != nil {
			t.Fatal(err)
		}
		r, err := step.Run(p, steptest.Workload(t, "llama-2-7b", set...), l, step.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all, some := play(), play("transformer.lora_rank=16")
	if some.Time >= all.Time || some.Memory.Gradients > all.Memory.Gradients/50 || some.Memory.Optimizer > all.Memory.Optimizer/50 {
		t.Errorf("%v instead of %v, gradients %.0f of %.0f", some.Time, all.Time, some.Memory.Gradients, all.Memory.Gradients)
	}
	if some.MFU() <= 0.1 || some.MFU() > 0.7 {
		t.Errorf("MFU %.2f", some.MFU())
	}
}
