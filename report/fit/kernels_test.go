package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/model/cost"
	"railyard/model/units"
)

// truth is a kernel that cases are made of.
var truth = cost.Kernel{KernelKey: cost.KernelKey{Collective: "all_reduce", Algorithm: "ring", Protocol: "ll", Over: "nvlink"},
	Base: 5 * units.Microsecond, Hop: units.Microsecond, Drain: 0.6,
	Pieces: []cost.Piece{{From: 0, Slowdown: 4}, {From: 256 * units.KiB, Slowdown: 2.5}}}

const line = 450e9

// constants are what is believed before.
var constants = cost.Kernel{Base: 6 * units.Microsecond, Hop: 950 * units.Nanosecond, Drain: 0.5, Pieces: []cost.Piece{{Slowdown: 2.3}}}

// made are ring all-reduces on some numbers of GPUs, with relative noise.
func made(noise float64, ranks ...int) []KernelCase {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []KernelCase
	for _, n := range ranks {
		for size := units.KiB; size <= units.GiB; size *= 2 {
			c := KernelCase{KernelKey: truth.KernelKey, Hops: float64(2 * (n - 1)), Steps: float64(2 * (n - 1)), Drains: 1,
				Chunk: size / units.Bytes(n), Line: line,
				Prior: constants, Ranks: n, Size: size}
			t := float64(truth.Base) + c.Hops*float64(truth.Hop) + (c.Steps+truth.Drain)*truth.Move(c.Chunk)/line*1e12
			c.Time = units.Time(t * (1 + noise*rng.NormFloat64()))
			out = append(out, c)
		}
	}
	return out
}

func TestKernelIsFoundAgain(t *testing.T) {
	for _, noise := range []float64{0, 0.02} {
		kernels, left := Kernels(made(noise, 2, 4, 8), nil, true)
		if len(kernels) != 1 || len(left) != 0 {
			t.Fatalf("%d kernels, %v left", len(kernels), left)
		}
		k := kernels[0]
		if tolerance := 0.06 + 2*noise; !near(float64(k.Base), float64(truth.Base), tolerance) || !near(float64(k.Hop), float64(truth.Hop),
			tolerance) || math.Abs(k.Drain-truth.Drain) > 0.21 {
			t.Errorf("noise %v: %+v", noise, k)
		}
		if k.HeldOut > 0.02+noise || k.Error > 0.02+noise {
			t.Errorf("noise %v: error %v, held out %v", noise, k.Error, k.HeldOut)
		}
		for _, p := range k.Pieces {
			if p.Slowdown < 1 {
				t.Errorf("a piece beats the line: %+v", k.Pieces)
			}
		}
	}
}

// A kernel says which share of its smallest size is latency, and of its largest bytes.
func TestKernelsSayWhatTheirEndsShow(t *testing.T) {
	cases := made(0, 4)
	kernels, _ := Kernels(cases, nil, false)
	c := cases[0] // of the smallest size
	want := (float64(truth.Base) + c.Hops*float64(truth.Hop)) / float64(c.Time)
	if k := kernels[0]; !near(k.Latency, want, 0.02) || k.Bytes < 0.99 || k.Bytes > 1 {
		t.Errorf("latency %v of the smallest size, want %v, bytes %v of the largest", k.Latency, want, k.Bytes)
	}
	kernels, _ = Kernels(slices.DeleteFunc(cases, func(c KernelCase) bool { return c.Size < 16*units.MiB }), nil, false)
	if k := kernels[0]; k.Latency > 0.3 {
		t.Errorf("fitted from 16 MiB on: latency %v of the smallest size", k.Latency)
	}
}

// A kernel fitted on 2 and 4 GPUs predicts 16.
func TestKernelExtrapolatesRanks(t *testing.T) {
	k, _ := Kernels(made(0.01, 2, 4), nil, false)
	for _, c := range made(0, 16) {
		got := float64(k[0].Base) + c.Hops*float64(k[0].Hop) + (c.Steps+k[0].Drain)*k[0].Move(c.Chunk)/line*1e12
		if !near(got, float64(c.Time), 0.1) {
			t.Errorf("%v on 16 ranks: %.1f us, want %v", c.Size, got/1e6, c.Time)
		}
	}
}

// Beyond the largest measured size the rate goes on as it is, whatever was believed of such chunks.
func TestRatesGoOn(t *testing.T) {
	small := slices.DeleteFunc(made(0, 4), func(c KernelCase) bool { return c.Size > 64*units.MiB })
	fast := constants
	fast.Pieces = []cost.Piece{{Slowdown: 1.2}}
	for i := range small {
		small[i].Prior = fast
	}
	k, _ := Kernels(small, nil, false)
	for _, c := range made(0, 4) {
		got := float64(k[0].Base) + c.Hops*float64(k[0].Hop) + (c.Steps+k[0].Drain)*k[0].Move(c.Chunk)/line*1e12
		if c.Size > 64*units.MiB && !near(got, float64(c.Time), 0.1) {
			t.Errorf("%v, fitted up to 64 MiB: %.1f us, want %v", c.Size, got/1e6, c.Time)
		}
	}
}

// What one number of GPUs cannot tell is near what is believed, and what many machines
// tell is believed of the next one.
func TestOneRankCountTakesWhatIsBelieved(t *testing.T) {
	k, _ := Kernels(made(0, 4), nil, false)
	if !near(float64(k[0].Hop), float64(constants.Hop), 0.05) {
		t.Errorf("hop %v, the constant is %v", k[0].Hop, constants.Hop)
	}
	others := slow(made(0, 2, 4, 8), 300*units.Nanosecond)
	general := &cost.Profile{Kernels: General(others)}
	k, _ = Kernels(slow(made(0, 4), 300*units.Nanosecond), general, false)
	if hop := 1300 * units.Nanosecond; !near(float64(k[0].Hop), float64(hop), 0.15) {
		t.Errorf("hop %v, on other machines it is %v", k[0].Hop, hop)
	}
}

// A machine's kernels of one number of ranks have the hop that its others show, and those of another pool do not.
func TestHopsAreTheMachines(t *testing.T) {
	general := &cost.Profile{Kernels: General(made(0, 2, 4, 8))}
	const more = 150 * units.Nanosecond
	alone := slow(made(0, 4), more)
	for i := range alone {
		alone[i].Collective = "all_gather"
	}
	hop := func(beside []KernelCase) float64 {
		kernels, _ := Kernels(append(slices.Clone(alone), slow(beside, more)...), general, false)
		i := slices.IndexFunc(kernels, func(k cost.Kernel) bool { return k.Collective == "all_gather" })
		return kernels[i].Hop.Microseconds()
	}
	none, same := hop(nil), hop(made(0, 2, 8))
	other := made(0, 2, 8)
	for i := range other {
		other[i].Protocol = "simple"
	}
	if same-none < 0.05 {
		t.Errorf("%.3f µs a hop, beside kernels of two and eight ranks with hops of 1.15 µs %.3f", none, same)
	}
	if apart := hop(other); math.Abs(apart-none) > 1e-9 {
		t.Errorf("%.3f µs a hop, beside another protocol %.3f", none, apart)
	}
}

// What kernels of all machines begin with is of those that hosts launch: graphs start sooner, and count where there is nothing else.
func TestBasesInGraphsAreApart(t *testing.T) {
	graphs := made(0, 2, 4, 8)
	for i := range graphs {
		graphs[i].Graph, graphs[i].Machine = true, "graphs"
		graphs[i].Time -= 3 * units.Microsecond
	}
	streams := made(0, 2, 4, 8)
	alone, both, all := General(streams)[0].Base, General(append(graphs, streams...))[0].Base, General(graphs)[0].Base
	if !near(float64(both), float64(alone), 0.03) {
		t.Errorf("a base of %v, with graphs beside %v", alone, both)
	}
	if !near(float64(all), float64(alone-3*units.Microsecond), 0.1) {
		t.Errorf("a base of %v, in graphs alone %v", alone, all)
	}
}

// slow adds to each hop.
func slow(cases []KernelCase, more units.Time) []KernelCase {
	for i := range cases {
		cases[i].Machine = "other"
		cases[i].Time += units.Time(cases[i].Hops) * more
	}
	return cases
}

func TestTooFewCasesAreLeft(t *testing.T) {
	kernels, left := Kernels(made(0, 2)[:leastCases-1], nil, false)
	if len(kernels) != 0 || left[truth.KernelKey] != leastCases-1 {
		t.Errorf("%v, %v", kernels, left)
	}
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }
