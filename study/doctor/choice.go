package doctor

import (
	"railyard/model/collective"
	"railyard/model/health"
	"railyard/model/units"
	"railyard/study"
)

// choices are sizes over which NCCL changes its choice, the largest first: that of other costs.
var choices = func() (out []units.Bytes) {
	for s := size; s >= units.KiB; s /= 4 {
		out = append(out, s)
	}
	return out
}()

// fewerChoices is what it costs that NCCL may choose only among those ways that a variable's value leaves: of large messages, or where
// these lose nothing, of those that lose most. Not known where NCCL refuses the value, or has no such way.
func fewerChoices(allowed func(value string, k collective.Kind) ([]string, bool),
	with func(name string) study.Library) func(study.Asked, *health.Effect) (health.Cost, error) {
	return func(a study.Asked, e *health.Effect) (x health.Cost, err error) {
		a.Sizes = choices
		free, err := expected(a, study.Library{})
		names, ok := allowed(e.Value, a.Collective.Kind)
		if err != nil || !ok {
			return x, nil
		}
		left := make([]study.Baseline, len(choices))
		for _, name := range names {
			rows, err := expected(a, with(name))
			if err != nil {
				continue // that does not run there
			}
			for i, r := range rows {
				if !left[i].Runs() || r.Model < left[i].Model { // NCCL chooses by its own model
					left[i] = r
				}
			}
		}
		for i, l := range left {
			more := longer(free[i].Time, l.Time)
			if l.Runs() && (!x.Known || more > x.Share) {
				x = health.Cost{Known: true, Share: more, Best: more, How: predicted(a), Of: allReduce(choices[i], a.Topology)}
			}
			if i == 0 && more >= noise {
				break
			}
		}
		return x, nil
	}
}
