package fit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/model/units"
)

// synthetic measures a machine with a known launch, α and efficiency, which change at
// 64 KiB, with noise of one part in a hundred.
func synthetic(seed uint64, noise float64) []Features {
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows []Features
	for _, n := range []int{2, 3, 4, 8} {
		for size := 8 * units.KiB; size <= units.GiB; size *= 2 {
			f := Features{Medium: topology.NVLink, Protocol: "simple", Messages: float64(2 * (n - 1)), Message: size / units.Bytes(n),
				Launched: true, Size: size,
				Line: (size * units.Bytes(2*(n-1)) / units.Bytes(n)).Over(100 * units.GBps)}
			alpha, eff := 1.5e6, 0.5
			if f.Message >= 64*units.KiB {
				alpha, eff = 3e6, 0.9
			}
			t := 5e6 + alpha*f.Messages + float64(f.Line)/eff
			f.Time = units.Time(t * (1 + noise*(2*rng.Float64()-1)))
			rows = append(rows, f)
		}
	}
	return rows
}

func TestFitRecoversKnownParameters(t *testing.T) {
	for seed := range uint64(5) {
		r, err := Fit("known", "synthetic", "2026-11-21", synthetic(seed, 0.01))
		if err != nil {
			t.Fatal(err)
		}
		if r.HeldOut > 0.012 || r.InSample > 0.01 {
			t.Errorf("seed %d: %s", seed, r.Profile.Error)
		}
		p := r.Profile
		if math.Abs(p.Launch.Microseconds()-5) > 0.5 {
			t.Errorf("seed %d: launch %v", seed, p.Launch)
		}
		big := p.Transfer(topology.NVLink, "simple", units.MiB)
		small := p.Transfer(topology.NVLink, "simple", 8*units.KiB)
		if math.Abs(big.Efficiency-0.9) > 0.02 || math.Abs(big.Alpha.Microseconds()-3) > 0.4 ||
			math.Abs(small.Alpha.Microseconds()-1.5) > 0.3 {
			t.Errorf("seed %d: large %+v, small %+v", seed, big, small)
		}
		if p.MinSize != 8*units.KiB || p.MaxSize != units.GiB {
			t.Errorf("range %v to %v", p.MinSize, p.MaxSize)
		}
	}
}

// The descent must end where plain least squares does when no bound is met.
func TestSolveIsLeastSquares(t *testing.T) {
	rows := synthetic(9, 0.02)
	m := newModel(rows, []units.Bytes{64 * units.KiB})
	x := m.solve(rows)
	g, b := m.normal(rows)
	for i := range x {
		if x[i] == m.lower(i) {
			continue
		}
		r := -b[i]
		for j := range x {
			r += g.At(i, j) * x[j]
		}
		if math.Abs(r) > 1e-6*math.Abs(b[i]) {
			t.Errorf("gradient of unknown %d is %g of %g", i, r, b[i])
		}
	}
}

func TestFitRefusesWhatCannotBeTold(t *testing.T) {
	rows := synthetic(1, 0)
	if _, err := Fit("x", "s", "d", rows[:5]); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("%v", err)
	}
	one := make([]Features, 20)
	for i := range one {
		one[i] = rows[3]
	}
	if _, err := Fit("x", "s", "d", one); err == nil || !strings.Contains(err.Error(), "cannot be told apart") {
		t.Errorf("%v", err)
	}
}

// TestTooFewRowsForTheCurves: no panic where every protocol has a few rows only.
func TestTooFewRowsForTheCurves(t *testing.T) {
	var rows []Features
	for i, protocol := range []string{"simple", "ll", "ll128", "pull"} {
		for k := range 2 {
			rows = append(rows, Features{Protocol: protocol, Messages: 1, Line: 1000, Message: 1 << 10, Launched: true,
				Size: units.Bytes(1<<10 + i + k), Time: 5000})
		}
	}
	if _, err := Fit("x", "y", "2026-11-22", rows); err == nil || !strings.Contains(err.Error(), "too few for") {
		t.Errorf("%v", err)
	}
}
