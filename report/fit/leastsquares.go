package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// boundedLeastSquares minimises Σ(rows·x − want)² with x ≥ lower, by coordinate descent
// on the normal equations from start (nil: lower): convex, so it ends at the optimum.
// Descent soon finds which unknowns lie at their bounds; the others then come out of a
// system of equations. Columns of zeros keep their start.
func boundedLeastSquares(rows [][]float64, want, lower, start []float64) []float64 {
	q := newQuadratic(rows, want, lower)
	x := append([]float64(nil), lower...)
	copy(x, start)
	for sweep := 1; sweep <= 20_000; sweep++ {
		if q.descend(x) < 1e-10 {
			break
		}
		if sweep%16 == 0 && q.finish(x) {
			break
		}
	}
	return x
}

// quadratic is x·g·x/2 − b·x, to be minimised above lower.
type quadratic struct {
	n     int
	g     []float64 // n × n, symmetric
	b     []float64
	scale []float64 // √ of g's diagonal
	lower []float64
}

func newQuadratic(rows [][]float64, want, lower []float64) *quadratic {
	n := len(lower)
	q := &quadratic{n: n, g: make([]float64, n*n), b: make([]float64, n), scale: make([]float64, n), lower: lower}
	for k, row := range rows {
		for i, v := range row {
			if v == 0 {
				continue
			}
			for j, w := range row {
				q.g[i*n+j] += v * w
			}
			q.b[i] += v * want[k]
		}
	}
	for i := range q.scale {
		q.scale[i] = math.Sqrt(q.g[i*n+i])
	}
	return q
}

// downhill is the negative gradient along an unknown.
func (q *quadratic) downhill(x []float64, i int) float64 {
	r := q.b[i]
	for j, g := range q.g[i*q.n : (i+1)*q.n] {
		r -= g * x[j]
	}
	return r
}

// descend minimises along each unknown in turn; it returns the largest step.
func (q *quadratic) descend(x []float64) (change float64) {
	for i, s := range q.scale {
		if s == 0 {
			continue
		}
		next := max(q.lower[i], x[i]+q.downhill(x, i)/(s*s))
		change = max(change, math.Abs(next-x[i])*s)
		x[i] = next
	}
	return change
}

// finish solves for the unknowns above their bounds. It reports whether that is the
// optimum: they stay above, and no other wants to leave its bound.
func (q *quadratic) finish(x []float64) bool {
	var free []int
	for i, s := range q.scale {
		if s > 0 && x[i] > q.lower[i] {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return false
	}
	g, b := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
	fixed := append([]float64(nil), x...)
	for _, i := range free {
		fixed[i] = 0
	}
	for a, i := range free { // scaled, so that units do not matter
		for c, j := range free[:a+1] {
			g.SetSym(a, c, q.g[i*q.n+j]/(q.scale[i]*q.scale[j]))
		}
		b.SetVec(a, q.downhill(fixed, i)/q.scale[i])
	}
	var chol mat.Cholesky
	var y mat.VecDense
	if !chol.Factorize(g) || chol.Cond() > 1e12 || chol.SolveVecTo(&y, b) != nil {
		return false
	}
	for a, i := range free {
		if fixed[i] = y.AtVec(a) / q.scale[i]; fixed[i] < q.lower[i] {
			return false
		}
	}
	for i, s := range q.scale {
		if s > 0 && fixed[i] == q.lower[i] && q.downhill(fixed, i) > 1e-9*s {
			return false
		}
	}
	copy(x, fixed)
	return true
}

// inverse is the diagonal of g's inverse for the unknowns above their bounds; 0 for the others,
// and where it cannot be told.
func (q *quadratic) inverse(x []float64) []float64 {
	out := make([]float64, q.n)
	var free []int
	for i, s := range q.scale {
		if s > 0 && x[i] > q.lower[i] {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return out
	}
	g := mat.NewSymDense(len(free), nil)
	for a, i := range free { // scaled, so that units do not matter
		for c, j := range free[:a+1] {
			g.SetSym(a, c, q.g[i*q.n+j]/(q.scale[i]*q.scale[j]))
		}
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(g) || chol.InverseTo(&inverse) != nil {
		return out
	}
	for a, i := range free {
		out[i] = inverse.At(a, a) / (q.scale[i] * q.scale[i])
	}
	return out
}
