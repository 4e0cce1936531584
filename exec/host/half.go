package host

import "math"

// float16 to and from float32, IEEE 754 binary16, round to nearest even.

func halfToFloat(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp, frac := uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch {
	case exp == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	v := float32(frac) / (1 << 24) // subnormal or zero: exact
	return math.Float32frombits(math.Float32bits(v) | sign)
}

func floatToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 // NaN
	case abs >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case abs >= 0x38800000: // normal
		abs += 0xfff + abs>>13&1 // round to nearest even at bit 13
		return sign | uint16(abs>>13-112<<10)
	}
	// Subnormal: adding 2⁻¹·ulp-scaled 0.5 lets the float unit round to 2⁻²⁴.
	v := math.Float32frombits(abs) + 0.5
	return sign | uint16(math.Float32bits(v)-0x3f000000)
}

// bfloat16 is the upper half of a float32.

func bfloatToFloat(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

func floatToBfloat(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40 // NaN stays NaN
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
