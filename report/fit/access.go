package fit

import (
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// Accesses are the rates of blocks whose places lie apart, in the order of rows that measure them: of several of one kind and size
// the median. Nil where there are none.
func Accesses(origin cost.Origin, links []measurement.Link) *cost.Access {
	type key struct {
		how    measurement.Access
		copied units.Bytes
	}
	rates := map[key][]float64{}
	var order []key
	for _, l := range links {
		how, ok := measurement.Accessed(l.Kind)
		if !ok || l.Unit != "GBps" || l.Bytes <= 0 || l.Value <= 0 {
			continue
		}
		k := key{how, l.Bytes}
		if rates[k] == nil {
			order = append(order, k)
		}
		rates[k] = append(rates[k], l.Value)
	}
	if len(order) == 0 {
		return nil
	}
	out := &cost.Access{Origin: origin}
	for _, k := range order {
		slices.Sort(rates[k])
		out.Rates = append(out.Rates, cost.AccessRate{Access: k.how, Copied: k.copied, Rate: units.Rate(rates[k][len(rates[k])/2] * 1e9)})
	}
	return out
}
