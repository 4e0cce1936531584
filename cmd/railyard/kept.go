package main

import (
	"slices"

	"railyard/model/schedule"
	"railyard/model/units"
	"railyard/planner"
)

// keep times the whole machine's plans on what is left of it, where all ranks are, and
// goes on with those that are faster than what was planned for it. Of those too large to
// simulate it says how long they take at least.
func (p *planned) keep() error {
	p.score.Limit = 0 // these few are wanted whatever they take
	p.kept = make([]planner.Kept, len(p.rows))
	for i, r := range p.healthy {
		k, err := planner.Keep(p.topo, p.profile, r.Schedule, r.Size, p.score)
		if err != nil {
			return err
		}
		if p.kept[i] = k; k.Time == 0 || k.Least || k.Time >= p.rows[i].Prediction.Time {
			continue
		}
		if err := p.goOn(&p.rows[i], r.Schedule, k.Time); err != nil {
			return err
		}
	}
	return nil
}

// goOn puts a plan of the whole machine in the place of one for what is left.
func (p *planned) goOn(row *planner.Row, old *schedule.Schedule, t units.Time) (err error) {
	s := *old
	s.TopologyName, s.TopologyHash = p.topo.Name(), p.topo.Hash()
	row.RunnerUp, row.RunnerTime, row.Schedule = row.Schedule, row.Prediction.Time, &s
	row.Why = slices.Insert(row.Why, 0, planner.Considered{Schedule: &s, Time: t})
	row.Bound = planner.BoundBeside(p.topo, p.spec, t, row.Size)
	row.Prediction, err = p.score.Explain(&s, row.Size)
	return err
}
