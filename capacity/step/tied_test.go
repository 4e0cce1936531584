package step_test

import (
	"testing"

	"railyard/capacity/step"
	"railyard/capacity/steptest"
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/model/workload"
)

// TestTiedEmbedding: the first and the last stage add up their gradients of a tied
// embedding, and the step waits for that; without a pipeline, or untied, nobody does.
func TestTiedEmbedding(t *testing.T) {
	p := steptest.Predictor(t, "superpod-a100", 4)
	for _, c := range []struct {
		workload, layout string
		want             units.Bytes
	}{
		{"gpt-3-13b", "dp1 tp8 pp4 mb1 gb8", 50257 * 5120 / 8 * 2},
		{"gpt-3-13b", "dp4 tp8 pp1 mb1 gb8", 0},
		{"llama-2-7b", "dp1 tp8 pp4 mb1 gb8", 0},
	} {
		l, err := step.ParseLayout(c.layout)
		if err != nil {
			t.Fatal(err)
		}
		r, err := step.Run(p, steptest.Workload(t, c.workload), l, step.Options{AllowOverflow: true})
		if err != nil {
			t.Fatal(err)
		}
		var found units.Bytes
		for _, x := range r.Collectives {
			if x.Axis == workload.Pipeline && x.Kind == collective.AllReduce {
				found = x.Size
				if x.Ranks != 2 || !x.Network || x.Time <= 0 || r.Exposed[workload.Pipeline] != x.Time {
					t.Errorf("%s %s: %+v, exposed %v", c.workload, c.layout, x, r.Exposed[workload.Pipeline])
				}
			}
		}
		if found != c.want {
			t.Errorf("%s %s: an all-reduce of %v, want %v", c.workload, c.layout, found, c.want)
		}
		sum := units.Time(0)
		for _, part := range r.Parts() {
			sum += part.Time
		}
		if sum != r.Time {
			t.Errorf("%s %s: parts add up to %v, the step takes %v", c.workload, c.layout, sum, r.Time)
		}
	}
}
