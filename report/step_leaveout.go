package report

import (
	"math"
	"slices"
)

// leaveOut predicts each row again with what its framework adds fitted on rows of other sources:
// of the same class and framework, by one number that all of them share, least squares of their
// relative errors. Nothing is added where there are none.
func (d *StepValidation) leaveOut() {
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.Off == nil {
			continue
		}
		up, down := 0.0, 0.0
		for j := range d.Rows {
			x := &d.Rows[j]
			if x.Off == nil || x.Series() == r.Series() || x.Class != r.Class || x.Framework != r.Framework {
				continue
			}
			rest, adds := (x.Predicted-x.Adds)/x.Published, x.Adds/x.Published
			up, down = up+adds*(1-rest), down+adds*adds
		}
		share := 0.0
		if down > 0 {
			share = max(up/down, 0)
		}
		e := (r.Predicted-r.Adds+share*r.Adds)/r.Published - 1
		r.LeftOut = &e
	}
}

// Bands are the half-widths, as logarithms, of what holds nine of ten rows of each class: the
// ⌈0.9·(n+1)⌉-th smallest error of n, the largest of fewer.
func (d *StepValidation) Bands() map[string]float64 {
	errors := map[string][]float64{}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.LeftOut != nil {
			errors[r.Class] = append(errors[r.Class], math.Abs(math.Log1p(*r.LeftOut)))
		}
	}
	out := map[string]float64{}
	for class, e := range errors {
		slices.Sort(e)
		at := int(math.Ceil(0.9 * float64(len(e)+1)))
		out[class] = math.Ceil(100*e[min(at, len(e))-1]) / 100
	}
	return out
}
