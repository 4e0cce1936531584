package topology

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/units"
)

// Faster is a copy of the machine in which the links of a class have factor times their
// rate. It fails where no link is of that class, and on degraded or loaded copies: change
// the healthy machine first.
func (t *Topology) Faster(class string, factor float64) (*Topology, error) {
	if t.Healthy() != t || t.Idle() != t {
		return nil, fmt.Errorf("%s: its links cannot be made faster any more", t.name)
	}
	if !(factor > 0) || factor > 1000 {
		return nil, fmt.Errorf("class %s: a factor of %v: it must be above 0 and at most 1000", class, factor)
	}
	i := -1
	var used []string
	for k, c := range t.classes {
		if slices.ContainsFunc(t.links, func(l Link) bool { return l.Class == int32(k) }) {
			if used = append(used, c.Name); c.Name == class {
				i = k
			}
		}
	}
	if i < 0 {
		return nil, fmt.Errorf("%s has no links of class %q: it has %v", t.name, class, used)
	}
	return t.changed(func(out *Topology) {
		out.classes = slices.Clone(t.classes)
		c := &out.classes[i]
		c.Rate = max(1, units.Rate(math.Round(float64(c.Rate)*factor)))
		out.name = fmt.Sprintf("%s with %s × %g", t.name, class, factor)
	}), nil
}
