package report

import (
	"math"
	"slices"
	"strings"

	"railyard/model/cost"
)

// surpluses are what frameworks add to kernels and communication, as logarithms: by framework, by the share in frameworks.yaml and by
// source.
type surpluses struct {
	nested
	variances []float64
}

// unknown is what a framework is thought to add before anything is known of any.
var unknown = estimate{0, 1}

// surpluses are those of all rows but a group's, every source weighing the same in what it tells.
func (d *StepValidation) surpluses(group func(*StepValidationRow) string, but string) *surpluses {
	rows := map[[2]string][]float64{}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.Off != nil && r.Share != "" && !r.Hidden && (but == "" || group(r) != but) {
			at := [2]string{r.Share, r.Series()}
			rows[at] = append(rows[at], math.Log(r.Published/(r.Predicted-r.Adds)))
		}
	}
	spread := apart(rows)
	s := &surpluses{}
	for at, list := range rows {
		s.group(append(place(at[0]), at[1])...).rows = estimate{median(list), spread / float64(len(list))}
	}
	s.variances = s.spreads(3)
	return s
}

// place is where a share stands in the tree.
func place(share string) []string { return []string{strings.Fields(share)[0], share} }

// of is what a share adds, as a part of kernels and communication; never less than nothing.
func (s *surpluses) of(share string) float64 {
	return max(math.Expm1(s.at(place(share), s.variances, unknown).mean), 0)
}

// apart is the variance of rows around the median of their source, which one odd row does not move.
func apart(rows map[[2]string][]float64) float64 {
	var off []float64
	for _, list := range rows {
		if len(list) > 2 {
			m := median(list)
			for _, y := range list {
				off = append(off, math.Abs(y-m))
			}
		}
	}
	const normal, least = 1.4826, 1e-4 // of a normal distribution: standard deviation over median of absolute deviations
	if len(off) == 0 {
		return least
	}
	return max(math.Pow(normal*median(off), 2), least)
}

// median of numbers, which it sorts.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// without is how far each row is off where what its framework adds is told by other groups' rows: of the same share, of the framework,
// and of all frameworks, each as far as they agree; nil where nothing was predicted. Where launches of experts hide what is added, nothing
// changes.
func (d *StepValidation) without(group func(*StepValidationRow) string) []*float64 {
	others, out := map[string]*surpluses{}, make([]*float64, len(d.Rows))
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.Off == nil {
			continue
		}
		adds := r.Adds
		if r.Share != "" && !r.Hidden {
			s := group(r)
			if others[s] == nil {
				others[s] = d.surpluses(group, s)
			}
			adds = (r.Predicted - r.Adds) * others[s].of(r.Share)
		}
		e := (r.Predicted-r.Adds+adds)/r.Published - 1
		out[i] = &e
	}
	return out
}

// ShareFactors is what each share that rows tell has to be multiplied with, so that what frameworks add is right.
func (d *StepValidation) ShareFactors() map[string]float64 {
	all, adds, beside := d.surpluses(nil, ""), map[string]float64{}, map[string]float64{}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.Off != nil && r.Share != "" && !r.Hidden && r.Adds > 0 {
			adds[r.Share] += r.Adds / r.Published
			beside[r.Share] += (r.Predicted - r.Adds) / r.Published
		}
	}
	out := map[string]float64{}
	for share, a := range adds {
		out[share] = all.of(share) * beside[share] / a
	}
	return out
}

// Bands are the half-widths, as logarithms, of what holds nine of ten rows of each class, their sources left out: the
// ⌈0.9·(n+1)⌉-th smallest error of n, the largest of fewer.
func (d *StepValidation) Bands() map[string]float64 {
	return d.bands(d.without((*StepValidationRow).Series), 0)
}

// UnseenBands are those on a GPU of which no step is in the fit: all rows are left out whose share is the same GPU's, and
// GPUs' rates under load, which steps would show, are so far apart.
func (d *StepValidation) UnseenBands(loads float64) map[string]float64 {
	return d.bands(d.without(func(r *StepValidationRow) string { return r.Share[strings.LastIndexByte(r.Share, ' ')+1:] }), loads)
}

// bands are those of errors, and of one more that is independent of them.
func (d *StepValidation) bands(off []*float64, more float64) map[string]float64 {
	errors := map[string][]float64{}
	for i, e := range off {
		if e != nil {
			errors[d.Rows[i].Class] = append(errors[d.Rows[i].Class], math.Abs(math.Log1p(*e)))
		}
	}
	out := map[string]float64{}
	for class, e := range errors {
		slices.Sort(e)
		at := int(math.Ceil(cost.Normal * float64(len(e)+1)))
		out[class] = math.Ceil(100*math.Hypot(e[min(at, len(e))-1], more)) / 100
	}
	return out
}
