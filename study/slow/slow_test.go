package slow

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

func expected(us, high float64) Expect {
	return func(*observed.Call) (Expected, error) {
		return Expected{Time: units.FromMicroseconds(us), High: units.FromMicroseconds(high), How: "by kernels"}, nil
	}
}

func unknown(*observed.Call) (Expected, error) { return Expected{}, errors.New("no topology") }

// calls of one rank, a second apart.
func calls(times ...float64) (out []observed.Call) {
	for i, us := range times {
		out = append(out, observed.Call{Place: observed.Place{File: "f", Line: i + 1}, Group: "dp", Ranks: 8, Kind: collective.AllReduce,
			Size: units.MiB, Seq: int64(i), Start: 1795459110e9 + int64(i)*1e9, Time: units.FromMicroseconds(us)})
	}
	return out
}

// noisy are n times round a level, with 5 % of noise and an outlier of 8 times that in twenty.
func noisy(random *rand.Rand, n int, level float64) (out []float64) {
	for range n {
		t := level * (1 + 0.05*math.Abs(random.NormFloat64()))
		if random.IntN(20) == 0 {
			t *= 8
		}
		out = append(out, t)
	}
	return out
}

func TestSinceWhen(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	times := append(noisy(random, 60, 100), noisy(random, 40, 140)...)
	for name, expect := range map[string]Expect{"predicted": expected(100, 120), "own past": unknown} {
		got := Find(calls(times...), expect).Findings
		if len(got) != 1 || got[0].Rule != "slow/since" || got[0].Cost.Share < 0.3 || got[0].Cost.Share > 0.5 {
			t.Fatalf("%s: %+v", name, got)
		}
		var at, of int
		if _, err := fmt.Sscanf(got[0].Says[strings.Index(got[0].Says, "since call"):], "since call %d of %d", &at, &of); err != nil ||
			at < 57 || at > 65 || of != 100 {
			t.Errorf("%s: %s", name, got[0].Says)
		}
		if !strings.Contains(got[0].Says, "2026-11-23") {
			t.Error(got[0].Says)
		}
	}
}

func TestSlowFromTheStart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	got := Find(calls(noisy(random, 30, 200)...), expected(100, 120)).Findings
	if len(got) != 1 || got[0].Rule != "slow/size" || got[0].Cost.Share < 1 || !strings.Contains(got[0].Why, "one rank's record") {
		t.Errorf("%+v", got)
	}
	if got := Find(calls(noisy(random, 30, 200)...), unknown); len(got.Findings) != 0 || len(got.Notes) != 1 ||
		got.Notes[0] != "1 size of collectives could not be predicted: no topology" {
		t.Errorf("%+v", got)
	}
	long := Find(calls(150, 150, 150), expected(100, 120))
	if len(long.Notes) != 1 || !strings.HasPrefix(long.Notes[0], "1 size of collectives took longer than is normal, in too few") {
		t.Errorf("%q", long.Notes)
	}
	if s := long.Series; len(s) != 1 || s[0].Verdict != "too few" || s[0].MedianUS != 150 {
		t.Errorf("%+v", s)
	}
	for _, times := range [][]float64{{150, 150, 150}, {500, 90, 90, 90, 90, 90, 90, 90}} { // too few, and one that was warming up
		if got := Find(calls(times...), expected(100, 120)).Findings; len(got) != 0 {
			t.Errorf("%v: %+v", times, got)
		}
	}
	mean := calls(200)
	mean[0].Mean = true
	if got := Find(mean, expected(100, 120)).Findings; len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// Of 200 series without a change, none or hardly any is called slow: the rate of false alarms is that of all series together.
// TestSizesOfOneCollective: what is slow at several sizes is one finding, of the largest; what one number stands for is judged by it.
func TestSizesOfOneCollective(t *testing.T) {
	var list []observed.Call
	for i, us := range []float64{100, 200, 90, 200, 200} {
		c := calls(us)[0]
		c.Group, c.Rank, c.Mean, c.Size = "", -1, true, units.MiB<<i
		list = append(list, c)
	}
	found := Find(list, expected(100, 120))
	if len(found.Findings) != 1 || !strings.HasPrefix(found.Findings[0].Says, "takes 200.0 µs for all_reduce of 16 MiB (mean), ") ||
		found.Findings[0].Part != "a group of 8 ranks" || !strings.HasSuffix(found.Findings[0].Says, "; it is slow at 2 sizes more, from 2 MiB on") {
		t.Errorf("%+v", found.Findings)
	}
	slow := 0
	for _, s := range found.Series {
		if s.Verdict == "slow" {
			slow++
		}
	}
	if slow != 3 || len(found.Series) != 5 {
		t.Errorf("%+v", found.Series)
	}
}

func TestNoiseIsNotSlow(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var all []observed.Call
	for g := range 200 {
		list := calls(noisy(random, 20+random.IntN(60), 100)...)
		for i := range list {
			list[i].Group = fmt.Sprint("g", g)
		}
		all = append(all, list...)
	}
	for name, expect := range map[string]Expect{"predicted": expected(100, 120), "own past": unknown} {
		if got := Find(all, expect).Findings; len(got) > 1 {
			t.Errorf("%s: %d of 200", name, len(got))
		}
	}
}

// With all ranks' records, time spent waiting for a late rank is no fault of the collective, and the late rank is named.
func TestLatecomers(t *testing.T) {
	var all []observed.Call
	for rank := range 4 {
		times := make([]float64, 30)
		for i := range times {
			times[i] = 300
			if rank == 2 {
				times[i] = 100
			}
		}
		list := calls(times...)
		for i := range list {
			list[i].Rank = rank
		}
		all = append(all, list...)
	}
	got := Find(all, expected(100, 120)).Findings
	if len(got) != 1 || got[0].Rule != "slow/latecomer" || !strings.HasPrefix(got[0].Says,
		"waits for rank 2, the last to join 30 of 30 collectives, "+
			"by 150.0 µs on average") {
		t.Errorf("%+v", got)
	}
}

// The change of level is found where it is, whatever the level, and its place does not depend on the unit.
func TestShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.IntRange(10, 50).Draw(t, "before"), rapid.IntRange(10, 50).Draw(t, "after")
		x := make([]float64, before+after)
		for i := range x {
			// The spread is small: with 1.5, or 50 values of which half are 1 and half 1.4 before 10 of 2, another split
			// has less deviation.
			x[i] = rapid.Float64Range(1, 1.1).Draw(t, "x")
			if i >= before {
				x[i]++
			}
		}
		at, chance := shift(x)
		if at != before || chance > 0.05 {
			t.Fatalf("%d with %g, want %d", at, chance, before)
		}
		for i := range x {
			x[i] *= 1000
		}
		if again, _ := shift(x); again != at {
			t.Fatalf("%d, then %d", at, again)
		}
	})
}

func TestMostlyAbove(t *testing.T) {
	for _, c := range []struct {
		above, n int
		want     float64
	}{{0, 10, 1}, {10, 10, 1.0 / 1024}, {9, 10, 11.0 / 1024}, {5, 9, 0.5}} {
		if got := mostlyAbove(c.above, c.n); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d: %g, want %g", c.above, c.n, got, c.want)
		}
	}
}
