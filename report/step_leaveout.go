package report

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/cost"
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
		elsewhere := func(x *StepValidationRow) bool { return x.Series() != r.Series() && x.Framework == r.Framework }
		others := d.additions(func(x *StepValidationRow) bool { return elsewhere(x) && x.Class == r.Class })
		if len(others) < enough {
			others = d.additions(elsewhere)
		}
		e := (r.Predicted-r.Adds+balanced(others)*r.Adds)/r.Published - 1
		r.LeftOut = &e
	}
}

// ShareFactors is what each share that enough rows tell has to be multiplied with, so that what frameworks add is right.
func (d *StepValidation) ShareFactors() map[string]float64 {
	out := map[string]float64{}
	for i := range d.Rows {
		share := d.Rows[i].Share
		list := d.additions(func(x *StepValidationRow) bool { return x.Share == share })
		if share != "" && len(list) >= enough {
			out[share] = balanced(list)
		}
	}
	return out
}

// weighed is what a row's additions would have to be multiplied with, and how much that counts: their share of the step, of all rows of a
// source together.
type weighed struct{ factor, weight float64 }

// additions are what frameworks add to some rows.
func (d *StepValidation) additions(of func(*StepValidationRow) bool) (out []weighed) {
	rows := map[string]float64{}
	some := func(yield func(*StepValidationRow) bool) {
		for i := range d.Rows {
			if x := &d.Rows[i]; x.Off != nil && x.Adds > 0 && of(x) && !yield(x) {
				return
			}
		}
	}
	for x := range some {
		rows[x.Series()]++
	}
	for x := range some {
		out = append(out, weighed{(x.Published - x.Predicted + x.Adds) / x.Adds, x.Adds / x.Published / rows[x.Series()]})
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
		at := int(math.Ceil(cost.Normal * float64(len(e)+1)))
		out[class] = math.Ceil(100*e[min(at, len(e))-1]) / 100
	}
	return out
}
