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
	p.kept = make([]units.Time, len(p.rows))
	for i, r := range p.healthy {
		if len(p.topo.LostRanks()) > 0 {
			continue
		}
		if p.leaves(r.Schedule) {
			p.kept[i] = planner.LeastTime(p.topo, p.profile, r.Schedule, r.Size)
			continue
		}
		t, err := p.score.Time(r.Schedule, r.Size)
		if err != nil {
			continue // some ranks no longer reach one another
		}
		if p.kept[i] = t; t < p.rows[i].Prediction.Time {
			if err := p.goOn(&p.rows[i], r.Schedule, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves reports whether a plan of the whole machine has too many messages, no two of which are
// alike on what is left, to be simulated there.
func (p *planned) leaves(old *schedule.Schedule) bool {
	return len(p.topo.LostRanks()) == 0 && planner.TooMany(p.topo, old)
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
