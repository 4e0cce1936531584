package units

import (
	"cmp"
	"math"
	"slices"
)

// rounding is by how much sums of parts may miss whole numbers.
const rounding = 1e-9

// Apportion divides a whole number in proportion to parts, which sum up to one, by largest remainders (A. Hamilton, 1792); of
// those that differ by rounding alone the first get more.
func Apportion(whole int, parts []float64) []int {
	out, order, rest, left := make([]int, len(parts)), make([]int, len(parts)), make([]float64, len(parts)), whole
	for i, x := range parts {
		exact := float64(whole) * x
		out[i], order[i] = int(exact+rounding), i
		rest[i] = math.Round(1e6 * (exact - float64(out[i])))
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range order[:min(max(left, 0), len(order))] {
		out[i]++
	}
	return out
}
