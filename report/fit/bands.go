package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"railyard/model/cost"
)

// Miss is how far a prediction was off on a machine that its kernels had not seen.
type Miss struct {
	Across, Basis string  // as in cost.Band
	System        string  // that it was measured on
	Latency       float64 // the share of the predicted time that moves no bytes
	Off           float64 // logarithm of measured over predicted
}

// leastSystems is how many machines a band needs; with fewer it is that of the class.
const leastSystems = 4

// inside is the share of rows that a band holds where machines are many. Of few, a machine that is not among them lies
// outside more often: the share grows by one machine's (conformal prediction: Vovk, Gammerman, Shafer 2005). With that
// 85 to 95 % of the rows of systems left out lie inside (docs/validation.md).
const inside = 0.82

// Bands hold most misses of each class and basis, every machine weighing the same. Times that mostly move no
// bytes say how far latencies may be off, those that mostly do how far rates.
func Bands(misses []Miss) []cost.Band {
	byClass := map[string][]Miss{}
	for _, m := range misses {
		byClass[m.Across] = append(byClass[m.Across], m)
	}
	var out []cost.Band
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		for _, basis := range cost.Bases {
			list := slices.DeleteFunc(slices.Clone(byClass[class]), func(m Miss) bool { return m.Basis != basis })
			b := cost.Band{Across: class, Basis: basis, Rows: len(list), Systems: countSystems(list)}
			if b.Systems < leastSystems {
				list = byClass[class]
			}
			b.Latency = reached(list, func(m Miss) bool { return m.Latency >= 0.5 })
			b.Bytes = reached(list, func(m Miss) bool { return m.Latency < 0.5 })
			out = append(out, b)
		}
	}
	return out
}

func countSystems(list []Miss) int {
	names := map[string]bool{}
	for _, m := range list {
		names[m.System] = true
	}
	return len(names)
}

// reached is the factor that most of some misses lie within; of all, where there are none.
func reached(list []Miss, in func(Miss) bool) float64 {
	some := slices.DeleteFunc(slices.Clone(list), func(m Miss) bool { return !in(m) })
	if len(some) == 0 {
		some = slices.Clone(list)
	}
	rows := map[string]float64{}
	for _, m := range some {
		rows[m.System]++
	}
	slices.SortFunc(some, func(a, b Miss) int { return cmp.Compare(math.Abs(a.Off), math.Abs(b.Off)) })
	sum, n := 0.0, float64(len(rows))
	for _, m := range some {
		if sum += 1 / rows[m.System] / n; sum >= inside*(n+1)/n {
			return round(math.Exp(math.Abs(m.Off)), 1e3)
		}
	}
	return round(math.Exp(math.Abs(some[len(some)-1].Off)), 1e3)
}
