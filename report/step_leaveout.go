package report

import (
	"cmp"
	"math"
	"slices"
)

// enough is how many rows a fit takes: fewer would have it explain what else is wrong with them.
const enough = 9

// leaveOut predicts each row again with what its framework adds fitted on rows of other sources:
// by one number that all of them share. They are those of its class or, where there are not enough, of
// all classes; nothing is added where there are none either.
func (d *StepValidation) leaveOut() {
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.Off == nil {
			continue
		}
		others := d.others(r, func(x *StepValidationRow) bool { return x.Class == r.Class })
		if len(others) < enough {
			others = d.others(r, func(*StepValidationRow) bool { return true })
		}
		e := (r.Predicted-r.Adds+balanced(others)*r.Adds)/r.Published - 1
		r.LeftOut = &e
	}
}

// weighed is what a row's additions would have to be multiplied with, and their share of the step.
type weighed struct{ factor, weight float64 }

// others are the rows of other sources under a row's framework.
func (d *StepValidation) others(r *StepValidationRow, like func(*StepValidationRow) bool) []weighed {
	var out []weighed
	for i := range d.Rows {
		x := &d.Rows[i]
		if x.Off != nil && x.Adds > 0 && x.Series() != r.Series() && x.Framework == r.Framework && like(x) {
			out = append(out, weighed{(x.Published - x.Predicted + x.Adds) / x.Adds, x.Adds / x.Published})
		}
	}
	return out
}

// balanced is the factor with the least sum of absolute relative errors: their weighted median, at
// least 0.
func balanced(list []weighed) float64 {
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Compare(a.factor, b.factor) })
	all, sum := 0.0, 0.0
	for _, x := range list {
		all += x.weight
	}
	for _, x := range list {
		if sum += x.weight; sum >= all/2 {
			return max(x.factor, 0)
		}
	}
	return 0
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
