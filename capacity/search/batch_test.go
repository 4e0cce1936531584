package search_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/capacity/search"
	"railyard/capacity/steptest"
)

// TestGlobalBatchFollowsTheGPUs: any number of GPUs, however odd, has layouts. The batch is the workload's wherever a layout in powers of
// two has it, else near it, and that is said; one that was asked for stays. All layouts have the same.
func TestGlobalBatchFollowsTheGPUs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 13))
	changed := 0
	for range 60 {
		w := steptest.Workload(t, []string{"llama-3-8b", "resnet-50"}[r.IntN(2)])
		ranks := 1 + r.IntN(64)
		if r.IntN(2) > 0 {
			ranks *= 8
		}
		own := search.Space{Zero: -1, Narrow: true, GlobalBatch: w.GlobalBatch}
		free, wide := own, own
		free.GlobalBatch, wide.GlobalBatch, wide.Narrow = 0, 0, false
		asked, found, all := own.Layouts(w, ranks), free.Layouts(w, ranks), wide.Layouts(w, ranks)
		if len(found) == 0 || len(all) < len(found) || all[0].GlobalBatch != found[0].GlobalBatch {
			t.Fatalf("%s on %d GPUs: %d layouts in powers of two, %d in all", w.Name, ranks, len(found), len(all))
		}
		batch, notes := found[0].GlobalBatch, free.Changed(w, &found[0])
		switch {
		case len(asked) > 0 && (len(found) != len(asked) || batch != w.GlobalBatch || notes != nil):
			t.Errorf("%s on %d GPUs: %d layouts with a batch of %d, %v; asked for it, %d", w.Name, ranks, len(found), batch, notes, len(asked))
		case len(asked) == 0:
			changed++
			if off := math.Abs(float64(batch)/float64(w.GlobalBatch) - 1); off > 1./32 && off > float64(ranks)/float64(2*w.GlobalBatch) ||
				len(notes) != 1 || !strings.Contains(notes[0], "instead of") || found[0].MicroBatch > 1 {
				t.Errorf("%s on %d GPUs: batch %d, %v", w.Name, ranks, batch, notes)
			}
			if micro := found[len(found)-1].MicroBatch; 32*ranks <= w.GlobalBatch && micro == 1 {
				t.Errorf("%s on %d GPUs: batch %d has micro-batches of one only", w.Name, ranks, batch)
			}
		}
	}
	if changed < 20 {
		t.Errorf("the batch of %d machines is another", changed)
	}
}
