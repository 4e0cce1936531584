package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Solving for the unknowns above their bounds ends where descent alone would.
func TestLeastSquaresEndsAtTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, m := 1+rng.IntN(6), 3+rng.IntN(20)
		rows, want, lower := make([][]float64, m), make([]float64, m), make([]float64, n)
		for i := range lower {
			lower[i] = float64(rng.IntN(3) - 1)
		}
		for k := range rows {
			rows[k], want[k] = make([]float64, n), rng.NormFloat64()
			for i := range rows[k] {
				rows[k][i] = rng.NormFloat64() * math.Pow(10, float64(i%4)) // units differ
			}
		}
		got := boundedLeastSquares(rows, want, lower, nil)
		q := newQuadratic(rows, want, lower)
		slow := append([]float64(nil), lower...)
		for sweep := 0; sweep < 1_000_000 && q.descend(slow) > 1e-13; sweep++ {
		}
		if a, b := q.value(got), q.value(slow); a > b+1e-7*(1+math.Abs(b)) {
			t.Fatalf("%v has %v, descent finds %v with %v", got, a, slow, b)
		}
		for i := range got {
			if got[i] < lower[i] {
				t.Fatalf("%v is below %v", got, lower)
			}
		}
	}
}

// value is what is minimised.
func (q *quadratic) value(x []float64) (v float64) {
	for i := range x {
		v -= (q.b[i] + q.downhill(x, i)) * x[i] / 2
	}
	return v
}
