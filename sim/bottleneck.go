package sim

import (
	"fmt"
	"math"
	"strings"

	"railyard/model/units"
)

// busyEnough is the utilisation from which the busiest link is named as the limit, and
// nearly how close to it another class must come to be named too.
const (
	busyEnough = 0.5
	nearly     = 0.9
)

// bottleneck says in words what limits: the busiest link, with the busiest of any
// other class that is nearly as busy, or what takes the time where no link is busy.
func (p *Plan) bottleneck(sizes []units.Bytes, r *Result) (string, error) {
	busiest := map[int32]int{} // by class: index into r.Links
	best := -1
	for i, l := range r.Links {
		class := p.topo.Links()[l.Link].Class
		if j, ok := busiest[class]; !ok || l.Utilisation > r.Links[j].Utilisation+1e-9 {
			busiest[class] = i
		}
		if best < 0 || l.Utilisation > r.Links[best].Utilisation+1e-9 {
			best = i
		}
	}
	switch {
	case best < 0 && r.Launch == 0:
		return "nothing moves", nil
	case best < 0 || r.Launch*2 > r.Time:
		return fmt.Sprintf("launch: %v of %v", r.Launch, r.Time), nil
	case r.Node != nil && r.Node.Utilisation > max(busyEnough, r.Links[best].Utilisation):
		return r.Node.String(), nil
	case r.Links[best].Utilisation < busyEnough:
		what, err := p.idle(sizes, r)
		l := r.Links[best]
		return fmt.Sprintf("%s; the busiest link, %s, is %.0f%% busy", what, p.LinkName(l), 100*l.Utilisation), err
	}
	limits := []string{p.busy(r.Links[best])}
	for class := range p.topo.Classes() {
		i, ok := busiest[int32(class)]
		if ok && i != best && r.Links[i].Utilisation >= nearly*r.Links[best].Utilisation {
			limits = append(limits, p.busy(r.Links[i]))
		}
	}
	return "link " + strings.Join(limits, "; "), nil
}

// idle says what most of the time goes to where no link is busy: steps that wait for one another, work within ranks, or transfers
// that cannot use what links carry.
func (p *Plan) idle(sizes []units.Bytes, r *Result) (string, error) {
	without, err := p.play(sizes, Options{NoTransfer: true})
	if err != nil {
		return "", err
	}
	resting := units.Time(without.last) - r.Launch
	if 2*resting < r.Time-r.Launch {
		return "transfers below line rates", nil
	}
	without, err = p.play(make([]units.Bytes, len(sizes)), Options{NoTransfer: true})
	if err != nil {
		return "", err
	}
	if steps := units.Time(without.last) - r.Launch; 2*steps < resting {
		return fmt.Sprintf("adding and copying within ranks: %v", resting-steps), nil
	}
	steps, err := p.Steps()
	return "latency: " + units.Counted(steps, "dependent step"), err
}

// LinkName names a link, and the one of its parallel links that a load is about.
func (p *Plan) LinkName(l LinkLoad) string {
	name := p.topo.LinkName(l.Link)
	if l.Lane > 0 {
		name += fmt.Sprintf(" lane %d", l.Lane)
	}
	return name
}

func (p *Plan) busy(l LinkLoad) string {
	return fmt.Sprintf("%s (%s, %v): %.0f%% busy", p.LinkName(l), p.topo.Class(l.Link).Name, units.Rate(p.rate(wire{l.Link, l.Lane})),
		math.Round(100*l.Utilisation))
}
