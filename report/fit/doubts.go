package fit

import (
	"math"

	"railyard/model/cost"
)

// Doubts chooses, for each class of media and kind of kernel, how many machines the library's own estimate counts for
// beside a kernel's (cost.Doubt): misses are those of predictions with each of the candidates, row by row alike, on
// machines that their kernels had not seen. Of candidates that cannot be told apart, the one that trusts kernels most is
// taken: the least whose mean error over machines is within a standard error of the best's (Breiman, Friedman, Olshen,
// Stone 1984).
func Doubts(candidates []float64, misses [][]Miss) []cost.Doubt {
	var out []cost.Doubt
	for _, class := range []string{cost.InBox, cost.OverPCIe, cost.Across} {
		for _, basis := range []string{cost.OwnKernel, cost.OtherKernel} {
			off := make([]map[string]float64, len(candidates)) // mean of each machine
			best := 0
			for i := range candidates {
				if off[i] = byMachine(misses[i], class, basis); sum(off[i]) < sum(off[best]) {
					best = i
				}
			}
			for i, d := range candidates {
				if len(off[i]) > 0 && asGood(off[i], off[best]) {
					out = append(out, cost.Doubt{Across: class, Basis: basis, Machines: d})
					break
				}
			}
		}
	}
	return out
}

// byMachine is the mean error of the rows of each machine that kernels of a kind predict.
func byMachine(misses []Miss, class, basis string) map[string]float64 {
	out, rows := map[string]float64{}, map[string]float64{}
	for _, m := range misses {
		if m.Across == class && cost.DoubtedAs(m.Basis) == basis {
			out[m.System] += math.Abs(m.Off)
			rows[m.System]++
		}
	}
	for name := range out {
		out[name] /= rows[name]
	}
	return out
}

// asGood reports whether errors are within a standard error of the best; of few machines nothing can be told.
func asGood(off, best map[string]float64) bool {
	n, mean, square := float64(len(best)), 0.0, 0.0
	for name := range best {
		d := off[name] - best[name]
		mean, square = mean+d/n, square+d*d/n
	}
	return len(best) < leastSystems || mean <= math.Sqrt(max(square-mean*mean, 0)/n)
}

func sum(of map[string]float64) (total float64) {
	for _, v := range of {
		total += v
	}
	return total
}
