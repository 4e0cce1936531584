package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

func load(t testing.TB, name string, gpus int) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{GPUs: gpus})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// every builds all algorithms for a collective.
func every(t testing.TB, topo *topology.Topology, kind collective.Kind, slices int) []*schedule.Schedule {
	t.Helper()
	n := topo.NumRanks()
	spec := collective.Spec{Kind: kind, Ranks: n}
	if kind.Rooted() {
		spec.Root = n - 1
	}
	if kind == collective.AllToAllV {
		for i := range n {
			row := make([]int64, n)
			for j := range row {
				row[j] = int64((i + 2*j) % 4)
			}
			row[0]++
			spec.Counts = append(spec.Counts, row)
		}
	}
	list, err := planner.Candidates(topo, spec, "", planner.Options{Slices: slices})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The long tier has more machines.
func TestEveryCollectiveIsExact(t *testing.T) {
	type machine struct {
		name string
		gpus int
	}
	machines := []machine{{"dgx1-v100", 3}, {"dgx-h100", 5}}
	if long.Given() {
		machines = append(machines, machine{"dgx1-v100", 1}, machine{"dgx1-v100", 2}, machine{"dgx1-v100", 8})
	}
	for _, machine := range machines {
		topo, gpus := load(t, machine.name, machine.gpus), machine.gpus
		for _, kind := range collective.All() {
			for _, s := range every(t, topo, kind, 1+gpus%3) {
				for _, count := range []int64{1, 17, 1<<10 + 1} {
					r, err := Run(context.Background(), s, Config{Count: count * int64(s.Spec.Blocks()), Seed: int64(gpus)})
					if err != nil {
						t.Fatalf("%s %v on %d ranks, %d elements: %v", s.Algorithm, kind, gpus, count, err)
					}
					if r.Wrong != 0 {
						t.Errorf("%s %v on %d ranks, %d elements: %d wrong", s.Algorithm, kind, gpus, count, r.Wrong)
					}
				}
			}
		}
	}
}

// Several nodes: what crosses them, in networks and in switches, is exact as well.
func TestNodesAreExact(t *testing.T) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2, GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	degraded, err := whole.Degrade(gen.Faults("nic:node1/nic1"))
	if err != nil {
		t.Fatal(err)
	}
	for algo, kinds := range map[string][]collective.Kind{
		"hierarchical_in_network": {collective.AllReduce, collective.AllGather, collective.ReduceScatter},
		"hierarchical_all_to_all": {collective.AllToAll, collective.AllToAllV},
		"balanced_rails":          {collective.AllToAllV},
		"hierarchical_two_shot":   {collective.Broadcast, collective.Reduce},
		"rerouted_rails":          {collective.AllReduce, collective.AllToAll},
		"rerouted_in_network": {collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
			collective.Reduce},
	} {
		topo := whole
		if strings.HasPrefix(algo, "rerouted") {
			topo = degraded
		}
		for _, kind := range kinds {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			if kind.Rooted() {
				spec.Root = spec.Ranks - 2
			}
			for i := 0; kind == collective.AllToAllV && i < spec.Ranks; i++ {
				spec.Counts = append(spec.Counts, []int64{int64(i % 2), 0, int64(i * i), 7, 0, int64(5 - i)})
			}
			s, err := planner.Build(topo, spec, algo, planner.Options{Slices: 3})
			if err != nil {
				t.Fatal(err)
			}
			for _, count := range []int64{6, 600, 6*977 + 6} {
				r, err := Run(context.Background(), s, Config{Count: count, Seed: 1, Iterations: 2})
				if err != nil || r.Wrong > 0 {
					t.Errorf("%s %v of %d: %v, %v", algo, kind, count, r, err)
				}
			}
		}
	}
}

func TestEveryTypeAndOperation(t *testing.T) {
	topo := load(t, "dgx-h100", 7)
	for _, s := range every(t, topo, collective.AllReduce, 2) {
		for dtype := collective.Float32; dtype <= collective.Int64; dtype++ {
			for op := collective.Sum; op <= collective.Avg; op++ {
				for _, inPlace := range []bool{false, true} {
					r, err := Run(context.Background(), s, Config{Count: 1<<7 - 1, DType: dtype, Op: op, InPlace: inPlace, Checks: 3})
					if inPlace && err != nil && strings.Contains(err.Error(), "in place") {
						continue // the checker says that it cannot
					}
					if err != nil {
						t.Fatal(err)
					}
					if r.Wrong != 0 {
						t.Errorf("%s %v %v in place %v: %d wrong", s.Algorithm, dtype, op, inPlace, r.Wrong)
					}
				}
			}
		}
	}
}

// TestInPlace: whatever can run in one memory is right there, roots' own data included, and of each
// collective that has such a form something can.
func TestInPlace(t *testing.T) {
	topo := load(t, "dgx1-v100", 4)
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.Reduce} {
		ran := map[string]bool{}
		for _, s := range every(t, topo, kind, 2) {
			r, err := Run(context.Background(), s, Config{Count: 33 * int64(s.Spec.Blocks()), InPlace: true, Iterations: 2, Seed: 1})
			if err != nil && strings.Contains(err.Error(), "in place") {
				continue // a rank would overwrite what others still read
			}
			if err != nil || r.Wrong > 0 {
				t.Errorf("%s %v: %v, %v", s.Algorithm, kind, r, err)
			}
			ran[s.Algorithm] = true
		}
		if !ran["ring"] {
			t.Errorf("%v: only %v run in place", kind, ran)
		}
	}
	if _, err := Run(context.Background(), every(t, topo, collective.Gather, 1)[0], Config{Count: 4, InPlace: true}); err == nil ||
		!strings.Contains(err.Error(), "gather has no in-place form") {
		t.Errorf("%v", err)
	}
}

func TestManyLanes(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range every(t, topo, collective.AllReduce, 4) {
		r, err := Run(context.Background(), s, Config{Count: 1 << 12, Checks: 1, Warmup: 1, Iterations: 2})
		if err != nil {
			t.Fatalf("%s: %v", s.Algorithm, err)
		}
		if r.Wrong != 0 || len(r.Times) != 2 {
			t.Errorf("%s: %d wrong, %d times", s.Algorithm, r.Wrong, len(r.Times))
		}
	}
}

// broken is a ring in which rank 1 never sends.
func broken(t testing.TB) *schedule.Schedule {
	topo := load(t, "dgx-h100", 3)
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: 3}, "simple_ring", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := schedule.NewExpander(s)
	ops := make([]schedule.Program, 3)
	for r := range ops {
		for _, op := range x.AppendProgram(nil, 0, 0, r) {
			if r != 1 || op.Kind != schedule.Send {
				ops[r] = append(ops[r], op)
			}
		}
	}
	s.Channels[0].Phases[0] = schedule.Phase{Gen: schedule.GenOps, Op: collective.AllGather, Ops: ops}
	return s
}

func TestDeadlineNamesWhoWaits(t *testing.T) {
	_, err := Run(context.Background(), broken(t), Config{Count: 12, Deadline: 50 * time.Millisecond})
	if err == nil {
		t.Fatal("a hang was not reported")
	}
	for _, want := range []string{"deadline of 50ms passed", "waits for rank", "channel 0, phase 0, slice 0", ": flag wanted "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

func TestCancelEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("interrupted")
	time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
	if _, err := Run(ctx, broken(t), Config{Count: 12, Deadline: time.Minute}); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

// The verification must see a wrong result: a schedule that drops a contribution.
func TestWrongResultsAreCounted(t *testing.T) {
	topo := load(t, "dgx-h100", 2)
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 2}, "direct", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := schedule.NewExpander(s)
	ops := make([]schedule.Program, 2)
	for r := range ops {
		ops[r] = x.AppendProgram(nil, 0, 0, r)
		for i := range ops[r] {
			if ops[r][i].Kind == schedule.Reduce && r == 1 {
				ops[r][i].Srcs = ops[r][i].Srcs[:1]
			}
		}
	}
	s.Channels[0].Phases[0] = schedule.Phase{Gen: schedule.GenOps, Op: collective.AllReduce, Ops: ops}
	r, err := Run(context.Background(), s, Config{Count: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if r.Wrong < 1500 { // rank 1's thousand elements, three times, less the zeros of rank 0
		t.Errorf("only %d wrong", r.Wrong)
	}
}

func TestHalfPrecision(t *testing.T) {
	for h := range 1 << 16 {
		f := halfToFloat(uint16(h))
		want := slowHalf(uint16(h))
		if f != want && !(f != f && want != want) {
			t.Fatalf("half %#x is %v, want %v", h, f, want)
		}
		if f == f && floatToHalf(f) != uint16(h) {
			t.Fatalf("%v → %#x, want %#x", f, floatToHalf(f), h)
		}
		if f != f || math.IsInf(float64(f), 0) || h&0x7fff >= 0x7bff {
			continue
		}
		// Halfway to the next number rounds to even, just above it rounds up.
		next := slowHalf(uint16(h) + 1)
		mid := float32((float64(f) + float64(next)) / 2)
		even := uint16(h + h&1)
		if got := floatToHalf(mid); got != even {
			t.Fatalf("%v between %#x and the next → %#x, want %#x", mid, h, got, even)
		}
		beyond := math.Nextafter32(mid, float32(math.Inf(1)))
		if f < 0 || h>>15 == 1 {
			beyond = math.Nextafter32(mid, float32(math.Inf(-1)))
		}
		if got := floatToHalf(beyond); got != uint16(h)+1 {
			t.Fatalf("%v → %#x, want %#x", beyond, got, h+1)
		}
	}
	for h := range 1 << 16 {
		if f := bfloatToFloat(uint16(h)); f == f && floatToBfloat(f) != uint16(h) {
			t.Fatalf("bfloat %#x does not survive", h)
		}
	}
	if floatToHalf(65519) != 0x7bff || floatToHalf(65520) != 0x7c00 || floatToHalf(1e-9) != 0 {
		t.Error("float16 limits")
	}
}

// slowHalf is binary16 by its definition.
func slowHalf(h uint16) float32 {
	sign, exp, frac := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch exp {
	case 0:
		return float32(math.Copysign(math.Ldexp(frac, -24), sign))
	case 31:
		if frac != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(sign * math.Ldexp(1024+frac, exp-25))
}

func BenchmarkCombine(b *testing.B) {
	k := engineOf(collective.Float32, collective.Sum).(*kernels[float32])
	x, y := make([]float32, 1<<18), make([]float32, 1<<18)
	b.SetBytes(1 << 20)
	for b.Loop() {
		k.combine(x, x, y)
	}
}

func BenchmarkAllReduce(b *testing.B) {
	for _, size := range []int64{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			topo := load(b, "host", 2)
			s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 2}, "direct", planner.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			if _, err := Run(context.Background(), s, Config{Count: size / 4, Checks: 1, Iterations: b.N}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
