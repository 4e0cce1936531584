package pack

import (
	"math/bits"

	"railyard/model/units"
)

// Fraction is an exact number, in lowest terms; Den > 0.
type Fraction struct{ Num, Den int64 }

func fraction(num, den int64) Fraction {
	g := max(units.GCD(num, den), 1)
	return Fraction{num / g, den / g}
}

// Float is the nearest floating-point number.
func (f Fraction) Float() float64 { return float64(f.Num) / float64(f.Den) }

// Cmp compares two fractions that are not negative.
func (f Fraction) Cmp(o Fraction) int {
	h1, l1 := bits.Mul64(uint64(f.Num), uint64(o.Den))
	h2, l2 := bits.Mul64(uint64(o.Num), uint64(f.Den))
	switch {
	case h1 < h2 || h1 == h2 && l1 < l2:
		return -1
	case h1 == h2 && l1 == l2:
		return 0
	}
	return 1
}

// mulMin is min(a·b, limit) for what is not negative.
func mulMin(a, b, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > uint64(limit) {
		return limit
	}
	return int64(lo)
}
