package step_test

import (
	"slices"
	"strings"
	"testing"

	"railyard/capacity/step"
	"railyard/capacity/steptest"
)

// TestBandOfUnseenGPU: the band is wider, and says so, on a GPU of which no step is in the fit, unless the user measured the computation.
func TestBandOfUnseenGPU(t *testing.T) {
	w := steptest.Workload(t, "llama-3-8b")
	l, err := step.ParseLayout("dp8 zero1 mb1 gb128 full")
	if err != nil {
		t.Fatal(err)
	}
	for name, unseen := range map[string]bool{"dgx-h100": false, "dgx-b300": true} {
		p := steptest.Predictor(t, name, 1)
		r, err := step.Run(p, w, l, step.Options{})
		if err != nil {
			t.Fatal(err)
		}
		own, err := step.Run(p, w, l, step.Options{Measured: r.Compute})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			*step.Result
			wide bool
		}{{r, unseen}, {own, false}} {
			_, high := x.Band()
			said := slices.ContainsFunc(x.Notes, func(n string) bool { return strings.Contains(n, "no published step on") })
			if wide := float64(high)/float64(x.Time) > 1.17; wide != x.wide || said != x.wide {
				t.Errorf("%s: at most %v of %v, notes %q", name, high, x.Time, x.Notes)
			}
		}
	}
}
