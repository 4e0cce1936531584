package pack

import (
	"math"
	"math/big"

	"railyard/model/units"
)

// sum is a load: an exact fraction that grows.
type sum struct {
	num, den int64
	big      *big.Rat // once 64 bits do not suffice
}

func (s *sum) add(num, den int64) {
	if s.big == nil {
		if s.den == 0 {
			s.den = 1
		}
		if s.den == den && s.num < math.MaxInt64-num {
			s.num += num
			return
		}
		g := units.GCD(s.den, den)
		const most = math.MaxInt64 / 4
		a, b, d := mulMin(s.num, den/g, most), mulMin(num, s.den/g, most), mulMin(s.den/g, den, most)
		if a < most && b < most && d < most {
			f := fraction(a+b, d)
			s.num, s.den = f.Num, f.Den
			return
		}
		s.big = big.NewRat(s.num, s.den)
	}
	s.big.Add(s.big, big.NewRat(num, den))
}

func (s *sum) zero() bool { return s.big == nil && s.num == 0 }

func (s *sum) rat() *big.Rat {
	switch {
	case s.big != nil:
		return s.big
	case s.den == 0:
		return new(big.Rat)
	}
	return big.NewRat(s.num, s.den)
}

// toFraction rounds down where 64 bits do not suffice.
func toFraction(x *big.Rat) Fraction {
	if x.Num().IsInt64() && x.Denom().IsInt64() {
		return Fraction{x.Num().Int64(), x.Denom().Int64()}
	}
	den := int64(1 << 20)
	y := new(big.Int).Mul(x.Num(), big.NewInt(den))
	y.Quo(y, x.Denom())
	return fraction(y.Int64(), den)
}
