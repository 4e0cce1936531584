package units

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Counted is a number of things in words: 1 node, 2 nodes, 0 switches.
func Counted[T ~int | ~int64](n T, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// unit is a suffix with its exact size in normal units.
type unit struct {
	suffix string
	scale  int64
}

var byteUnits = []unit{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1}, {"", 1},
}

var rateUnits = []unit{
	{"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1},
	{"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8},
}

var timeUnits = []unit{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"µs", 1e6}, {"ms", 1e9}, {"s", 1e12}}

// ParseBytes reads a size. K, M and G are binary and case-insensitive, as in
// nccl-tests; KiB, MiB and GiB say so. Decimal MB is refused, since nccl-tests would
// read it as MiB. A size is a whole number of bytes.
func ParseBytes(text string) (Bytes, error) {
	s := strings.TrimSpace(text)
	if upper := strings.ToUpper(s); len(s) >= 2 && strings.HasSuffix(upper, "B") && !strings.HasSuffix(upper, "IB") {
		if c := upper[len(upper)-2]; c == 'K' || c == 'M' || c == 'G' || c == 'T' {
			return 0, fmt.Errorf("%q is ambiguous: write %s (binary, as nccl-tests) or the number of bytes", text, s[:len(s)-1])
		}
	}
	v, err := parse(s, byteUnits, true)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size: %v; write e.g. 1024, 1K, 64M or 4G", text, err)
	}
	return Bytes(v), nil
}

// ParseRate reads a rate per direction, such as 25GB/s or 400Gb/s (both decimal).
func ParseRate(text string) (Rate, error) {
	v, err := parse(strings.TrimSpace(text), rateUnits, false)
	if err != nil {
		return 0, fmt.Errorf("%q is not a rate: %v; write e.g. 25GB/s or 400Gb/s", text, err)
	}
	return Rate(v), nil
}

// ParseTime reads a duration, such as 350ns or 1.24us.
func ParseTime(text string) (Time, error) {
	v, err := parse(strings.TrimSpace(text), timeUnits, false)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: %v; write e.g. 350ns or 1.2us", text, err)
	}
	return Time(v), nil
}

// parse reads number and unit exactly and rounds up to a whole normal unit.
func parse(s string, table []unit, foldCase bool) (int64, error) {
	digits := strings.TrimRight(s, "KMGTBIkmgtbiµunps/")
	suffix := strings.TrimSpace(s[len(digits):])
	digits = strings.TrimSpace(digits)
	if digits == "" {
		return 0, fmt.Errorf("there is no number")
	}
	if len(digits) > 40 || strings.ContainsAny(digits, "_xXpPinfNa/") {
		return 0, fmt.Errorf("%q is not a decimal number", digits)
	}
	// A float first: it bounds the exponent, so that the exact value stays small.
	if f, err := strconv.ParseFloat(digits, 64); err != nil || math.Abs(f) > 1e19 {
		return 0, fmt.Errorf("%q is not a number in range", digits)
	} else if f != 0 && math.Abs(f) < 1e-30 {
		return 0, fmt.Errorf("%q is too small", digits)
	}
	v, ok := new(big.Rat).SetString(digits)
	if !ok {
		return 0, fmt.Errorf("%q is not a decimal number", digits)
	}
	for _, u := range table {
		if suffix == u.suffix || foldCase && strings.EqualFold(suffix, u.suffix) {
			v.Mul(v, new(big.Rat).SetInt64(u.scale))
			return roundUp(v)
		}
	}
	return 0, fmt.Errorf("unknown unit %q", suffix)
}

func roundUp(v *big.Rat) (int64, error) {
	q, m := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		return 0, fmt.Errorf("out of range")
	}
	return q.Int64(), nil
}

// String prints the size with the largest binary suffix that divides it.
func (b Bytes) String() string {
	switch {
	case b != 0 && b%GiB == 0:
		return fmt.Sprintf("%dGiB", b/GiB)
	case b != 0 && b%MiB == 0:
		return fmt.Sprintf("%dMiB", b/MiB)
	case b != 0 && b%KiB == 0:
		return fmt.Sprintf("%dKiB", b/KiB)
	}
	return fmt.Sprintf("%dB", int64(b))
}

// String prints the rate in decimal units, exactly enough for four digits.
func (r Rate) String() string {
	switch {
	case r >= 1e9:
		return short(float64(r)/1e9) + "GB/s"
	case r >= 1e6:
		return short(float64(r)/1e6) + "MB/s"
	}
	return fmt.Sprintf("%dB/s", int64(r))
}

// String prints the duration in the unit that leaves one to three digits before the point.
func (t Time) String() string {
	a := t
	if a < 0 {
		a = -a
	}
	switch {
	case a >= Second:
		return short(float64(t)/1e12) + "s"
	case a >= Millisecond:
		return short(float64(t)/1e9) + "ms"
	case a >= Microsecond:
		return short(float64(t)/1e6) + "us"
	case a >= Nanosecond:
		return short(float64(t)/1e3) + "ns"
	}
	return fmt.Sprintf("%dps", int64(t))
}

// short prints four significant digits without trailing zeros.
func short(v float64) string {
	return strconv.FormatFloat(roundSignificant(v, 4), 'f', -1, 64)
}

func roundSignificant(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return r
}

// Ranges writes ascending numbers briefly: 3,8-15.
func Ranges(list []int, separator string) string {
	var out []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		out, i = append(out, part), j+1
	}
	return strings.Join(out, separator)
}

// ParseRanges reads what Ranges has written with commas: at most limit numbers, all of them below it.
func ParseRanges(text string, limit int) (out []int, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, several := strings.Cut(part, "-")
		if !several {
			hi = lo
		}
		first, err1 := strconv.Atoi(lo)
		last, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || first < 0 || first > last || last >= limit || len(out)+last-first >= limit {
			return nil, fmt.Errorf("%q is no list of numbers below %d such as 0-7,12", text, limit)
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}
