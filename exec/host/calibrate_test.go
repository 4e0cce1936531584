package host

import (
	"context"
	"errors"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

func TestLevels(t *testing.T) {
	for i, dtype := range []collective.DType{collective.Float32, collective.Float64, collective.BFloat16} {
		for k, ranks := range []int{1, 2, 3} {
			if !long.Given() && i != k { // each type and each number once
				continue
			}
			const buffers = 200 * units.KiB
			levels, err := Levels(context.Background(), ranks, Config{DType: dtype}, buffers)
			if err != nil {
				t.Fatal(err)
			}
			from := 2 * units.Bytes(ranks) * smallestBuffer
			for _, l := range levels {
				if l.From != from || from > buffers {
					t.Errorf("%v, %d ranks: a level from %v on, want %v", dtype, ranks, l.From, from)
				}
				if min(l.Alone, l.Input.Copy, l.Input.Combine, l.Fresh.Copy, l.Fresh.Combine) <= 0 {
					t.Errorf("%v, %d ranks, from %v on: %+v", dtype, ranks, l.From, l)
				}
				from *= 2
			}
			if from <= buffers {
				t.Errorf("%v, %d ranks: no level from %v on", dtype, ranks, from)
			}
		}
	}
	levels, err := Levels(context.Background(), 2, Config{InPlace: true}, 4*smallestBuffer)
	if err != nil || len(levels) != 1 || levels[0].From != 8*smallestBuffer || levels[0].Input != levels[0].Fresh {
		t.Errorf("in place: %+v, %v", levels, err)
	}
	measured := cost.Level{From: units.MiB, Alone: 60e9, Input: cost.Pass{Copy: 30e9, Combine: 20e9},
		Fresh: cost.Pass{Copy: 10e9, Combine: 5e9}}
	if got, want := writtenInPlace(measured), (cost.Level{From: 2 * units.MiB, Alone: 20e9, Input: measured.Fresh,
		Fresh: measured.Fresh}); got != want {
		t.Errorf("in place: %+v, want %+v", got, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Levels(ctx, 2, Config{}, units.MiB); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What is fresh has been written by another rank in the iteration before.
func TestBenchPasses(t *testing.T) {
	const ranks, elements = 3, 40
	for _, does := range []pass{{}, {combines: true}, {fresh: true}, {combines: true, fresh: true}} {
		b := newBench(ranks, elements, engineOf(collective.Int32, collective.Sum).(*kernels[int32]))
		for r := range ranks {
			for i := range elements {
				b.in[r][i], b.out[r][i] = int32(1+r), 0
			}
		}
		b.does, b.busy = does, ranks
		stop := b.start(context.Background())
		if _, err := b.iterate(2); err != nil {
			t.Fatal(err)
		}
		stop()
		for r := range ranks {
			next, beyond := int32(1+(r+1)%ranks), int32(1+(r+2)%ranks)
			own := int32(1 + r)
			first, second := beyond, beyond // of the halves of out
			switch {
			case does.combines && does.fresh:
				first, second = own, own+beyond // beyond's first half, which it has combined with nothing
			case does.combines:
				first, second = own+beyond, own+beyond
			case does.fresh:
				first, second = next, next // and in what came back from beyond
			}
			if b.in[r][0] != own || b.out[r][0] != first || b.out[r][elements-1] != second {
				t.Errorf("%+v, rank %d: in %d, out %d and %d, want %d, %d and %d", does, r, b.in[r][0], b.out[r][0], b.out[r][elements-1],
					own, first, second)
			}
		}
	}
}
