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

// normal is the share of rows of machines left out that bands are to hold.
const normal = 0.9

// shares are those of known rows that a band may be made to hold so that as many of a new machine's lie inside.
var shares = []float64{0.75, 0.8, 0.84, 0.87, 0.9, 0.93, 0.96}

// Bands hold most misses of each class and basis, every machine weighing the same, as many of a class's as Shares says.
// Times that mostly move no bytes say how far latencies may be off, those that mostly do how far rates.
func Bands(misses []Miss, share map[string]float64) []cost.Band {
	var out []cost.Band
	byClass := classes(misses)
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		out = append(out, bandsOf(byClass[class], share[class])...)
	}
	return out
}

// Shares are how many of the known rows of a class its bands have to hold, so that of each machine left out, and judged
// by the others', normal lie inside (jackknife+: Barber, Candès, Ramdas, Tibshirani 2021).
func Shares(misses []Miss) map[string]float64 {
	out := map[string]float64{}
	for class, list := range classes(misses) {
		at, _ := slices.BinarySearchFunc(shares[:len(shares)-1], normal, func(share, want float64) int {
			return cmp.Compare(heldOf(list, share), want)
		})
		out[class] = shares[at]
	}
	return out
}

// classes are the misses of each class, the least first.
func classes(misses []Miss) map[string][]Miss {
	out := map[string][]Miss{}
	sorted := slices.SortedFunc(slices.Values(misses), func(a, b Miss) int { return cmp.Compare(math.Abs(a.Off), math.Abs(b.Off)) })
	for _, m := range sorted {
		out[m.Across] = append(out[m.Across], m)
	}
	return out
}

// heldOf is the share of a class's misses inside the bands of all other machines.
func heldOf(list []Miss, share float64) float64 {
	machines := map[string][]Miss{}
	for _, m := range list {
		machines[m.System] = append(machines[m.System], m)
	}
	held := 0.0
	for name, own := range machines {
		p := &cost.Profile{Bands: bandsOf(slices.DeleteFunc(slices.Clone(list), func(m Miss) bool { return m.System == name }), share)}
		for _, m := range own {
			if b := p.Band(m.Across, m.Basis); b != nil && math.Abs(m.Off) <= math.Log(b.Factor(m.Latency)) {
				held++
			}
		}
	}
	return held / float64(len(list))
}

// bandsOf are those of a class, which hold a share.
func bandsOf(list []Miss, share float64) (out []cost.Band) {
	for _, basis := range cost.Bases {
		if len(list) == 0 {
			break
		}
		of := slices.DeleteFunc(slices.Clone(list), func(m Miss) bool { return m.Basis != basis })
		b := cost.Band{Across: list[0].Across, Basis: basis, Rows: len(of), Systems: countSystems(of)}
		if b.Systems < leastSystems {
			of = list
		}
		b.Latency = reached(of, share, func(m Miss) bool { return m.Latency >= 0.5 })
		b.Bytes = reached(of, share, func(m Miss) bool { return m.Latency < 0.5 })
		out = append(out, b)
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

// reached is the factor that a share of some misses, the least first, lies within; of all, where there are none. Of few machines, one that
// is not among them lies outside more often: the share grows by one machine's (conformal prediction: Vovk, Gammerman,
// Shafer 2005).
func reached(list []Miss, share float64, in func(Miss) bool) float64 {
	some := slices.DeleteFunc(slices.Clone(list), func(m Miss) bool { return !in(m) })
	if len(some) == 0 {
		some = slices.Clone(list)
	}
	rows := map[string]float64{}
	for _, m := range some {
		rows[m.System]++
	}
	sum, n := 0.0, float64(len(rows))
	for _, m := range some {
		if sum += 1 / rows[m.System] / n; sum >= share*(n+1)/n {
			return round(math.Exp(math.Abs(m.Off)), 1e3)
		}
	}
	return round(math.Exp(math.Abs(some[len(some)-1].Off)), 1e3)
}
