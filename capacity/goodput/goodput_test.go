package goodput

import (
	"math"
	"slices"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/failure"
)

// A part that the job runs on without slows it; all others stop it.
func TestCausesOfABook(t *testing.T) {
	book := &failure.Book{Causes: []failure.Cause{{Name: "GPU", Part: failure.GPU, PerDay: 0.01},
		{Name: "NIC", Part: failure.NIC, PerDay: 0.02}, {Name: "cable", Part: failure.Cable, PerDay: 0.03, Repair: 5}}}
	c := Cluster{Parts: map[failure.Part]int{failure.GPU: 8, failure.NIC: 4, failure.Cable: 2},
		Slowdown: map[failure.Part]float64{failure.NIC: 1.5, failure.Cable: 1.1}, Repair: 2}
	want := []Cause{{"GPU", 8, 0.01, 0, 2}, {"NIC", 4, 0.02, 1.5, 2}, {"cable", 2, 0.03, 1.1, 5}}
	if got := Causes(book, c); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSimulationAgreesWithTheAnalysis(t *testing.T) {
	stop := Cause{Name: "GPU", Parts: 1024, PerDay: 0.002}
	rare := Cause{Name: "node", Parts: 128, PerDay: 0.0005}
	nic := Cause{Name: "NIC", Parts: 1024, PerDay: 0.001, Slowdown: 1.3, Repair: 6}
	link := Cause{Name: "link", Parts: 512, PerDay: 0.001, Slowdown: 1.05, Repair: 24}
	for _, c := range []struct {
		name   string
		causes []Cause
		plan   Plan
	}{
		{"stops, best interval", []Cause{stop, rare}, Plan{Checkpoint: 0.1, Restart: 0.5}},
		{"stops, long interval", []Cause{stop}, Plan{Checkpoint: 0.1, Interval: 12, Restart: 1}},
		{"slowed only", []Cause{nic, link}, Plan{Checkpoint: 0.1, Interval: 2}},
		{"both, rarely", []Cause{{Name: "GPU", Parts: 8, PerDay: 0.01}, nic}, Plan{Checkpoint: 0.02, Interval: 0.5, Restart: 0.1}},
		{"nothing fails", nil, Plan{Checkpoint: 0.1, Interval: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, got, err := Simulate(c.causes, c.plan, 200_000, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []struct {
				what      string
				got, want float64
			}{{"goodput", got.Goodput, want.Goodput}, {"checkpoints", got.Checkpoints, want.Checkpoints}, {"lost", got.Lost, want.Lost},
				{"slowed", got.Slowed, want.Slowed}} {
				if math.Abs(f.got-f.want) > 0.01 {
					t.Errorf("%s: played %.4f, expected %.4f", f.what, f.got, f.want)
				}
			}
		})
	}
}

func TestBestIntervalIsBest(t *testing.T) {
	for _, rate := range []float64{1e-4, 0.01, 0.3} {
		p := Plan{Checkpoint: 0.1, Restart: 0.3}
		best := BestInterval(rate, p)
		cost := func(tau float64) float64 { return piece(rate, p.Restart, tau+p.Checkpoint) / tau }
		for _, f := range []float64{0.9, 0.99, 1.01, 1.1} {
			if cost(best*f) < cost(best) {
				t.Errorf("rate %g: an interval of %.4f h costs %.8f, the best, %.4f, %.8f", rate, best*f, cost(best*f), best, cost(best))
			}
		}
		// Young's first-order formula is near where failures are rare.
		if young := math.Sqrt(2 * p.Checkpoint / rate); rate < 1e-3 && math.Abs(best/young-1) > 0.01 {
			t.Errorf("rate %g: best %.3f, Young %.3f", rate, best, young)
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	causes := []Cause{{Name: "GPU", Parts: 512, PerDay: 0.01}}
	_, a, _ := Simulate(causes, Plan{Checkpoint: 0.1, Restart: 0.1}, 1000, 7)
	_, b, _ := Simulate(causes, Plan{Checkpoint: 0.1, Restart: 0.1}, 1000, 7)
	_, other, _ := Simulate(causes, Plan{Checkpoint: 0.1, Restart: 0.1}, 1000, 8)
	if a != b || a == other {
		t.Errorf("seed 7: %+v and %+v; seed 8: %+v", a, b, other)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		causes []Cause
		plan   Plan
	}{
		"negative parts":    {[]Cause{{Parts: -1}}, Plan{}},
		"NaN rate":          {[]Cause{{Parts: 1, PerDay: math.NaN()}}, Plan{}},
		"slowdown below 1":  {[]Cause{{Parts: 1, Slowdown: 0.5}}, Plan{}},
		"negative restart":  {nil, Plan{Restart: -1}},
		"infinite interval": {nil, Plan{Interval: math.Inf(1)}},
	} {
		if _, err := Analytic(c.causes, c.plan); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
