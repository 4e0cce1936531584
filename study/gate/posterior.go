package gate

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/sim/nccl"
)

const (
	// mad times the median of deviations is the standard deviation of what is normally distributed (Hampel 1974).
	mad = 1.4826
	// weight is how many runs' worth of belief there is in how far repeats spread before any were seen: as many as are
	// asked for at least.
	weight = MinRuns
	// efficiency is how many runs a median of deviations is as good as, of one, where the standard deviation were taken (Rousseeuw and
	// Croux 1993).
	efficiency = 0.37
)

// MinRuns is how many runs of one's own say something of how far they spread.
const MinRuns = 3

// apart is what is believed of how far repeats are apart before any were seen.
type apart struct {
	factor float64 // within which 9 of 10 lie
	worth  float64 // runs
}

// apartOf is that of runs over so many nodes.
func apartOf(nodes int, size units.Bytes) apart {
	factor, runs := nccl.RepeatsOf(nodes, size)
	return apart{factor, max(efficiency*float64(runs), weight)}
}

// scale is that of the logarithm of times of which 9 of 10 lie within a factor, before any were seen.
func scale(factor float64) float64 {
	return math.Log(factor) / distuv.StudentsT{Mu: 0, Sigma: 1, Nu: weight}.Quantile((1+cost.Normal)/2)
}

// Deviations is how many standard deviations a share of what is normally distributed lies within.
func Deviations(share float64) float64 { return distuv.UnitNormal.Quantile((1 + share) / 2) }

// tail is a distribution.
type tail interface {
	Quantile(p float64) float64
	CDF(x float64) float64
}

// posterior is what is known of the logarithm of a healthy run's time over the predicted one.
type posterior struct {
	tail
	centre  float64
	spread  float64 // standard deviation of repeats on one machine
	freedom float64 // how well that is known
}

// repeated is how far a run is from others of the same machine.
func (b posterior) repeated() distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: b.spread, Nu: b.freedom}
}

// newPosterior combines how far predictions are off, by the factor that bounds 9 of 10 machines, with how far repeats are apart and runs
// of one's own, as logarithms of their times over the prediction. Before runs are seen it has Student's distribution: more machines are
// far from predictions than of what is normally distributed (of systems left out, with bulk sizes across networks, 97 of 100 would pass
// where 99 should). Then a run is off by what its machine is, normally distributed, and by what repeats differ: their median tells it,
// with the error of a median; how far they spread, by the median of deviations, is mixed with what was believed of that, and tells as
// much of its tail as it is worth beside that, so that a further run has Student's distribution (Gelman et al., Bayesian Data Analysis,
// 2013, sections 2.5 and 3.3).
func newPosterior(factor float64, a apart, runs []float64) posterior {
	repeats := scale(a.factor)
	if len(runs) == 0 {
		return posterior{distuv.StudentsT{Mu: 0, Sigma: scale(math.Max(factor, a.factor)), Nu: weight}, 0, repeats, weight}
	}
	width := math.Log(factor) / Deviations(cost.Normal)
	machine := math.Max(width*width-repeats*repeats, 0)
	n, middle := float64(len(runs)), measurement.Median(runs)
	var off []float64
	for _, x := range runs {
		off = append(off, math.Abs(x-middle))
	}
	seen := mad * measurement.Median(off)
	worth := efficiency * (n - 1)
	freedom := weight * (1 + worth/a.worth)
	spread := (a.worth*repeats*repeats + worth*seen*seen) / (a.worth + worth)
	ofMedian := math.Pi / 2 * spread / n // its error, squared
	share := machine / (machine + ofMedian)
	return posterior{distuv.StudentsT{Mu: share * middle, Sigma: math.Sqrt(machine*(1-share) + spread), Nu: freedom}, share * middle,
		math.Sqrt(spread), freedom}
}

// floor is the largest logarithm of a time over the predicted one that passes.
func (b posterior) floor(falseAlarms float64) float64 { return b.Quantile(1 - falseAlarms) }

// detects is how likely a run fails that takes so many times as long as it should.
func (b posterior) detects(slower, falseAlarms float64) float64 {
	return 1 - b.CDF(b.floor(falseAlarms)-math.Log(slower))
}

// bearable is how far repeats may spread so that what takes so many times as long is told for sure from what is healthy, were
// the machine itself known.
func bearable(slower, falseAlarms float64) float64 {
	return math.Log(slower) / (distuv.UnitNormal.Quantile(1-falseAlarms) + distuv.UnitNormal.Quantile(sure))
}

// Longest is the longest time that passes where nothing is known but a prediction, and until when 9 of 10 machines are done.
func Longest(predicted, high units.Time, falseAlarms float64) units.Time {
	factor := float64(high) / float64(predicted)
	return units.Time(float64(predicted) * math.Exp(newPosterior(factor, apart{nccl.Repeats, weight}, nil).floor(falseAlarms)))
}
