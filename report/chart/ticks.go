package chart

import (
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
