package fit

import (
	"maps"
	"math"
	"slices"

	"railyard/model/cost"
)

// Doubts chooses, for each class of media, how many machines the library's own estimate counts for beside a kernel's that
// stands in for a machine's own (cost.Doubt): misses are those of predictions with each of the candidates, row by row alike,
// on machines that their kernels had not seen. The one with the least mean error over machines is taken.
func Doubts(candidates []float64, misses [][]Miss) []cost.Doubt {
	var out []cost.Doubt
	for _, class := range []string{cost.InBox, cost.OverPCIe, cost.Across} {
		best, least := 0.0, math.Inf(1)
		for i, d := range candidates {
			if off := meanOff(misses[i], class); off < least {
				best, least = d, off
			}
		}
		if !math.IsInf(least, 1) {
			out = append(out, cost.Doubt{Across: class, Machines: best})
		}
	}
	return out
}

// meanOff is the mean over machines of how far off kernels are that stand in for others; +Inf where there are none.
func meanOff(misses []Miss, class string) float64 {
	off, rows := map[string]float64{}, map[string]float64{}
	for _, m := range misses {
		if m.Across == class && m.Basis == cost.OtherKernel {
			off[m.System] += math.Abs(m.Off)
			rows[m.System]++
		}
	}
	if len(off) == 0 {
		return math.Inf(1)
	}
	mean := 0.0
	for _, name := range slices.Sorted(maps.Keys(off)) {
		mean += off[name] / rows[name] / float64(len(off))
	}
	return mean
}
