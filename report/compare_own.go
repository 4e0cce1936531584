package report

import (
	"railyard/model/measurement"
)

// ownError is the error of NCCL's own model.
func (r ComparedRow) ownError() float64 {
	return float64(r.Predicted.Own-r.Measured.Time) / float64(r.Measured.Time)
}

// own is a value of NCCL's own model, null where it says nothing.
func own(r ComparedRow, v float64) any {
	if r.Predicted.Own == 0 {
		return nil
	}
	return v
}

func ownCell(r ComparedRow, v float64) string {
	if r.Predicted.Own == 0 {
		return ""
	}
	return number(v)
}

// both are the errors of our predictions and of NCCL's own model, of the rows that both
// say something about.
func (c *Comparison) both() (ours, theirs []float64) {
	for _, r := range c.Rows {
		if r.Predicted.Own > 0 {
			ours, theirs = append(ours, r.Error), append(theirs, r.ownError())
		}
	}
	return ours, theirs
}

// ownStatistics compares NCCL's own model on the rows that it covers, and ours on the
// same rows.
func (c *Comparison) ownStatistics() object {
	ours, theirs := c.both()
	return append(append(object{{"rows", len(theirs)}}, statistics(theirs)...), member{"ours_on_these", statistics(ours)})
}

// writeOwn says the same in words.
func (c *Comparison) writeOwn(out *lines) {
	if ours, theirs := c.both(); len(theirs) > 0 {
		out.printf("on %d rows that NCCL's own model covers: its MAPE %s, factor %s; ours %s, %s\n", len(theirs),
			percent(measurement.MAPE(theirs)), factor(measurement.GeomeanFactor(theirs)), percent(measurement.MAPE(ours)), factor(measurement.GeomeanFactor(ours)))
	}
}
