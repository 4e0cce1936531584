package host

import (
	"context"
	"math"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
)

// element is a type that memory holds; float16 and bfloat16 are stored as uint16.
type element interface {
	float32 | float64 | int32 | int64 | uint16
}

// kernels are a type's operations on equally long slices.
type kernels[T element] struct {
	// combine is dst = a ⊕ b.
	combine func(dst, a, b []T)
	// gather is dst = ⊕ srcs in order, rounded once.
	gather func(dst []T, srcs [][]T)
	// divide is dst = dst / n, for averages.
	divide func(dst []T, n int)
	// from and to convert a number; from rounds.
	from func(float64) T
	to   func(T) float64
	nan  T       // poison; for integers an improbable number
	unit float64 // unit roundoff; 0 for integers
}

type number interface {
	float32 | float64 | int32 | int64
}

// native makes the kernels of a type that the machine computes with.
func native[T number](op collective.ReduceOp, nan T, unit float64) *kernels[T] {
	k := &kernels[T]{nan: nan, unit: unit,
		from:    func(v float64) T { return T(v) },
		to:      func(v T) float64 { return float64(v) },
		combine: pairwise[T](op),
		divide: func(dst []T, n int) {
			for i := range dst {
				dst[i] /= T(n)
			}
		}}
	k.gather = func(dst []T, srcs [][]T) { gatherBlocks(dst, srcs, k.combine) }
	return k
}

// gatherBlocks combines more than two sources block by block in a buffer of its own, since
// dst may be one of them; the last source goes straight into dst, which then has been read.
func gatherBlocks[T number](dst []T, srcs [][]T, combine func(dst, a, b []T)) {
	switch len(srcs) {
	case 1:
		copy(dst, srcs[0])
		return
	case 2:
		combine(dst, srcs[0], srcs[1])
		return
	}
	var buf [512]T
	last := len(srcs) - 1
	for from := 0; from < len(dst); from += len(buf) {
		to := min(from+len(buf), len(dst))
		acc := srcs[0][from:to]
		for _, s := range srcs[1:last] {
			combine(buf[:to-from], acc, s[from:to])
			acc = buf[:to-from]
		}
		combine(dst[from:to], acc, srcs[last][from:to])
	}
}

// pairwise is the loop for an operation, written out so that the compiler sees it.
func pairwise[T number](op collective.ReduceOp) func(dst, a, b []T) {
	if op == collective.Sum || op == collective.Avg {
		return func(dst, a, b []T) {
			a, b = a[:len(dst)], b[:len(dst)]
			for i := range dst {
				dst[i] = a[i] + b[i]
			}
		}
	}
	pair := operation[T](op)
	return func(dst, a, b []T) {
		for i := range dst {
			dst[i] = pair(a[i], b[i])
		}
	}
}

func operation[T number](op collective.ReduceOp) func(a, b T) T {
	switch op {
	case collective.Prod:
		return func(a, b T) T { return a * b }
	case collective.Min:
		return func(a, b T) T { return min(a, b) }
	case collective.Max:
		return func(a, b T) T { return max(a, b) }
	}
	return func(a, b T) T { return a + b }
}

// narrow makes the kernels of a 16-bit type that is combined in float32.
func narrow(op collective.ReduceOp, load func(uint16) float32, store func(float32) uint16, unit float64) *kernels[uint16] {
	pair := operation[float32](op)
	return &kernels[uint16]{nan: 0x7fff, unit: unit,
		from: func(v float64) uint16 { return store(float32(v)) },
		to:   func(v uint16) float64 { return float64(load(v)) },
		combine: func(dst, a, b []uint16) {
			for i := range dst {
				dst[i] = store(pair(load(a[i]), load(b[i])))
			}
		},
		gather: func(dst []uint16, srcs [][]uint16) {
			for i := range dst {
				acc := load(srcs[0][i])
				for _, s := range srcs[1:] {
					acc = pair(acc, load(s[i]))
				}
				dst[i] = store(acc)
			}
		},
		divide: func(dst []uint16, n int) {
			for i := range dst {
				dst[i] = store(load(dst[i]) / float32(n))
			}
		}}
}

// engine runs schedules and measures memory with elements of a type.
type engine interface {
	execute(ctx context.Context, s *schedule.Schedule, cfg Config) (*Result, error)
	passes(ctx context.Context, ranks, size int, buffers []units.Bytes) ([]*samples, error)
}

// engineOf is that of a type that Supports accepts.
func engineOf(t collective.DType, op collective.ReduceOp) engine {
	switch t {
	case collective.Float64:
		return native(op, math.NaN(), 0x1p-53)
	case collective.Int32:
		return native[int32](op, math.MinInt32+12345, 0)
	case collective.Int64:
		return native[int64](op, math.MinInt64+12345, 0)
	case collective.Float16:
		return narrow(op, halfToFloat, floatToHalf, 0x1p-11)
	case collective.BFloat16:
		return narrow(op, bfloatToFloat, floatToBfloat, 0x1p-8)
	}
	return native(op, float32(math.NaN()), 0x1p-24)
}

// move copies in pieces: what the runtime copies in one piece of 1 MiB or more goes past
// the caches, where the next reader would have found it.
func move[T element](dst, src []T) {
	const piece = 32 << 10
	for len(src) > piece {
		copy(dst, src[:piece])
		dst, src = dst[piece:], src[piece:]
	}
	copy(dst, src)
}
