package proof

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/units"
)

// Rows of MSCCL++ (exec/peers/mscclpp.cc): its own kernels, and plans by the name of their file or their own.
var mscclppOwn = Setting{"native", "mscclpp"}

const mscclppPlan = "mscclpp_plan"

// Sized is a verdict at a size.
type Sized struct {
	Size units.Bytes
	Verdict
}

// Plan is a plan of MSCCL++ beside the faster of its own kernels and NCCL's own choice, at each size where both were measured; of
// several names the first that has rows.
func (r Rows) Plan(k collective.Kind, names ...string) (out []Sized) {
	for _, name := range names {
		way := Setting{named(name), mscclppPlan}
		for c, ways := range r {
			var own Times
			for _, w := range []Setting{mscclppOwn, Own} {
				if t := ways[w]; len(t) > 0 && (own == nil || t.Median() < own.Median()) {
					own = t
				}
			}
			if c.Kind == k && len(ways[way]) > 0 && own != nil {
				out = append(out, Sized{c.Size, verdict(way, ways[way], own, true)})
			}
		}
		if len(out) > 0 {
			break
		}
	}
	slices.SortFunc(out, func(a, b Sized) int { return int(a.Size - b.Size) })
	return out
}

// Range are the most neighbouring sizes at which a plan is no slower; none where it is everywhere.
func Range(at []Sized) (best []Sized) {
	for from := 0; from < len(at); from++ {
		to := from
		for to < len(at) && !at[to].Slower {
			to++
		}
		if to-from > len(best) {
			best = at[from:to]
		}
		from = to
	}
	return best
}
