package measurement

import (
	"math"
	"slices"
	"time"
)

// Summary describes repeated timings.
type Summary struct {
	Min, Median, P95, P99, Max, Mean time.Duration
}

// Summarise sorts out repeated timings; percentiles are NearestRank's.
func Summarise(times []time.Duration) Summary {
	if len(times) == 0 {
		return Summary{}
	}
	s := slices.Clone(times)
	slices.Sort(s)
	var sum float64 // of doubles: nanoseconds of years of timings stay exact enough
	for _, t := range s {
		sum += float64(t)
	}
	return Summary{Min: s[0], Median: NearestRank(s, 50), P95: NearestRank(s, 95), P99: NearestRank(s, 99),
		Max: s[len(s)-1], Mean: time.Duration(math.Round(sum / float64(len(s))))}
}

// NearestRank is percentile p (1…100) of sorted values: the smallest one that at least p % of
// all do not exceed. So it is always one of them, and the median of an even number is the lower
// of the two in the middle. It counts in integers, so that no rounding of p moves it.
func NearestRank[T any](sorted []T, p int) T {
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// Median is the middle of numbers in any order, of an even count the mean of the two there; 0 of none.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// MAPE is the mean of |error|, as a fraction (0.1 is 10 %).
func MAPE(errors []float64) float64 {
	if len(errors) == 0 {
		return 0
	}
	var sum float64
	for _, e := range errors {
		sum += math.Abs(e)
	}
	return sum / float64(len(errors))
}

// GeomeanFactor is exp(mean |ln(predicted/measured)|) for relative errors: the factor
// by which a prediction is off, either way, on average. Unlike MAPE it punishes half
// as much as double. An error of −1 (nothing predicted) makes it infinite.
func GeomeanFactor(errors []float64) float64 {
	if len(errors) == 0 {
		return 1
	}
	var sum float64
	for _, e := range errors {
		sum += math.Abs(math.Log1p(e))
	}
	return math.Exp(sum / float64(len(errors)))
}

// Bias is the geometric mean of predicted/measured for relative errors: below 1 where
// predictions are too fast on the whole, above 1 where they are too slow.
func Bias(errors []float64) float64 {
	if len(errors) == 0 {
		return 1
	}
	var sum float64
	for _, e := range errors {
		sum += math.Log1p(e)
	}
	return math.Exp(sum / float64(len(errors)))
}
