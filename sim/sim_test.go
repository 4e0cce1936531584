package sim

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// switched is n GPUs on one switch.
func switched(t testing.TB, n int, rate, latency string) *topology.Topology {
	t.Helper()
	text := fmt.Sprintf(`
schema: railyard.topology/v1
name: switch%d
source: test
date: 2026-11-21
classes: {l: {medium: nvlink, rate: %s, latency: %s, source: test, date: 2026-11-21}}
devices: [{id: "gpu[0-%d]", kind: gpu}, {id: sw, kind: nvswitch}]
links: [{from: "gpu[0-%d]", to: sw, class: l}]
`, n, rate, latency, n-1, n-1)
	topo, err := topology.Parse("test", []byte(text), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// flat is one generator over all ranks, one channel.
func flat(gen string, op collective.Kind, n, slices int) *schedule.Schedule {
	order := make(schedule.RankList, n)
	for i := range order {
		order[i] = int32(i)
	}
	chunks := n
	if op == collective.Broadcast || op == collective.Reduce || gen == schedule.GenTree {
		chunks = 1
	}
	acc := schedule.Scratch
	if op == collective.AllReduce {
		acc = schedule.Output
	}
	return &schedule.Schedule{Algorithm: gen, Spec: collective.Spec{Kind: op, Ranks: n}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: slices, Chunks: chunks, Phases: []schedule.Phase{{
			Gen: gen, Op: op, Groups: schedule.Groups{List: []schedule.Group{{Ranks: order}}},
			Src: schedule.Input, Acc: acc, Dst: schedule.Output, Radix: 2}}}}}
}

func profile(t testing.TB, name string) *cost.Profile {
	t.Helper()
	m, err := cost.GetMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Measured()
}

func TestRingTakesTheTextbookTime(t *testing.T) {
	topo := switched(t, 8, "100GB/s", "500ns")
	size := units.Bytes(8_000_000)
	r, err := Run(topo, flat(schedule.GenRing, collective.AllReduce, 8, 1), size, profile(t, "line"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := units.Time(14 * (10_000_000 + 1_000_000)); r.Time != want { // 14 × (1 MB at 100 GB/s + 2 × 500 ns)
		t.Errorf("time %v, want %v", r.Time, want)
	}
	if r.Sends != 8*14 {
		t.Errorf("%d sends, want %d", r.Sends, 8*14)
	}
}

// The closed forms and the engine agree within 0.1 %.
func TestEngineAgreesWithClosedForms(t *testing.T) {
	kinds := []struct {
		gen string
		op  collective.Kind
	}{{"ring", collective.AllReduce}, {"ring", collective.AllGather}, {"ring", collective.ReduceScatter}, {"ring", collective.Broadcast},
		{"ring", collective.Reduce}, {"doubling", collective.AllReduce}, {"doubling", collective.AllGather},
		{"doubling", collective.ReduceScatter}, {"bruck", collective.Barrier}}
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.SampledFrom(kinds).Draw(rt, "kind")
		n := rapid.IntRange(2, 24).Draw(rt, "ranks")
		if k.gen == "doubling" {
			n = 1 << rapid.IntRange(1, 4).Draw(rt, "log ranks")
		}
		rate := rapid.IntRange(1, 900).Draw(rt, "GB/s")
		latency := rapid.IntRange(0, 5000).Draw(rt, "ns")
		size := units.Bytes(rapid.Int64Range(1, 1<<32).Draw(rt, "size"))
		p := *profile(t, "line")
		p.Launch = units.Time(rapid.Int64Range(0, 1e7).Draw(rt, "launch"))
		p.Reduce = units.Rate(rapid.SampledFrom([]int64{0, 1e9, 37e9, 1e12}).Draw(rt, "reduce"))
		plan, err := Compile(switched(t, n, fmt.Sprintf("%dGB/s", rate), fmt.Sprintf("%dns", latency)), flat(k.gen, k.op, n, 1), &p)
		if err != nil {
			rt.Fatal(err)
		}
		want, ok := plan.ClosedForm(size)
		if !ok {
			rt.Fatal("no closed form")
		}
		got, err := plan.Time(size)
		if err != nil {
			rt.Fatal(err)
		}
		if math.Abs(float64(got-want)) > 1e-3*float64(want)+float64(8*n) { // each step may round up
			rt.Fatalf("%s %v, %d ranks, %v: engine %v, closed form %v", k.gen, k.op, n, size, got, want)
		}
		if low := plan.LowerEstimate(size); low > got {
			rt.Fatalf("lower estimate %v above the time %v", low, got)
		}
	})
}

// A chain of h+1 ranks and m slices takes (h+m−1)(α+s/(mβ)).
func TestPipelineTakesTheTextbookTime(t *testing.T) {
	for _, c := range []struct{ n, slices int }{{2, 5}, {4, 8}, {9, 3}, {64, 2000}} {
		topo, size := switched(t, c.n, "10GB/s", "1us"), 1<<20*units.Bytes(c.slices)
		plan, err := Compile(topo, flat(schedule.GenRing, collective.Broadcast, c.n, c.slices), profile(t, "line"))
		if err != nil {
			t.Fatal(err)
		}
		took, err := plan.Time(size)
		if err != nil {
			t.Fatal(err)
		}
		step := 2*units.Microsecond + units.MiB.Over(10*units.GBps)
		want := units.Time(c.n-1+c.slices-1) * step
		if took != want {
			t.Errorf("%d ranks, %d slices: %v, want %v", c.n, c.slices, took, want)
		}
		if low := plan.LowerEstimate(size); low > want || float64(low) < 0.999*float64(want) { // filling included
			t.Errorf("%d ranks, %d slices: estimate %v of %v", c.n, c.slices, low, want)
		}
	}
}

// Eight GPUs sending to one share its link: eight times the time of one.
func TestIncastSharesTheLink(t *testing.T) {
	topo := switched(t, 9, "90GB/s", "0ns")
	r, err := Run(topo, flat(schedule.GenDirect, collective.Gather, 9, 1), 9*9_000_000, profile(t, "line"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 8 * units.Bytes(9_000_000).Over(90*units.GBps); r.Time != want {
		t.Errorf("%v, want %v", r.Time, want)
	}
}

// BenchmarkRing plays a ring over one switch, folded and flat.
func BenchmarkRing(b *testing.B) {
	for _, n := range []int{256, 1024} {
		topo, ring := switched(b, n, "50GB/s", "2us"), flat(schedule.GenRing, collective.AllReduce, n, 1)
		b.Run(fmt.Sprintf("flat/%d", n), func(b *testing.B) { benchmark(b, CompileFlat, topo, ring) })
		b.Run(fmt.Sprintf("folded/%d", n), func(b *testing.B) { benchmark(b, Compile, topo, ring) })
	}
}

func BenchmarkDirectAllToAll(b *testing.B) {
	benchmark(b, CompileFlat, switched(b, 64, "50GB/s", "2us"), flat(schedule.GenDirect, collective.AllToAll, 64, 4))
}

func benchmark(b *testing.B, compile func(*topology.Topology, *schedule.Schedule, *cost.Profile) (*Plan, error), t *topology.Topology,
	s *schedule.Schedule) {
	plan, err := compile(t, s, profile(b, "line"))
	if err != nil {
		b.Fatal(err)
	}
	var sends int64
	for b.Loop() {
		r, err := plan.Run(1<<30, Options{})
		if err != nil {
			b.Fatal(err)
		}
		sends += r.Sends
	}
	b.ReportMetric(float64(sends)/b.Elapsed().Seconds(), "sends/s")
}
