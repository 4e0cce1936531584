package whatif

import (
	"context"
	"errors"
	"strings"
	"testing"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/capacity/steptest"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/workload"
)

// A search that finds no layout leaves the one that is kept, and says so; what else goes wrong is
// the answer's error.
func TestErrorsOfTheSearchAreSaid(t *testing.T) {
	p, w := steptest.Predictor(t, "dgx-h100", 1), steptest.Workload(t, "gpt-2-1.5b")
	l := step.Layout{Data: 8, Tensor: 1, Pipeline: 1, Context: 1, Expert: 1, Virtual: 1, MicroBatch: 1, GlobalBatch: 64,
		Order: step.DefaultOrder}
	m := Machines{Before: p, After: steptest.Predictor(t, "dgx-h100", 1, "classes.nvlink4.rate=12.5GB/s")}
	r, err := Train(context.Background(), m, w, l, search.Space{GlobalBatch: 64, Tensor: 3}, search.Options{Top: 1})
	if err != nil || r.Kept == nil || r.Planned != r.Kept || !strings.Contains(r.Unfit, "tp 3 does not divide") {
		t.Errorf("%+v, %v", r, err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Train(stopped, m, w, l, search.Space{GlobalBatch: 64, Zero: -1, Narrow: true}, search.Options{Top: 1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a search that was stopped: %v", err)
	}
}

// A smaller machine that is another one gets the best layout there is; one that is left of the first, fewer replicas.
func TestAnotherMachineIsSearched(t *testing.T) {
	p, q, w := steptest.Predictor(t, "dgx-h100", 2), steptest.Predictor(t, "dgx-h100", 1), steptest.Workload(t, "llama-3-8b")
	l := step.Layout{Data: 4, Tensor: 4, Pipeline: 1, Context: 1, Expert: 1, Virtual: 1, MicroBatch: 1, GlobalBatch: 64, Zero: 1,
		Sequence: true, Order: step.DefaultOrder}
	space := search.Space{GlobalBatch: 64, Zero: -1, Narrow: true}
	best, err := search.Run(context.Background(), q, w, space, search.Options{Top: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := Machines{Before: p, After: q}
	other, err := Train(context.Background(), m, w, l, space, search.Options{Top: 1})
	if err != nil || other.Kept != nil || other.Planned.Time != best.Best[0].Time || other.Why != "the layout is for 16 GPUs, not 8" {
		t.Errorf("%+v, %v", other, err)
	}
	m.Part = func(int) (*step.Predictor, error) { return q, nil }
	left, err := Train(context.Background(), m, w, l, space, search.Options{Top: 1})
	if err != nil || left.Planned.Layout.Tensor != 4 || left.Planned.Layout.Data != 2 || left.Planned.Time <= best.Best[0].Time {
		t.Errorf("%+v, %v", left, err)
	}
	m.Free = true
	free, err := Train(context.Background(), m, w, l, space, search.Options{Top: 1})
	if err != nil || free.Kept != nil || free.Planned.Time != best.Best[0].Time || free.Idle != 0 {
		t.Errorf("a free layout on what is left: %+v, %v", free, err)
	}
}

// A layout with fewer replicas keeps the rest; its batch is the nearest that divides.
func TestElastic(t *testing.T) {
	l := step.Layout{Data: 8, Tensor: 8, Pipeline: 4, Context: 1, Virtual: 1, MicroBatch: 1, GlobalBatch: 1024}
	for _, c := range []struct {
		ranks, data, batch int
	}{{256, 8, 1024}, {224, 7, 1022}, {32, 1, 1024}} {
		if got := elastic(l, c.ranks); got.Data != c.data || got.GlobalBatch != c.batch || got.Tensor != 8 {
			t.Errorf("%d GPUs: %+v", c.ranks, got)
		}
	}
	l.Virtual = 2 // micro-batches come in multiples of the stages
	if got := elastic(l, 224); got.GlobalBatch%(7*4) != 0 {
		t.Errorf("batch %d with interleaving", got.GlobalBatch)
	}
}

// What is left of a machine is used as far as it fits: what does not is said, and any other error ends the search for it.
func TestShrinkSaysWhatDoesNotFit(t *testing.T) {
	l := step.Layout{Data: 4, Tensor: 8, Sequence: true, Pipeline: 1, Context: 1, Expert: 32, Virtual: 1, MicroBatch: 1,
		GlobalBatch: 64, Zero: 1,
		Order: step.DefaultOrder}
	w := steptest.Workload(t, "mixtral-8x7b", "transformer.experts=32", "transformer.layers=4")
	left := steptest.Predictor(t, "superpod-h100", 3)
	shrink := func(part func(int) (*step.Predictor, error), w *workload.Workload, l step.Layout) (*Training, error) {
		r := &Training{}
		return r, r.shrink(context.Background(), Machines{After: left, Part: part}, w, l, search.Space{}, search.Options{})
	}
	nodes := func(idle int) (*step.Predictor, error) { return steptest.Predictor(t, "superpod-h100", 3-idle/8), nil }
	_, err := shrink(nodes, w, l)
	if err == nil || !strings.Contains(err.Error(), "ep 32 does not divide tp × cp × dp (24)") {
		t.Errorf("no part fits: %v", err)
	}
	l.Expert = 16
	r, err := shrink(nodes, w, l)
	if err != nil || r.Planned == nil || r.Planned.Layout.Data != 2 || r.Idle != 8 || r.Larger == nil ||
		!strings.Contains(r.Larger.Error(), "ep 16 does not divide tp × cp × dp (24)") {
		t.Errorf("two nodes fit: %+v, %v", r, err)
	}
	broken := errors.New("no such machine")
	if _, err := shrink(func(int) (*step.Predictor, error) { return nil, broken }, w, l); !errors.Is(err, broken) {
		t.Errorf("a machine that does not load: %v", err)
	}
	unknown := *w
	unknown.Precision = "fp3"
	l.Expert = 8
	if _, err := shrink(nodes, &unknown, l); err == nil || strings.Contains(err.Error(), "no replica") {
		t.Errorf("a precision that the GPU has not: %v", err)
	}
	l.Pipeline = 4
	if _, err := shrink(nodes, w, l); err == nil || !strings.Contains(err.Error(), "no replica") {
		t.Errorf("too few GPUs for a replica: %v", err)
	}
}
