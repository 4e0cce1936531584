package size

import (
	"cmp"
	"slices"
)

// Score is what designs are compared by; less is better. Where a cost is not known, the
// design is on no front.
type Score struct {
	TimePerUnit, Cost, Watts float64
	Known                    bool
}

// ParetoFront says which scores no other beats: none is at least as good in everything and
// better in something. Of equal ones the first is on the front.
func ParetoFront(list []Score) []bool {
	out := make([]bool, len(list))
	for i, a := range list {
		out[i] = a.Known
		for j, b := range list {
			if out[i] && b.Known && i != j && dominates(b, a, j < i) {
				out[i] = false
			}
		}
	}
	return out
}

// dominates reports whether a beats b; of equals, whether the first is meant.
func dominates(a, b Score, first bool) bool {
	x := []int{cmp.Compare(a.TimePerUnit, b.TimePerUnit), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Watts, b.Watts)}
	return slices.Max(x) <= 0 && (slices.Min(x) < 0 || first)
}
