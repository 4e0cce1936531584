package fit

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"railyard/model/cost"
)

// Doubts chooses, for each class of media, how many machines the library's own estimate counts for beside a kernel's that
// stands in for a machine's own (cost.Doubt): misses are those of predictions with each of the candidates, the least first,
// row by row alike, on machines that their kernels had not seen. Of those whose mean error over machines is no more than
// a standard error above the least, the one that trusts strange kernels least is taken (Breiman, Friedman, Olshen, Stone 1984).
func Doubts(candidates []float64, misses [][]Miss) []cost.Doubt {
	var out []cost.Doubt
	for _, class := range []string{cost.InBox, cost.OverPCIe, cost.Across} {
		off := make([][]float64, len(candidates))
		best := 0
		for i := range candidates {
			if off[i] = meansOff(misses[i], class); len(off[i]) > 0 && stat.Mean(off[i], nil) < stat.Mean(off[best], nil) {
				best = i
			}
		}
		for i := len(candidates) - 1; i >= best && len(off[best]) > 0; i-- {
			floats.Sub(off[i], off[best])
			if mean, deviation := stat.MeanStdDev(off[i], nil); i == best || mean <= stat.StdErr(deviation, float64(len(off[i]))) {
				out = append(out, cost.Doubt{Across: class, Machines: candidates[i]})
				break
			}
		}
	}
	return out
}

// meansOff are the means of how far off kernels are that stand in for others, of each machine, in the order of their names.
func meansOff(misses []Miss, class string) (means []float64) {
	off := map[string][]float64{}
	for _, m := range misses {
		if m.Across == class && m.Basis == cost.OtherKernel {
			off[m.System] = append(off[m.System], math.Abs(m.Off))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(off)) {
		means = append(means, stat.Mean(off[name], nil))
	}
	return means
}
