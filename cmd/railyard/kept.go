package main

import (
	"slices"

	"railyard/capacity/score"
	"railyard/model/schedule"
	"railyard/model/units"
)

// keep times the whole machine's plans on what is left of it, where all ranks are.
func (p *planned) keep() {
	p.score.Limit = 0 // these few are wanted whatever they take
	p.kept = make([]units.Time, len(p.rows))
	for i, r := range p.healthy {
		if len(p.topo.LostRanks()) > 0 {
			continue
		}
		if t, err := timeOf(p.score, r.Schedule, r.Size); err == nil { // else some ranks no longer reach one another
			p.kept[i] = t
		}
	}
}

// steady is after how many slices a pipeline takes as long for as many more every time.
const steady = 128

// timeOf is the time of a schedule. Nothing folds on a machine that has lost a part, so a
// long pipeline is played until it runs steadily, and the rest takes as long as what came
// last.
func timeOf(score *score.Scorer, s *schedule.Schedule, size units.Bytes) (units.Time, error) {
	n := s.Channels[0].Slices
	if n <= 2*steady || slices.ContainsFunc(s.Channels, func(c schedule.Channel) bool { return c.Slices != n }) {
		return score.Time(s, size)
	}
	var begun [2]units.Time
	for i := range begun {
		part := *s
		part.Channels = slices.Clone(s.Channels)
		for c := range part.Channels {
			part.Channels[c].Slices = steady * (i + 1)
		}
		var err error
		if begun[i], err = score.Time(&part, size*units.Bytes(steady*(i+1))/units.Bytes(n)); err != nil {
			return 0, err
		}
	}
	return begun[1] + (begun[1]-begun[0])*units.Time(n-2*steady)/steady, nil
}
