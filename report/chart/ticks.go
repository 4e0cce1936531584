package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// plainTicks are the default ones with labels as people write them: 2500, not 2500.00.
type plainTicks struct{}

// Ticks implements plot.Ticker.
func (plainTicks) Ticks(lo, hi float64) []plot.Tick {
	out := plot.DefaultTicks{}.Ticks(lo, hi)
	for i, t := range out {
		if strings.Contains(t.Label, ".") && !strings.Contains(t.Label, "e") {
			out[i].Label = strings.TrimRight(strings.TrimRight(t.Label, "0"), ".")
		}
	}
	return out
}

// sizeTicks marks every power of two and labels as many as there is room for, as nccl-tests' flags do: 1K, 64M, 4G.
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
			t.Label = strconv.Itoa(1<<(e%10)) + []string{"", "K", "M", "G", "T", "P"}[e/10]
		}
		ticks = append(ticks, t)
	}
	return ticks
}
