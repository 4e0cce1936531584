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
	Across, Basis string // as in cost.Band (cost.BandMedium)
	System        string // that it was measured on
	Ranks         int
	Size          units.Bytes
	Off           float64 // logarithm of measured over predicted
}

// Bands are those of each medium and basis, across networks of many ranks too; none is narrower than that of a better basis, or of
// fewer ranks.
func Bands(misses []Miss) (out []cost.Band) {
	sorted := bySize(slices.SortedFunc(slices.Values(misses), func(a, b Miss) int { return cmp.Compare(math.Abs(a.Off), math.Abs(b.Off)) }))
	for _, medium := range cost.BandMedia {
		class := cost.ClassOf(medium)
		if !slices.ContainsFunc(misses, func(m Miss) bool { return m.class() == class }) {
			continue
		}
		fewer := map[string]cost.Band{} // by basis
		for _, ranks := range cost.BandRanks {
			var better cost.Band
			for _, basis := range cost.Bases {
				if basis == cost.LaunchFloor {
					better = cost.Band{} // floors are not worse kernels
				}
				own := where(misses, func(m *Miss) bool { return m.Across == medium && m.Basis == basis && m.Ranks >= ranks })
				better = bandOf(sorted, cost.Band{Across: medium, Basis: basis, Ranks: ranks, Rows: len(own), Systems: machines(own)},
					better.Factors, fewer[basis].Factors)
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

// class is that of the medium.
func (m *Miss) class() string { return cost.ClassOf(m.Across) }

// bySize are the misses near each of cost.BandSizes; all where there are none.
func bySize(misses []Miss) [][]Miss {
	out := make([][]Miss, len(cost.BandSizes))
	for i, size := range cost.BandSizes {
		if out[i] = where(misses, func(m *Miss) bool { return nearest(m.Size) == size }); len(out[i]) == 0 {
			out[i] = misses
		}
	}
	return out
}

// bandOf fills a band, at no size narrower than others; misses are all, by size, the least first.
func bandOf(misses [][]Miss, out cost.Band, others ...[]cost.Off) cost.Band {
	class := cost.ClassOf(out.Across)
	like := []func(*Miss) bool{
		func(*Miss) bool { return true },
		func(m *Miss) bool { return m.class() == class },
		func(m *Miss) bool { return m.Basis == out.Basis },
		func(m *Miss) bool { return m.Basis == out.Basis && m.class() == class },
	}
	if out.Across != class {
		like = append(like, func(m *Miss) bool { return m.Basis == out.Basis && m.Across == out.Across })
	}
	if out.Ranks > 0 {
		like = append(like, func(m *Miss) bool { return m.Basis == out.Basis && m.Across == out.Across && m.Ranks >= out.Ranks })
	}
	for i, size := range cost.BandSizes {
		off := cost.Off{Size: size, Factor: max(expected(misses[i], like, alike), expected(misses[i], like, byRows))}
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

// machines counts them.
func machines(list []Miss) int {
	seen := map[string]bool{}
	for _, m := range list {
		seen[m.System] = true
	}
	return len(seen)
}

// expected is the factor that holds cost.Normal of misses, the least first, of which each group is like what is predicted more than
// the one before it: what NCCL estimates without kernels, which few systems were measured on in any one class, is as unsure as it is in
// others. A machine more is like one of the last group's, each as likely, or, as likely as like one of them, what the groups
// before it say: few machines say little (a hierarchical Dirichlet process: Teh et al. 2006). Machines of a group weigh what weight says
// of how many rows they have.
func expected(misses []Miss, groups []func(*Miss) bool, weight func(rows float64) float64) float64 {
	weights, rest := make([]float64, len(misses)), 1.0
	for i := len(groups) - 1; i >= 0; i-- {
		in := make([]int, 0, len(misses))
		rows := map[string]float64{}
		for k := range misses {
			if m := &misses[k]; groups[i](m) {
				in = append(in, k)
				rows[m.System]++
			}
		}
		share := rest
		if n := float64(len(rows)); i > 0 {
			share *= n / (n + 1)
		}
		rest -= share
		total := 0.0
		for _, n := range rows { // whole numbers: in any order the same
			total += weight(n)
		}
		for _, k := range in {
			n := rows[misses[k].System]
			weights[k] += share * weight(n) / total / n
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

// A band holds cost.Normal of machines and of rows: one of many rows that no kernel explains makes it wider than machines alone would.
func alike(float64) float64       { return 1 }
func byRows(rows float64) float64 { return rows }

// nearest is the size of bands that one is nearest to, as logarithms are.
func nearest(size units.Bytes) units.Bytes {
	i := 0
	for i+1 < len(cost.BandSizes) && size >= 4*cost.BandSizes[i] {
		i++
	}
	return cost.BandSizes[i]
}
