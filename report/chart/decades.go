package chart

import (
	"math"

	"gonum.org/v1/plot"
)

// Decades marks 1 to 9 of every decade of a logarithmic axis and labels the decades; 2 and
// 5 too where there are few.
type Decades struct {
	Label func(float64) string
}

// Ticks implements plot.Ticker.
func (d Decades) Ticks(lo, hi float64) []plot.Tick {
	few := hi/lo < 200
	var out []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * math.Pow10(e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				t.Label = d.Label(v)
			}
			out = append(out, t)
		}
	}
	return out
}
