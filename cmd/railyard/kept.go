package main

import "railyard/model/units"

// keep times the whole machine's plans on what is left of it, where all ranks are.
func (p *planned) keep() {
	p.score.Limit = 0 // these few are wanted whatever they take
	p.kept = make([]units.Time, len(p.rows))
	for i, r := range p.healthy {
		if len(p.topo.LostRanks()) > 0 {
			continue
		}
		if t, err := p.score.Time(r.Schedule, r.Size); err == nil { // else some ranks no longer reach one another
			p.kept[i] = t
		}
	}
}
