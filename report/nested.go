package report

import (
	"maps"
	"math"
	"slices"
)

// estimate is what is known of a number: a normal distribution.
type estimate struct{ mean, variance float64 }

// together is what independent estimates of one number say of it, and the logarithm of how likely they are to lie as they do.
func together(list []estimate) (e estimate, likely float64) {
	precision, mean := 0.0, 0.0
	for _, x := range list {
		precision += 1 / x.variance
		mean += x.mean / x.variance
	}
	mean /= precision
	likely = -math.Log(precision) / 2
	for _, x := range list {
		off := x.mean - mean
		likely -= (math.Log(x.variance) + off*off/x.variance) / 2
	}
	return estimate{mean, 1 / precision}, likely
}

// nested are groups in groups. A group without others in it has what its rows say; the means of those in a group lie around
// its own, with one variance for each level of the tree. So a group is believed as much as its members agree, and one of
// which little is known is like its neighbours (empirical Bayes: Efron and Morris 1975).
type nested struct {
	rows estimate
	in   map[string]*nested
}

// group is the one at a path, made where there is none.
func (n *nested) group(path ...string) *nested {
	for _, name := range path {
		if n.in == nil {
			n.in = map[string]*nested{}
		}
		if n.in[name] == nil {
			n.in[name] = &nested{}
		}
		n = n.in[name]
	}
	return n
}

// around is what those in a group but one say of its mean. spreads are the variances of the levels, from here on.
func (n *nested) around(spreads []float64, but string) (list []estimate, likely float64) {
	for _, name := range slices.Sorted(maps.Keys(n.in)) {
		if name != but {
			e, l := n.in[name].says(spreads[1:])
			list, likely = append(list, estimate{e.mean, e.variance + spreads[0]}), likely+l
		}
	}
	return list, likely
}

// says is a group's mean by what is in it.
func (n *nested) says(spreads []float64) (estimate, float64) {
	if len(n.in) == 0 {
		return n.rows, 0
	}
	list, likely := n.around(spreads, "")
	e, l := together(list)
	return e, likely + l
}

// at is the mean of the group at a path by all that is known: what is in it, and what its neighbours and those above say, which
// is also what there is where the path leads to no group.
func (n *nested) at(path []string, spreads []float64, above estimate) estimate {
	list, next, but := []estimate{above}, (*nested)(nil), ""
	if len(path) > 0 {
		but = path[0]
	}
	if n != nil {
		own, _ := n.around(spreads, but)
		list, next = append(list, own...), n.in[but]
	}
	e, _ := together(list)
	if len(path) == 0 {
		return e
	}
	e.variance += spreads[0]
	return next.at(path[1:], spreads[1:], e)
}

// spreads are the variances of a tree's levels under which its rows are likeliest, to a factor of two.
func (n *nested) spreads(levels int) []float64 {
	const rounds, least = 6, 24
	out := slices.Repeat([]float64{0.01}, levels)
	for range rounds {
		for i := range out {
			best, most := out[i], math.Inf(-1)
			for k := 4; k < least; k++ {
				out[i] = math.Ldexp(1, -k)
				if _, likely := n.says(out); likely > most {
					best, most = out[i], likely
				}
			}
			out[i] = best
		}
	}
	return out
}
