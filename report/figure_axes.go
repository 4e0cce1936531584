package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"railyard/report/chart"
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

// decades labels decimal numbers in full.
var decades = chart.Decades{Label: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }}

// span is the range of values.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.lo, s.hi = min(s.lo, v), max(s.hi, v) }
