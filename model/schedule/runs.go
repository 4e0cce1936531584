package schedule

import "slices"

// runs is a set of ranks as sorted, disjoint, non-adjacent half-open intervals. Partial
// sums of rings and trees are a few runs whatever the number of ranks, so that exact
// sets stay small. Values are immutable and may be shared.
type runs []int32 // lo0, hi0, lo1, hi1, …

func single(rank int32) runs { return runs{rank, rank + 1} }

// union is a ∪ b, with the lowest rank that both have, −1 where they are disjoint.
func union(a, b runs) (out runs, common int32) {
	out, common = make(runs, 0, len(a)+len(b)), -1
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var lo, hi int32
		if j == len(b) || i < len(a) && a[i] < b[j] {
			lo, hi = a[i], a[i+1]
			i += 2
		} else {
			lo, hi = b[j], b[j+1]
			j += 2
		}
		n := len(out)
		if n == 0 || lo > out[n-1] {
			out = append(out, lo, hi)
			continue
		}
		if lo < out[n-1] && common < 0 {
			common = lo
		}
		out[n-1] = max(out[n-1], hi)
	}
	return out, common
}

func (r runs) equal(o runs) bool { return slices.Equal(r, o) }

// missing is the lowest rank below n that is not in the set, −1 if there is none.
func (r runs) missing(n int32) int32 {
	next := int32(0)
	for i := 0; i < len(r); i += 2 {
		if r[i] > next {
			return next
		}
		next = r[i+1]
	}
	if next < n {
		return next
	}
	return -1
}

// moved is where a set goes whose ranks keep together up to a boundary: to says where one goes, boundary the next one behind it.
func (r runs) moved(boundary, to func(rank int32) int32) runs {
	var spans []span
	for i := 0; i < len(r); i += 2 {
		for lo := r[i]; lo < r[i+1]; {
			hi, at := min(r[i+1], boundary(lo)), to(lo)
			spans = append(spans, span{at, at + hi - lo})
			lo = hi
		}
	}
	return joined(spans)
}

// span is a run by itself.
type span struct{ lo, hi int32 }

// joined are spans in any order as runs.
func joined(spans []span) runs {
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	out := make(runs, 0, 2*len(spans))
	for _, s := range spans {
		if n := len(out); n > 0 && out[n-1] >= s.lo {
			out[n-1] = max(out[n-1], s.hi)
		} else {
			out = append(out, s.lo, s.hi)
		}
	}
	return out
}
