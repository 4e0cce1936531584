package step_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/capacity/step"
	"railyard/capacity/steptest"
	"railyard/model/trace"
	"railyard/model/units"
	"railyard/model/workload"
)

func layout(t testing.TB, text string) step.Layout {
	t.Helper()
	l, err := step.ParseLayout(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func run(t testing.TB, p *step.Predictor, w *workload.Workload, text string, o step.Options) *step.Result {
	t.Helper()
	r, err := step.Run(p, w, layout(t, text), o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// TestLAMBMovesMoreThanAdam: its update is written and normed besides, of the same states, and nothing else takes longer.
func TestLAMBMovesMoreThanAdam(t *testing.T) {
	p := steptest.Predictor(t, "dgx-a100", 1)
	of := func(optimizer string) (update, rest units.Time, memory float64) {
		w, err := workload.Get("bert-large", "optimizer="+optimizer)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, p, w, "dp8 zero0 mb8 gb64", step.Options{})
		return r.Optimizer, r.Time - r.Optimizer, r.Memory.Total()
	}
	adam, beside, memory := of("adam")
	lamb, same, states := of("lamb")
	if lamb < adam*3/2 || lamb > 4*adam || same != beside || states != memory {
		t.Errorf("update %v with LAMB, %v with Adam; the rest %v and %v; memory %g and %g", lamb, adam, same, beside, states, memory)
	}
}

// TestPartsAddUp: the parts of a step are its time, whatever the layout; it is never
// faster than its bound, and never than the FLOP at peak.
func TestPartsAddUp(t *testing.T) {
	p := steptest.Predictor(t, "superpod-h100", 8)
	for _, c := range [][2]string{
		{"llama-3-8b", "dp64 zero3 mb1 gb256 full"},
		{"llama-3-8b", "dp64 zero2 mb1 gb128 full"},
		{"llama-3-8b", "dp32 tp2 zero1 mb1 gb256 sp full"},
		{"llama-3-70b", "dp2 tp8 pp4 vpp5 zero1 mb1 gb64 sp"},
		{"llama-3-70b", "dp2 tp8 pp4 zero0 mb1 gb16 sp full"},
		{"llama-3-70b", "dp4 tp4 pp2 cp2 zero1 mb1 gb16 sp full"},
		{"mixtral-8x7b", "dp64 ep8 zero3 mb1 gb128 full"},
		{"mixtral-8x7b", "dp8 tp2 pp4 ep8 zero1 mb1 gb128 sp full"},
		{"llama-3-8b", "dp16 pp4 zero3 mb1 gb256 full"},
		{"llama-2-7b", "dp32 tp2 zero1 mb1 gb256 sp"},
		{"gpt-2-1.5b", "dp64 zero0 mb4 gb512 full"},
		{"resnet-50", "dp64 zero0 mb128 gb8192"},
		{"bert-large", "dp64 zero0 mb8 gb1024 fp8"},
	} {
		w := steptest.Workload(t, c[0])
		r := run(t, p, w, c[1], step.Options{})
		if got, err := step.Time(p, w, layout(t, c[1])); err != nil || got != r.Time {
			t.Errorf("%s %s: %v, alone %v, %v", c[0], c[1], r.Time, got, err)
		}
		var sum units.Time
		for _, x := range r.Parts() {
			if x.Time < 0 {
				t.Errorf("%s %s: %s takes %v", c[0], c[1], x.Name, x.Time)
			}
			sum += x.Time
		}
		if d := sum - r.Time; d > r.Time/1e6 || d < -r.Time/1e6 {
			t.Errorf("%s %s: parts add up to %v, the step takes %v", c[0], c[1], sum, r.Time)
		}
		if r.MFU() <= 0 || r.MFU() > 1 {
			t.Errorf("%s %s: MFU %g", c[0], c[1], r.MFU())
		}
		for _, communicate := range []bool{false, true} {
			e, err := step.Bound(p, w, layout(t, c[1]), communicate)
			if err != nil || e.Time > r.Time || e.Time == 0 {
				t.Errorf("%s %s: bound %v above the step %v (%v)", c[0], c[1], e.Time, r.Time, err)
			}
		}
	}
}

// TestPipelineBubble: with equal stages and free communication, 1F1B idles (P−1)/(V·m) of
// the work (Narayanan et al., arXiv 2104.04473, section 2.2).
func TestPipelineBubble(t *testing.T) {
	p := steptest.Predictor(t, "dgx-h100", 1)
	w := steptest.Workload(t, "llama-3-8b", "transformer.vocabulary=64", "transformer.sequence=4096") // no head to speak of
	for text, want := range map[string]float64{
		"dp1 pp8 zero0 mb1 gb32 full":      7.0 / 32,
		"dp1 pp8 vpp2 zero0 mb1 gb32 full": 7.0 / 64,
		"dp1 pp4 tp2 zero0 mb1 gb64 full":  3.0 / 64,
	} {
		r := run(t, p, w, text, step.Options{})
		work := r.Time - r.Bubble - r.Optimizer
		got := r.Bubble.Seconds() / work.Seconds()
		if math.Abs(got-want) > 0.03*want+0.004 { // transfers between stages, and the norm of the head
			t.Errorf("%s: bubble %.4f of the work, want %.4f", text, got, want)
		}
	}
}

// TestMoreBandwidthNeverHurts, and neither does leaving communication out.
func TestMoreBandwidthNeverHurts(t *testing.T) {
	w := steptest.Workload(t, "llama-3-8b")
	text := "dp32 zero3 mb1 gb64 full"
	slow := run(t, steptest.Predictor(t, "dgx-h100", 4, "classes.ndr400.rate=25Gb/s"), w, text, step.Options{})
	fast := run(t, steptest.Predictor(t, "dgx-h100", 4), w, text, step.Options{})
	if slow.Time <= fast.Time || slow.ScalingEfficiency() >= fast.ScalingEfficiency() {
		t.Errorf("25 Gb/s: %v, %.2f; 400 Gb/s: %v, %.2f", slow.Time, slow.ScalingEfficiency(), fast.Time, fast.ScalingEfficiency())
	}
	if !strings.Contains(slow.Bottleneck(), "data communication") || !strings.Contains(slow.Bottleneck(), "nic") {
		t.Errorf("bottleneck at 25 Gb/s: %s", slow.Bottleneck())
	}
}

// TestGradientAccumulation: of a step's gradients, the more micro-batches come before, the
// smaller the share that is exposed.
func TestGradientAccumulation(t *testing.T) {
	p := steptest.Predictor(t, "dgx1-v100", 1)
	w := steptest.Workload(t, "bert-large")
	once := run(t, p, w, "dp8 zero0 mb8 gb64", step.Options{})
	four := run(t, p, w, "dp8 zero0 mb8 gb256", step.Options{})
	share := func(r *step.Result) float64 { return r.ExposedTotal().Seconds() / r.Time.Seconds() }
	if share(four) >= share(once) || share(once) == 0 {
		t.Errorf("exposed: %.3f of a step of one, %.3f of four", share(once), share(four))
	}
	if d := four.ExposedTotal() - once.ExposedTotal(); d > once.ExposedTotal()/100 {
		t.Errorf("exposed %v against %v: only the last micro-batch communicates", four.ExposedTotal(), once.ExposedTotal())
	}
}

// TestCompression: four times fewer bytes pay on PCIe, conversion included.
func TestCompression(t *testing.T) {
	p := steptest.Predictor(t, "dgx-h100", 4, "classes.ndr400.rate=25Gb/s")
	w := steptest.Workload(t, "gpt-2-1.5b", "gradients=fp32")
	plain := run(t, p, w, "dp32 zero0 mb4 gb128 full", step.Options{})
	fp8 := run(t, p, w, "dp32 zero0 mb4 gb128 full fp8", step.Options{})
	if fp8.Time >= plain.Time || fp8.Convert == 0 || plain.Convert != 0 {
		t.Errorf("plain %v, FP8 %v with %v of conversion", plain.Time, fp8.Time, fp8.Convert)
	}
}

func TestMeasuredStep(t *testing.T) {
	p := steptest.Predictor(t, "dgx-a100", 1)
	w := steptest.Workload(t, "gpt-3-13b")
	r := run(t, p, w, "dp8 zero3 mb1 gb8 full", step.Options{Measured: 800 * units.Millisecond})
	if d := r.Compute - 800*units.Millisecond; d > units.Millisecond || d < -units.Millisecond {
		t.Errorf("computes %v, measured 800 ms", r.Compute)
	}
	// No GPU computes faster than its peak.
	l, err := step.ParseLayout("dp8 zero3 mb1 gb8 full")
	if err != nil {
		t.Fatal(err)
	}
	for measured, fits := range map[units.Time]bool{180 * units.Millisecond: false, 800 * units.Millisecond: true} {
		r, err := step.Run(p, w, l, step.Options{Measured: measured})
		if fits && (err != nil || r.MFU() > 1) || !fits && (err == nil || !strings.Contains(err.Error(), "faster than the peak of")) {
			t.Errorf("%v: %v", measured, err)
		}
	}
}

func TestBadLayouts(t *testing.T) {
	p := steptest.Predictor(t, "dgx-h100", 1)
	for _, c := range [][3]string{
		{"llama-3-8b", "dp1 tp3 mb1 gb8", "tp 3 does not divide the 32 attention heads: change tp to 2 or 4"},
		{"llama-3-8b", "dp1 tp64 mb1 gb8", "tp 64 does not divide the 32 attention heads: change tp to 32"},
		{"llama-3-8b", "dp1 pp64 mb1 gb8", "pp 64 × vpp 1 are more stages than there are layers (32): lower pp"},
		{"llama-3-8b", "dp16 mb1 gb16", "need 16 GPUs, but there are 8: lower one of them, or raise --nodes"},
		{"llama-3-8b", "dp4 mb1 gb16", "use 4 of 8 GPUs: raise dp to 8"},
		{"llama-3-8b", "dp8 mb3 gb16", "global-batch 16 is not a multiple of dp 8 × micro-batch 3: change it to 24"},
		{"llama-3-8b", "dp8 ep2 mb1 gb8", "ep 2: the workload has no experts"},
		{"mixtral-8x7b", "dp8 ep3 mb1 gb8", "ep 3 does not divide the 8 experts: change ep to 2 or 4"},
		{"llama-3-8b", "dp8 zero4 mb1 gb8", "zero 4: must be"},
		{"llama-3-8b", "dp8 vpp2 mb1 gb8", "vpp 2 has no effect without a pipeline"},
		{"resnet-50", "dp4 tp2 mb1 gb8", "only dp and pp can divide"},
		{"llama-3-8b", "dp8 sp mb1 gb8", "sequence-parallel has no effect with tp 1"},
	} {
		_, err := step.Run(p, steptest.Workload(t, c[0]), layout(t, c[1]), step.Options{})
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s %s: %v, want %s", c[0], c[1], err, c[2])
		}
	}
	_, err := step.Run(p, steptest.Workload(t, "llama-3-70b"), layout(t, "dp8 mb1 gb8"), step.Options{})
	var big *step.TooLarge
	if !errors.As(err, &big) || !strings.Contains(err.Error(), "more than its 80.0 GiB") || !strings.Contains(err.Error(), "set zero 1") {
		t.Errorf("70B on one GPU: %v", err)
	}
	a100, fp8 := steptest.Predictor(t, "dgx-a100", 1), steptest.Workload(t, "llama-3-8b", "precision=fp8")
	if _, err := step.Run(a100, fp8, layout(t, "dp8 mb1 gb8"), step.Options{}); err == nil || !strings.Contains(err.Error(), "has no fp8") {
		t.Errorf("FP8 on A100: %v", err)
	}
}

// TestLayoutText: layouts read back as they were written.
func TestLayoutText(t *testing.T) {
	for _, text := range []string{"dp8 tp8 pp4 vpp5 zero1 mb1 gb1024 sp selective", "dp2 tp1 pp1 ep2 zero3 mb4 gb8 full fp8",
		"dp8 tp8 pp4 cp2 zero1 mb1 gb64 tensor<data<context<pipeline"} {
		l := layout(t, text)
		if got := l.String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, bad := range []string{"dp8 dp4", "dpx", "dp8 tensor<data", "warp9", "mb"} {
		if _, err := step.ParseLayout(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzParseLayout(f *testing.F) {
	f.Add("dp8 tp8 pp4 vpp5 zero1 mb1 gb1024 sp selective tensor<data<context<pipeline")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := step.ParseLayout(text)
		if err != nil {
			return
		}
		again, err := step.ParseLayout(l.String())
		if err != nil || again.String() != l.String() {
			t.Errorf("%q → %q → %q, %v", text, l.String(), again.String(), err)
		}
	})
}

// TestTraceEndsWithTheStep: the timeline is valid JSON, nothing in it is outside the step.
func TestTrace(t *testing.T) {
	p, w := steptest.Predictor(t, "dgx-h100", 1), steptest.Workload(t, "llama-3-8b")
	r := run(t, p, w, "dp2 tp2 pp2 zero1 mb1 gb8 sp full", step.Options{Timeline: true})
	tr := r.Trace()
	var last units.Time
	for _, e := range tr.Events {
		if e.Start < 0 || e.End < e.Start {
			t.Fatalf("%+v", e)
		}
		last = max(last, e.End)
	}
	if last != r.Time || tr.Ranks != 2 {
		t.Errorf("the timeline ends at %v, the step at %v; %d stages", last, r.Time, tr.Ranks)
	}
	var out bytes.Buffer
	if err := trace.WriteChrome(&out, tr); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("not JSON: %v", err)
	}
}

// TestEngineFinishes on random layouts, with the parts adding up.
func TestEngineFinishes(t *testing.T) {
	p, w := steptest.Predictor(t, "dgx-h100", 2), steptest.Workload(t, "llama-3-8b", "transformer.sequence=2048")
	rng := rand.New(rand.NewPCG(6, 1))
	tried := 0
	for tried < 60 {
		pick := func(list ...int) int { return list[rng.IntN(len(list))] }
		l := step.Layout{Tensor: pick(1, 2, 4), Pipeline: pick(1, 2, 4, 8), Context: 1, Expert: 1, Virtual: pick(1, 2, 4),
			Zero: pick(0, 1, 2, 3), MicroBatch: pick(1, 2), GlobalBatch: pick(16, 32, 64),
			Recompute: workload.FullRecompute, Order: step.DefaultOrder}
		l.Data = 16 / (l.Tensor * l.Pipeline)
		l.Sequence = l.Tensor > 1
		if l.Data == 0 || l.Check(w, 16) != nil {
			continue
		}
		tried++
		r, err := step.Run(p, w, l, step.Options{AllowOverflow: true})
		if err != nil {
			t.Fatalf("%s: %v", l.String(), err)
		}
		var sum units.Time
		for _, x := range r.Parts() {
			sum += x.Time
		}
		if d := sum - r.Time; d > r.Time/1e6 || d < -r.Time/1e6 {
			t.Errorf("%s: parts %v, step %v", l.String(), sum, r.Time)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	p, w := steptest.Predictor(b, "superpod-h100", 32), steptest.Workload(b, "llama-3-70b")
	for b.Loop() {
		run(b, p, w, "dp8 tp8 pp4 vpp5 zero1 mb1 gb1024 sp", step.Options{})
	}
}

func BenchmarkTime(b *testing.B) {
	p, w := steptest.Predictor(b, "superpod-h100", 32), steptest.Workload(b, "llama-3-70b")
	for b.Loop() {
		if _, err := step.Time(p, w, layout(b, "dp8 tp8 pp4 vpp5 zero1 mb1 gb1024 sp")); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBucketsFill: small blocks share buckets of gradients, as PyTorch's DistributedDataParallel fills them: all bytes are
// reduced, and each collective but the last has about a bucket (one and a half are sent as two).
func TestBucketsFill(t *testing.T) {
	p := steptest.Predictor(t, "dgx-a100", 1)
	w := steptest.Workload(t, "resnet-50")
	for _, bucket := range []units.Bytes{1 << 20, 4 << 20, 25 << 20} {
		l := layout(t, "dp8 zero0 mb32 gb256")
		l.Bucket = bucket
		r, err := step.Run(p, w, l, step.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var bytes, small float64
		for _, c := range r.Collectives {
			if c.Axis != workload.Data {
				continue
			}
			if bytes += float64(c.Size) * c.Count; c.Size < bucket*3/4 {
				small += c.Count
			}
		}
		want := 25_557_032 * float64(w.Gradients())
		if small > 1 || bytes < want || bytes > want*1.001 {
			t.Errorf("buckets of %v: %g bytes of %g reduced, %g collectives much smaller than a bucket", bucket, bytes, want, small)
		}
	}
}
