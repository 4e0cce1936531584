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
	Ranks         int
	Size          units.Bytes
	Off           float64 // logarithm of measured over predicted
}

// Bands are those of each class and basis, across networks of many ranks too; none is narrower than that of a better basis, or of
// fewer ranks.
func Bands(misses []Miss) (out []cost.Band) {
	sorted := slices.SortedFunc(slices.Values(misses), func(a, b Miss) int { return cmp.Compare(math.Abs(a.Off), math.Abs(b.Off)) })
	for _, class := range []string{cost.InBox, cost.Across, cost.OverPCIe} {
		of := where(sorted, func(m *Miss) bool { return m.Across == class })
		if len(of) == 0 {
			continue
		}
		fewer := map[string]cost.Band{} // by basis
		for _, ranks := range cost.BandRanks {
			var better cost.Band
			for _, basis := range cost.Bases {
				if basis == cost.LaunchFloor {
					better = cost.Band{} // floors are not worse kernels
				}
				better = bandOf(of, basis, ranks, better.Factors, fewer[basis].Factors)
				fewer[basis] = better
				out = append(out, better)
			}
			if class != cost.Across {
				break
			}
		}
	}
	return out
}

// bandOf is that of a basis from so many ranks on, at no size narrower than others; misses are a class's, the least first.
func bandOf(class []Miss, basis string, ranks int, others ...[]cost.Off) cost.Band {
	like := []func(*Miss) bool{
		func(*Miss) bool { return true },
		func(m *Miss) bool { return m.Basis == basis },
	}
	if ranks > 0 {
		like = append(like, func(m *Miss) bool { return m.Basis == basis && m.Ranks >= ranks })
	}
	own := where(class, like[len(like)-1])
	out := cost.Band{Across: class[0].Across, Basis: basis, Ranks: ranks, Rows: len(own), Systems: len(machines(own))}
	for i, size := range cost.BandSizes {
		near := where(class, func(m *Miss) bool { return nearest(m.Size) == size })
		if len(near) == 0 {
			near = class
		}
		off := cost.Off{Size: size, Factor: expected(near, like)}
		for _, o := range others {
			if o != nil {
				off.Factor = max(off.Factor, o[i].Factor)
			}
		}
		out.Factors = append(out.Factors, off)
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

// expected is the factor that holds cost.Normal of misses, the least first, of which each group is like what is predicted more than
// the one before it. A machine more is like one of the last group's, each as likely, or, as likely as like one of them, what the groups
// before it say: few machines say little (a hierarchical Dirichlet process: Teh et al. 2006). All machines weigh the same.
func expected(misses []Miss, groups []func(*Miss) bool) float64 {
	weights, rest := make([]float64, len(misses)), 1.0
	for i := len(groups) - 1; i >= 0; i-- {
		rows := machines(where(misses, groups[i]))
		share := rest
		if n := float64(len(rows)); i > 0 {
			share *= n / (n + 1)
		}
		rest -= share
		for k := range misses {
			if m := &misses[k]; groups[i](m) {
				weights[k] += share / float64(len(rows)) / rows[m.System]
			}
		}
	}
	sum := 0.0
	for k, m := range misses {
		if sum += weights[k]; sum >= cost.Normal {
			return round(math.Exp(math.Abs(m.Off)), 1e3)
		}
	}
	return round(math.Exp(math.Abs(misses[len(misses)-1].Off)), 1e3)
}

// nearest is the size of bands that one is nearest to, as logarithms are.
func nearest(size units.Bytes) units.Bytes {
	i := 0
	for i+1 < len(cost.BandSizes) && size >= 4*cost.BandSizes[i] {
		i++
	}
	return cost.BandSizes[i]
}
