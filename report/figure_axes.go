package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// sizeLabel prints a power of two as nccl-tests' flags do: 1K, 64M, 4G.
func sizeLabel(exponent int) string {
	return strconv.Itoa(1<<(exponent%10)) + []string{"", "K", "M", "G", "T", "P"}[exponent/10]
}

// sizeTicks marks every power of two and labels as many as there is room for.
type sizeTicks struct{}

// Ticks implements plot.Ticker.
func (sizeTicks) Ticks(lo, hi float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	step := 1
	for (last-first)/step > 12 {
		step *= 2
	}
	var ticks []plot.Tick
	for e := max(first, 0); e <= min(last, 59); e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if e%step == 0 {
			t.Label = sizeLabel(e)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// decadeTicks marks 1 to 9 of every decade; it labels 1, 2 and 5 where the axis is
// short, else the decades.
type decadeTicks struct{}

// Ticks implements plot.Ticker.
func (decadeTicks) Ticks(lo, hi float64) []plot.Tick {
	few := hi/lo < 200
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * math.Pow10(e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				t.Label = strconv.FormatFloat(v, 'f', -1, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// span is the range of values.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.lo, s.hi = min(s.lo, v), max(s.hi, v) }
