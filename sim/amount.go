package sim

import (
	"math"
	"math/bits"
)

// Rates are shared out in whole numbers, so that the result depends neither on the order
// of summation nor on how many equal transfers stand behind one (see fold.go): a rate in
// 1/1024 byte/s, a weight in 2^−36, and their product, what a transfer takes of a
// resource, in 128 bits.

const (
	rateScale   = 1 << 10
	weightScale = 1 << 36
	workScale   = rateScale * 1e12 // of a byte, in rates × picoseconds
)

// unlimited is the rate of a transfer that has no limit of its own.
const unlimited int64 = math.MaxInt64

// fixedRate rounds bytes/s down.
func fixedRate(bytesPerSecond float64) int64 {
	if r := bytesPerSecond * rateScale; r < float64(unlimited) {
		return int64(r)
	}
	return unlimited
}

// fixedWeight is the load of n transfers that each take weight.
func fixedWeight(weight float64, n int32) uint64 {
	return uint64(math.Round(weight*weightScale)) * uint64(n)
}

// amount is rate × weight, or rate × time: what has been moved.
type amount struct{ hi, lo uint64 }

func product(rate int64, weight uint64) amount {
	hi, lo := bits.Mul64(uint64(rate), weight)
	return amount{hi, lo}
}

// less is a−b, modulo 2^128.
func (a amount) less(b amount) amount {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return amount{hi, lo}
}

// more is a+b.
func (a amount) more(b amount) amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return amount{hi, lo}
}

// below reports whether a < b.
func (a amount) below(b amount) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// negative reports whether more was taken than there was.
func (a amount) negative() bool { return a.hi>>63 != 0 }

// above is a−b, or nothing where b is larger.
func (a amount) above(b amount) amount {
	if a.below(b) {
		return amount{}
	}
	return a.less(b)
}

// over is the rate at which weight uses up a, rounded down.
func (a amount) over(weight uint64) int64 {
	if a.hi >= weight {
		return unlimited
	}
	q, _ := bits.Div64(a.hi, a.lo, weight)
	return int64(min(q, uint64(unlimited)))
}
