// Package report joins predictions with measurements and writes every result as text,
// JSON or CSV, and as figures. The structs here are the versioned documents that the
// commands print; docs/*.schema.json describe them to other programs.
package report

import (
	"fmt"
	"math"

	"railyard/model/measurement"
	"railyard/model/units"
)

// Predicted is what the model says of a measured case.
type Predicted struct {
	Time     units.Time
	Low      units.Time // what is normal: from here
	High     units.Time // to here; 0 where nothing says it
	Own      units.Time // what NCCL's own model says, 0 where it says nothing
	Schedule string
	Profile  string // the cost profile, where it is not the same for all rows
	Basis    string // where the kernel came from (cost.Bases)
	Over     string // what the library's kernel crosses: nvlink, pcie, ib, …; "" where it is no kernel
	Warnings []string
}

// HiddenByLaunch is the warning on a time that is the launch floor of the run itself: a
// calibration on the run's smallest sizes, not a prediction of them.
const HiddenByLaunch = "hidden by this run's launch floor, taken from its smallest sizes"

// Predictor predicts a measured case; the error says why it cannot.
type Predictor func(measurement.Row) (Predicted, error)

// Comparison is measurements beside predictions.
type Comparison struct {
	Header  []string
	EachRow bool // the text lists them, not only groups of them
	Rows    []ComparedRow
	Skipped []SkippedRow
}

// ComparedRow is one case; Error is (predicted − measured)/measured.
type ComparedRow struct {
	File      string // that Measured is from
	Measured  measurement.Row
	Predicted Predicted
	Error     float64
}

// SkippedRow is a case that was not predicted, and why.
type SkippedRow struct {
	File     string
	Measured measurement.Row
	Reason   string
}

// Compare predicts every row; none is dropped: those without a time or a prediction are
// in Skipped with the reason.
func Compare(set *measurement.Set, predict Predictor) *Comparison {
	c := &Comparison{Header: set.Header}
	for _, m := range set.Rows {
		p, err := predictRow(m, predict)
		if err != nil {
			c.Skipped = append(c.Skipped, SkippedRow{set.File, m, err.Error()})
			continue
		}
		c.Rows = append(c.Rows, ComparedRow{set.File, m, p, float64(p.Time-m.Time) / float64(m.Time)})
	}
	for _, x := range set.Failures {
		none := measurement.Row{Line: x.Line, Columns: make([]string, len(set.Header))}
		c.Skipped = append(c.Skipped, SkippedRow{set.File, none, "the test failed there, and what follows is missing: " + x.Says})
	}
	return c
}

// Append adds another comparison.
func (c *Comparison) Append(x *Comparison) {
	c.Rows, c.Skipped = append(c.Rows, x.Rows...), append(c.Skipped, x.Skipped...)
}

func predictRow(m measurement.Row, predict Predictor) (Predicted, error) {
	switch {
	case m.Unusable != "":
		return Predicted{}, fmt.Errorf("%s", m.Unusable)
	case m.Time <= 0:
		return Predicted{}, fmt.Errorf("no time was measured")
	}
	p, err := predict(m)
	switch {
	case err != nil:
		return p, err
	case p.Time <= 0:
		return p, fmt.Errorf("the predicted time is zero: profile without cost for this case")
	}
	if m.Derived != "" {
		p.Warnings = append(p.Warnings[:len(p.Warnings):len(p.Warnings)],
			fmt.Sprintf("the measured time is computed from %s, which is printed with few digits", m.Derived))
	}
	return p, nil
}

func (c *Comparison) errors() []float64 {
	out := make([]float64, len(c.Rows))
	for i, r := range c.Rows {
		out[i] = r.Error
	}
	return out
}

// worst is the row that is off by the largest factor, the first of equals; −1 if there
// is none.
func (c *Comparison) worst() int {
	best, factor := -1, -1.0
	for i, r := range c.Rows {
		if f := math.Abs(math.Log1p(r.Error)); f > factor {
			best, factor = i, f
		}
	}
	return best
}

// round6 keeps outputs short and equal on every machine.
func round6(v float64) float64 { return math.Round(v*1e6) / 1e6 }
