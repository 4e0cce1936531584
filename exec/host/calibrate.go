package host

import (
	"context"
	"slices"
	"time"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// Buffers that levels are measured with: a rank's input and output have at least
// smallestBuffer each, all together at most largestBuffers, which few caches hold.
const (
	smallestBuffer = 8 * units.KiB
	largestBuffers = 512 * units.MiB
)

// Levels measures what ranks reach that copy and combine one another's memory in a type
// and operation, with buffers of up to so many bytes together.
func Levels(ctx context.Context, ranks int, cfg Config, buffers units.Bytes) ([]cost.Level, error) {
	var sizes []units.Bytes
	least := 2 * units.Bytes(ranks) * smallestBuffer
	for from := least; from <= max(least, min(buffers, largestBuffers)); from *= 2 {
		sizes = append(sizes, from)
	}
	all, err := engineOf(cfg.DType, cfg.Op).passes(ctx, ranks, cfg.DType.Size(), sizes)
	if err != nil {
		return nil, err
	}
	out := make([]cost.Level, len(all))
	for i, s := range all {
		if out[i] = s.level(ranks); cfg.InPlace {
			out[i] = writtenInPlace(out[i])
		}
	}
	return out, nil
}

// writtenInPlace is a level where inputs are written as outputs are, and both are the same memory,
// which a schedule counts twice.
func writtenInPlace(l cost.Level) cost.Level {
	return cost.Level{From: 2 * l.From, Alone: units.Rate(float64(l.Alone) * float64(l.Fresh.Copy) / float64(l.Input.Copy)),
		Input: l.Fresh, Fresh: l.Fresh}
}

// passes are timed with buffers of these sizes, of all ranks together, with elements of so many bytes.
func (k *kernels[T]) passes(ctx context.Context, ranks, size int, buffers []units.Bytes) (all []*samples, err error) {
	for _, from := range buffers {
		all = append(all, &samples{from: from})
	}
	for range rounds {
		for _, s := range all {
			b := newBench(ranks, int(s.from)/(2*ranks*size), k) // its buffers lie as those of a run of that size would
			if err := b.measure(ctx, s); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// bench is ranks that take data out of one another's memory.
type bench[T element] struct {
	team
	k       *kernels[T]
	in, out [][]T // by rank
	does    pass
	busy    int // ranks that work, the others look on
}

// pass is what a rank does with a buffer.
type pass struct{ combines, fresh bool }

func newBench[T element](ranks, elements int, k *kernels[T]) *bench[T] {
	b := &bench[T]{k: k}
	b.init(ranks)
	b.work = b.once
	for rank := range ranks {
		m := memory[T]{rank: rank}
		b.in, b.out = append(b.in, m.take(int64(elements))), append(b.out, m.take(int64(elements)))
	}
	one := k.from(1)
	for r := range ranks {
		for i := range elements {
			b.in[r][i], b.out[r][i] = one, one
		}
	}
	return b
}

// once is a pass of a rank over another one's data, in turn every other's. What is fresh
// has been written in the iteration before: all of a buffer, or the half that is combined with inputs.
func (b *bench[T]) once(rank int, i int64) bool {
	if rank >= b.busy {
		return true
	}
	peer := rank
	if others := int64(len(b.in) - 1); others > 0 {
		peer = (rank + 1 + int(i%others)) % len(b.in)
	}
	in, out, from := b.in[rank], b.out[rank], b.in[peer]
	switch half := len(in) / 2; {
	case b.does.combines && b.does.fresh:
		now, before := int(i%2)*half, int(1-i%2)*half
		b.k.combine(out[now:now+half], in[now:now+half], b.out[peer][before:before+half])
	case b.does.combines:
		b.k.combine(out, in, from)
	case b.does.fresh && i%2 == 1:
		move(in, b.out[peer])
	default:
		move(out, from)
	}
	return true
}

// passes are all that is measured; the last one takes half of a buffer.
var passes = []struct {
	does  pass
	alone bool
}{aloneCopy: {alone: true}, inputCopy: {}, inputCombine: {does: pass{combines: true}}, freshCopy: {does: pass{fresh: true}},
	freshCombine: {does: pass{combines: true, fresh: true}}}

const (
	aloneCopy = iota
	inputCopy
	inputCombine
	freshCopy
	freshCombine
)

// samples are times of passes with buffers of from bytes together, by round.
type samples struct {
	from  units.Bytes
	times [5][]units.Time
}

// measure adds a time of each pass.
func (b *bench[T]) measure(ctx context.Context, s *samples) error {
	stop := b.start(ctx)
	defer stop()
	for i, m := range passes {
		busy := len(b.in)
		if m.alone {
			busy = 1
		}
		took, err := b.time(m.does, busy)
		if err != nil {
			return err
		}
		s.times[i] = append(s.times[i], took)
	}
	return nil
}

// level is what the middle rounds say: others that use the machine for a moment disturb one.
func (s *samples) level(ranks int) cost.Level {
	rate := func(i int) units.Rate {
		slices.Sort(s.times[i])
		return s.rate(i, rounds/2, ranks)
	}
	return cost.Level{From: s.from, Alone: rate(aloneCopy), Input: cost.Pass{Copy: rate(inputCopy), Combine: rate(inputCombine)},
		Fresh: cost.Pass{Copy: rate(freshCopy), Combine: rate(freshCombine)}}
}

// rate is what a rank reached of so many in a pass of a round.
func (s *samples) rate(i, round, ranks int) units.Rate {
	bytes := s.from / units.Bytes(2*ranks)
	if i == freshCombine {
		bytes /= 2
	}
	return max(1, bytes.Per(s.times[i][round]))
}

// time is what a pass takes beyond the start and the end of an iteration.
func (b *bench[T]) time(does pass, busy int) (units.Time, error) {
	idle, err := b.median(does, 0)
	if err != nil {
		return 0, err
	}
	took, err := b.median(does, busy)
	return units.Time(max(took-idle, 1).Nanoseconds()) * units.Nanosecond, err
}

// Passes are repeated for so long, but neither more seldom nor more often, in rounds that
// lie apart.
const (
	rounds                = 3
	passesFor             = time.Millisecond
	fewPasses, manyPasses = 3, 100
	firstPasses           = 2 // bring the buffers into the caches
)

func (b *bench[T]) median(does pass, busy int) (time.Duration, error) {
	b.does, b.busy = does, busy
	times, err := b.iterate(firstPasses)
	if err != nil {
		return 0, err
	}
	n := int(passesFor / max(times[len(times)-1], 1))
	if times, err = b.iterate(min(max(n, fewPasses), manyPasses)); err != nil {
		return 0, err
	}
	return measurement.Summarise(times).Median, nil
}
