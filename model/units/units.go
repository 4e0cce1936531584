// Package units holds the three quantities railyard computes with, each as an
// integer in one normal unit: Bytes in bytes, Rate in bytes per second and Time
// in picoseconds. Text is parsed into them once, at the edge.
//
// One rounding rule: a duration is rounded up to the next picosecond, so that no
// prediction is ever faster than the physical bound it came from.
package units

import (
	"math"
	"math/bits"
)

// Bytes is a number of bytes.
type Bytes int64

// Rate is a number of bytes per second, in one direction.
type Rate int64

// Time is a duration or a moment in picoseconds.
type Time int64

// Binary sizes, as nccl-tests means K, M and G.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// Decimal rates, as every vendor means them.
const (
	MBps Rate = 1e6
	GBps Rate = 1e9
)

// Durations.
const (
	Picosecond  Time = 1
	Nanosecond  Time = 1e3
	Microsecond Time = 1e6
	Millisecond Time = 1e9
	Second      Time = 1e12
)

// MaxTime is the longest duration that can be expressed (106 days).
const MaxTime Time = math.MaxInt64

// Over is the time that b bytes take at rate r, rounded up to a picosecond.
// It saturates at MaxTime. A rate that is not positive is a programmer's mistake
// and panics: topologies and profiles are validated when they are read.
func (b Bytes) Over(r Rate) Time {
	if r <= 0 {
		panic("units: rate must be positive")
	}
	if b <= 0 {
		return 0
	}
	return Time(MulDivUp(int64(b), int64(Second), int64(r)))
}

// Per is the rate of b bytes in time t, rounded down to a byte per second;
// 0 where t is 0 (an instant transfer has no rate).
func (b Bytes) Per(t Time) Rate {
	if t <= 0 || b <= 0 {
		return 0
	}
	return Rate(MulDiv(int64(b), int64(Second), int64(t)))
}

// MulDiv is ⌊a·b/c⌋ of numbers that are not negative, without overflow in between; it saturates at the largest number.
func MulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return quotient(hi, lo, uint64(c))
}

// MulDivUp is the same rounded up.
func MulDivUp(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c)-1, 0)
	return quotient(hi+carry, lo, uint64(c))
}

func quotient(hi, lo, by uint64) int64 {
	if hi >= by {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, by)
	return int64(min(q, math.MaxInt64))
}

// GBps is the rate in 1e9 bytes per second.
func (r Rate) GBps() float64 { return float64(r) / 1e9 }

// Microseconds is the time in microseconds.
func (t Time) Microseconds() float64 { return float64(t) / 1e6 }

// Seconds is the time in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e12 }

// FromMicroseconds converts, rounding up to a picosecond.
func FromMicroseconds(us float64) Time { return Time(math.Ceil(us * 1e6)) }
