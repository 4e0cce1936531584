package fit

import (
	"math"

	"railyard/model/units"
)

// Overheads fits what a launch and a message cost where the time of the bytes is known:
// T = λ + A·α + X, with relative errors counted. Mean is the mean absolute one.
func Overheads(rows []Features) (launch, alpha units.Time, mean float64) {
	coefficients, rest := make([][]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		t := float64(r.Time)
		coefficients[i], rest[i] = []float64{1 / t, r.Messages / t}, 1-float64(r.Line)/t
	}
	x := boundedLeastSquares(coefficients, rest, make([]float64, 2), nil)
	for i, c := range coefficients {
		mean += math.Abs(c[0]*x[0]+c[1]*x[1]-rest[i]) / float64(len(rows))
	}
	return units.Time(math.Round(x[0])), units.Time(math.Round(x[1])), mean
}
