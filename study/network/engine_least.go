package network

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// least is where costs, each in the logarithm, leave rows least off, from where it begins, and how far off they are there: by Levenberg's
// and Marquardt's method, with derivatives by differences. Rows that are off by much more than usual, as these costs do not explain
// them, count for little (Cauchy's loss); what hardly shows in any row stays near where it was.
func (f *engineFit) least(costs []engineCost, from []float64, rows []engineRow) (float64, []float64, error) {
	const rounds, most, keep = 40, 1e6, 1e-4
	x := make([]float64, len(costs))
	for i := range costs {
		x[i] = math.Log(from[i])
	}
	bound(costs, x)
	began := append([]float64(nil), x...)
	sum := func(off []float64, at []float64) (s float64) {
		for _, o := range off {
			s += usual * usual * math.Log1p(o*o/(usual*usual))
		}
		for i := range at {
			s += keep * (at[i] - began[i]) * (at[i] - began[i])
		}
		return s
	}
	off, err := f.at(costs, x, rows)
	if err != nil {
		return 0, nil, err
	}
	damping := 1e-2
	for range rounds {
		j, err := f.slopes(costs, x, off, rows)
		if err != nil {
			return 0, nil, err
		}
		better := false
		for ; !better && damping < most; damping *= 4 {
			next := stepFrom(j, off, x, began, keep, damping)
			bound(costs, next)
			then, err := f.at(costs, next, rows)
			if err != nil {
				return 0, nil, err
			}
			if was, is := sum(off, x), sum(then, next); is < was*(1-1e-4) {
				x, off, better = next, then, true
				damping /= 32
			}
		}
		if !better {
			break
		}
	}
	return sum(off, x), x, nil
}

// usual is by how much rows are off, as logarithms, that these costs explain. It is the same for all fits: one taken of the rows' own
// residuals (their median, Huber's proposal 2, Cauchy's likelihood) predicted no better, docs/evidence/execution-nodes.md#what-counts.
const usual = 0.1

// at sets the costs, and says how far rows are off then.
func (f *engineFit) at(costs []engineCost, x []float64, rows []engineRow) ([]float64, error) {
	for i := range costs {
		costs[i].value = math.Exp(x[i])
		costs[i].set(costs[i].value)
	}
	return f.off(rows)
}

// slopes are by how much rows are further off for each cost that is larger, by row and cost.
func (f *engineFit) slopes(costs []engineCost, x, off []float64, rows []engineRow) (*mat.Dense, error) {
	const step = 0.02
	j := mat.NewDense(len(rows), len(costs), nil)
	for i := range costs {
		next := append([]float64(nil), x...)
		next[i] += step
		then, err := f.at(costs, next, rows)
		if err != nil {
			return nil, err
		}
		for k := range then {
			j.Set(k, i, (then[k]-off[k])/step)
		}
	}
	return j, nil
}

// stepFrom is where the costs are least off if slopes are what they are here, as far away as damping lets them go.
func stepFrom(j *mat.Dense, off, x, began []float64, keep, damping float64) []float64 {
	n := len(x)
	normal, down := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	var believed mat.Dense
	believed.CloneFrom(j)
	for k, o := range off {
		weight := 1 / (1 + o*o/(usual*usual))
		row := believed.RawRowView(k)
		for i := range row {
			row[i] *= math.Sqrt(weight)
			down.SetVec(i, down.AtVec(i)+j.At(k, i)*weight*o)
		}
	}
	normal.SymOuterK(1, believed.T())
	for i := range n {
		down.SetVec(i, -down.AtVec(i)-keep*(x[i]-began[i]))
		normal.SetSym(i, i, normal.At(i, i)*(1+damping)+keep+damping*keep)
	}
	var c mat.Cholesky
	var by mat.VecDense
	next := append([]float64(nil), x...)
	if c.Factorize(normal) && c.SolveVecTo(&by, down) == nil {
		for i := range next {
			next[i] += by.AtVec(i)
		}
	}
	return next
}

// bound keeps costs within what is looked for.
func bound(costs []engineCost, x []float64) {
	for i := range costs {
		x[i] = min(max(x[i], math.Log(costs[i].low)), math.Log(costs[i].high))
	}
}
