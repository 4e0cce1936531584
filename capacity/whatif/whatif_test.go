package whatif

import (
	"testing"

	"railyard/capacity/step"
	_ "railyard/internal/long" // accepts -long
)

// A layout with fewer replicas keeps the rest; its batch is the nearest that divides.
func TestElastic(t *testing.T) {
	l := step.Layout{Data: 8, Tensor: 8, Pipeline: 4, Context: 1, Virtual: 1, MicroBatch: 1, GlobalBatch: 1024}
	for _, c := range []struct {
		ranks, data, batch int
		ok                 bool
	}{{256, 8, 1024, true}, {224, 7, 1022, true}, {32, 1, 1024, true}, {248, 0, 0, false}, {16, 0, 0, false}} {
		got, ok := elastic(l, c.ranks)
		if ok != c.ok || ok && (got.Data != c.data || got.GlobalBatch != c.batch || got.Tensor != 8) {
			t.Errorf("%d GPUs: %+v, %v", c.ranks, got, ok)
		}
	}
	l.Virtual = 2 // micro-batches come in multiples of the stages
	if got, _ := elastic(l, 224); got.GlobalBatch%(7*4) != 0 {
		t.Errorf("batch %d with interleaving", got.GlobalBatch)
	}
}
