package whatif

import (
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
)

// Collective is a collective of one size before and after a change.
type Collective struct {
	Size            units.Bytes
	Before, Planned planner.Row
	Kept            units.Time // the plan of before on the changed machine; 0: it does not run there
}

// Collectives asks the question for a collective over all GPUs. The changed machine may
// have fewer or more of them.
func Collectives(before, after *topology.Topology, pb, pa *cost.Profile, spec func(ranks int) (collective.Spec, error), sizes []units.Bytes, o planner.PlanOptions) ([]Collective, error) {
	was, _, err := plan(before, pb, spec, sizes, o)
	if err != nil {
		return nil, err
	}
	is, scorer, err := plan(after, pa, spec, sizes, o)
	if err != nil {
		return nil, err
	}
	same := before.NumRanks() == after.NumRanks() && after.Healthy().Hash() == before.Hash()
	out := make([]Collective, len(sizes))
	for i := range sizes {
		out[i] = Collective{Size: sizes[i], Before: was[i], Planned: is[i]}
		if !same {
			continue // ranks and links mean something else there
		}
		if t, err := scorer.Time(was[i].Schedule, sizes[i]); err == nil { // else some ranks no longer reach one another
			out[i].Kept = t
			if t < is[i].Prediction.Time {
				out[i].Planned = was[i]
				out[i].Planned.Prediction, _ = scorer.Explain(was[i].Schedule, sizes[i])
			}
		}
	}
	return out, nil
}

func plan(t *topology.Topology, p *cost.Profile, spec func(ranks int) (collective.Spec, error), sizes []units.Bytes, o planner.PlanOptions) ([]planner.Row, *score.Scorer, error) {
	s, err := spec(t.NumRanks())
	if err != nil {
		return nil, nil, err
	}
	scorer := score.New(t, p)
	rows, err := planner.Plan(t, s, sizes, scorer, o)
	return rows, scorer, err
}
