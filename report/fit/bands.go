package fit

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/units"
)

// Miss is how far a prediction was off on a machine that its kernels had not seen.
type Miss struct {
	Across, Basis string // as in cost.Band
	System        string // that it was measured on
	Size          units.Bytes
	Off           float64 // logarithm of measured over predicted
}

// Bands are those of each class and basis; none is narrower than that of a better basis.
func Bands(misses []Miss) (out []cost.Band) {
	sorted := slices.SortedFunc(slices.Values(misses), func(a, b Miss) int { return cmp.Compare(math.Abs(a.Off), math.Abs(b.Off)) })
	for _, class := range []string{cost.InBox, cost.Across, cost.OverPCIe} {
		of := where(sorted, func(m *Miss) bool { return m.Across == class })
		if len(of) == 0 {
			continue
		}
		var better cost.Band
		for _, basis := range cost.Bases {
			if basis == cost.LaunchFloor {
				better = cost.Band{} // floors are not worse kernels
			}
			own := where(of, func(m *Miss) bool { return m.Basis == basis })
			next := cost.Band{Across: class, Basis: basis, Rows: len(own), Systems: len(machines(own))}
			for i, size := range cost.BandSizes {
				off := cost.Off{Size: size, Factor: expected(of, basis, size)}
				if better.Factors != nil {
					off.Factor = max(off.Factor, better.Factors[i].Factor)
				}
				next.Factors = append(next.Factors, off)
			}
			better = next
			out = append(out, better)
		}
	}
	return out
}

func where(list []Miss, in func(*Miss) bool) []Miss {
	return slices.DeleteFunc(slices.Clone(list), func(m Miss) bool { return !in(&m) })
}

// machines are how many rows each has.
func machines(list []Miss) map[string]float64 {
	rows := map[string]float64{}
	for _, m := range list {
		rows[m.System]++
	}
	return rows
}

// expected is the factor that holds cost.Normal of what predictions on some basis are off by, of sizes nearer to one of a band's than
// to the others; misses are a class's, the least first. A machine more is like one of those that the basis is known of, each as
// likely, or, as likely as like one of them, like any of its class: few machines say little (a Dirichlet process whose base is
// the class: Ferguson 1973). All machines weigh the same.
func expected(class []Miss, basis string, size units.Bytes) float64 {
	near := where(class, func(m *Miss) bool { return nearest(m.Size) == size })
	if len(near) == 0 {
		near = class
	}
	all, own := machines(near), machines(where(near, func(m *Miss) bool { return m.Basis == basis }))
	each, sum := 1/float64(len(own)+1), 0.0
	for _, m := range near {
		sum += each / float64(len(all)) / all[m.System]
		if m.Basis == basis {
			sum += each / own[m.System]
		}
		if sum >= cost.Normal {
			return round(math.Exp(math.Abs(m.Off)), 1e3)
		}
	}
	return round(math.Exp(math.Abs(near[len(near)-1].Off)), 1e3)
}

// nearest is the size of bands that one is nearest to, as logarithms are.
func nearest(size units.Bytes) units.Bytes {
	i := 0
	for i+1 < len(cost.BandSizes) && size >= 4*cost.BandSizes[i] {
		i++
	}
	return cost.BandSizes[i]
}
