package host

import (
	"math"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// data fills the inputs of one epoch and checks its outputs. Crafted data are small
// integers whose partial results are exact in every type, so outputs must match bit by
// bit; random data must match a float64 reference within the rounding bound.
type data[T element] struct {
	r      *runner[T]
	epoch  int
	random bool
}

// value is what rank holds at a position of the logical buffer.
func (d data[T]) value(rank int, pos int64) float64 {
	h := mix(uint64(d.r.cfg.Seed)<<32 ^ uint64(d.epoch)<<56 ^ uint64(rank)<<40 ^ uint64(pos))
	if d.random && d.r.k.unit > 0 {
		return d.r.k.to(d.r.k.from(float64(int64(h>>11))/(1<<52) - 1))
	}
	switch {
	case !d.r.s.Spec.Kind.Reduces():
		return float64(h % 251)
	case d.r.cfg.Op == collective.Prod:
		if rank < 3 {
			return float64(1 + h%2)
		}
		return float64(int64(h%2)*2 - 1)
	case d.r.cfg.Op == collective.Min || d.r.cfg.Op == collective.Max:
		return float64(int64(h%201) - 100)
	}
	return float64(int64(h%5) - 2) // |sums| stay below 256 for up to 127 ranks
}

// mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fill poisons all memory and writes the inputs.
func (d data[T]) fill() {
	for _, k := range d.r.ranks {
		rank := int(k.id)
		for _, w := range d.r.mem[rank].whole {
			for i := range w {
				w[i] = d.r.k.nan
			}
		}
		in := d.r.mem[rank].bufs[schedule.Input]
		d.blocks(rank, schedule.Input, func(block int, off, n int64) {
			for i := range n {
				in[off+i] = d.r.k.from(d.value(rank, position(block, i)))
			}
		})
	}
}

// blocks visits the blocks that a rank's buffer holds.
func (d data[T]) blocks(rank int, b schedule.Buffer, visit func(block int, off, n int64)) {
	spec := d.r.s.Spec
	for block := range spec.Blocks() {
		if b == schedule.Input && spec.Holds(rank, block) || b == schedule.Output && spec.Wants(rank, block) {
			off, n := d.r.layout.Block(rank, b, block)
			visit(block, off, n)
		}
	}
}

// position names element i of an input block.
func position(block int, i int64) int64 { return int64(block)<<32 ^ i }

// wrong counts output elements that differ and guard elements that were touched.
func (d data[T]) wrong() (n int64) {
	spec := d.r.s.Spec
	if spec.Kind == collective.Barrier {
		return 0
	}
	for _, k := range d.r.ranks {
		rank := int(k.id)
		out := d.r.mem[rank].bufs[schedule.Output]
		d.blocks(rank, schedule.Output, func(block int, off, count int64) {
			for i := range count {
				if !d.right(out[off+i], rank, block, i) {
					n++
				}
			}
		})
		for _, w := range d.r.mem[rank].whole {
			for i := range guard {
				if !same(w[i], d.r.k.nan) || !same(w[len(w)-1-i], d.r.k.nan) {
					n++
				}
			}
		}
	}
	return n
}

// same compares bits as far as comparison can: NaN equals NaN.
func same[T element](a, b T) bool { return a == b || a != a && b != b }

func (d data[T]) right(got T, rank, block int, i int64) bool {
	spec := d.r.s.Spec
	if !spec.Kind.Reduces() {
		srcRank, srcBlock := spec.Origin(rank, block)
		return same(got, d.r.k.from(d.value(srcRank, position(srcBlock, i))))
	}
	want, sumAbs := d.reference(block, i)
	if !d.random || d.r.k.unit == 0 {
		return same(got, d.rounded(want))
	}
	n := float64(spec.Ranks)
	bound := (n-1)*d.r.k.unit*sumAbs + 2*d.r.k.unit*math.Abs(want) + 1e-7
	if d.r.cfg.Op == collective.Avg {
		want, bound = want/n, bound/n
	}
	return math.Abs(d.r.k.to(got)-want) <= bound*(1+1e-6)
}

// rounded is an exact result in the type; an average divides as the kernels do.
func (d data[T]) rounded(want float64) T {
	v := []T{d.r.k.from(want)}
	if d.r.cfg.Op == collective.Avg {
		d.r.k.divide(v, d.r.s.Spec.Ranks)
	}
	return v[0]
}

// reference combines all ranks' values in float64.
func (d data[T]) reference(block int, i int64) (result, sumAbs float64) {
	for rank := range d.r.s.Spec.Ranks {
		v := d.value(rank, position(block, i))
		sumAbs += math.Abs(v)
		switch {
		case rank == 0:
			result = v
		case d.r.cfg.Op == collective.Prod:
			result *= v
		case d.r.cfg.Op == collective.Min:
			result = min(result, v)
		case d.r.cfg.Op == collective.Max:
			result = max(result, v)
		default:
			result += v
		}
	}
	return result, sumAbs
}
