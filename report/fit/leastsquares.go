package fit

import "math"

// boundedLeastSquares minimises Σ(rows·x − want)² with x ≥ lower, by coordinate descent
// on the normal equations from start (nil: lower): convex, so it ends at the optimum.
// Columns of zeros keep their start.
func boundedLeastSquares(rows [][]float64, want, lower, start []float64) []float64 {
	n := len(lower)
	g, b := make([]float64, n*n), make([]float64, n)
	for k, row := range rows {
		for i, v := range row {
			if v == 0 {
				continue
			}
			for j, w := range row {
				g[i*n+j] += v * w
			}
			b[i] += v * want[k]
		}
	}
	x := append([]float64(nil), lower...)
	copy(x, start)
	for range 20_000 {
		change := 0.0
		for i := range n {
			d := g[i*n+i]
			if d == 0 {
				continue
			}
			r := b[i]
			for j := range n {
				r -= g[i*n+j] * x[j]
			}
			next := max(lower[i], x[i]+r/d)
			change = max(change, math.Abs(next-x[i])*math.Sqrt(d))
			x[i] = next
		}
		if change < 1e-10 {
			break
		}
	}
	return x
}
