// Package measurement holds measured times of collectives, whoever measured them.
package measurement

import (
	"math"
	"slices"
	"time"

	"railyard/model/collective"
	"railyard/model/units"
)

// Row is one measured case.
type Row struct {
	Line       int // in its file
	Collective collective.Kind
	Size       units.Bytes
	Time       units.Time
	GPUs       int // ranks in all; 0 where the file does not say
	Nodes      int // 0 where the file does not say
	Algo       string
	Proto      string
	Launch     string
	DType      string
	// Columns are all cells of the row as written, in the order of Set.Header.
	Columns []string
}

// Set is a file of measurements.
type Set struct {
	File   string
	Header []string
	Rows   []Row
}

// Summary describes repeated timings.
type Summary struct {
	Min, Median, P95, P99, Max time.Duration
}

// Summarise sorts out repeated timings; percentiles are nearest-rank.
func Summarise(times []time.Duration) Summary {
	if len(times) == 0 {
		return Summary{}
	}
	s := slices.Clone(times)
	slices.Sort(s)
	at := func(p float64) time.Duration {
		return s[max(0, int(math.Ceil(p*float64(len(s))))-1)]
	}
	return Summary{Min: s[0], Median: at(0.5), P95: at(0.95), P99: at(0.99), Max: s[len(s)-1]}
}

// MAPE is the mean of |error|.
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
// by which a prediction is off, either way, on average.
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
