package sim

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/trace"
	"railyard/model/units"
)

// Result is a prediction.
type Result struct {
	Time       units.Time
	Sends      int64 // messages
	Events     int64
	Launch     units.Time
	Links      []LinkLoad // links that carry anything, by id
	SentBytes  []units.Bytes
	Balance    Balance
	Bottleneck string
	Warnings   []string
	Trace      *trace.Trace
}

// LinkLoad is what a link carries during a run.
type LinkLoad struct {
	Link        topology.LinkID
	Bytes       float64
	Utilisation float64 // of rate × time
}

// Balance compares the mean with the maximum: 1 is perfectly even.
type Balance struct {
	Ranks float64 // bytes sent by rank
	Links float64 // utilisation of the links that carry anything
}

// Split divides a time by cause; the four add up to it.
type Split struct {
	Launch, Alpha, Beta, Contention units.Time
}

// Run predicts one size: compile and run. To predict many sizes, keep the Plan.
func Run(t *topology.Topology, s *schedule.Schedule, size units.Bytes, p *cost.Profile, o Options) (*Result, error) {
	plan, err := Compile(t, s, p)
	if err != nil {
		return nil, err
	}
	return plan.Run(size, o)
}

// Time predicts the duration only.
func (p *Plan) Time(size units.Bytes) (units.Time, error) {
	e, err := p.play(size, Options{})
	if err != nil {
		return 0, err
	}
	return units.Time(e.last), nil
}

func (p *Plan) play(size units.Bytes, o Options) (*engine, error) {
	e := p.newEngine()
	e.reset(size, o)
	return e, e.play()
}

// Run predicts a size with all that is known about it.
func (p *Plan) Run(size units.Bytes, o Options) (*Result, error) {
	e, err := p.play(size, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Time: units.Time(e.last), Sends: e.sends, Events: e.events, Launch: p.profile.Launch,
		Warnings: p.profile.Warnings(size), Trace: e.trace}
	p.loads(e, r)
	r.Bottleneck = p.bottleneck(r)
	return r, nil
}

// Split runs the size twice more: without transfer times, and without contention.
func (p *Plan) Split(size units.Bytes, total units.Time) (Split, error) {
	latency, err := p.play(size, Options{NoTransfer: true})
	if err != nil {
		return Split{}, err
	}
	alpha := units.Time(latency.last) - p.profile.Launch
	alone, err := p.play(size, Options{NoContention: true})
	if err != nil {
		return Split{}, err
	}
	contention := max(total-units.Time(alone.last), 0)
	return Split{p.profile.Launch, alpha, total - p.profile.Launch - alpha - contention, contention}, nil
}

// loads adds up what each link and each rank carries.
func (p *Plan) loads(e *engine, r *Result) {
	perRoute := make([]float64, len(p.routes))
	r.SentBytes = make([]units.Bytes, p.sched.Spec.Ranks)
	for i := range p.conns {
		k := &p.conns[i]
		var sum units.Bytes
		for _, m := range p.msgs[k.first : k.first+k.per] {
			sum += m.bytes(e.chunk[k.channel])
		}
		sum *= units.Bytes(e.slices[k.channel])
		perRoute[k.route] += float64(sum)
		r.SentBytes[p.routes[k.route].src] += sum
	}
	bytes := map[topology.LinkID]float64{}
	for i, b := range perRoute {
		for _, h := range p.routes[i].full.Hops {
			bytes[h.Link] += b * float64(h.Num) / float64(h.Den)
		}
	}
	r.Links = make([]LinkLoad, 0, len(bytes))
	for l, b := range bytes {
		r.Links = append(r.Links, LinkLoad{l, b, p.utilisation(l, b, r.Time)})
	}
	sort.Slice(r.Links, func(i, j int) bool { return r.Links[i].Link < r.Links[j].Link })
	r.Balance = balance(r)
}

func (p *Plan) utilisation(l topology.LinkID, bytes float64, t units.Time) float64 {
	if t == 0 {
		return 0
	}
	return bytes / (float64(p.topo.Rate(l)) * t.Seconds())
}

func balance(r *Result) Balance {
	var b Balance
	var sum, most float64
	for _, s := range r.SentBytes {
		sum += float64(s)
		most = max(most, float64(s))
	}
	if most > 0 {
		b.Ranks = sum / float64(len(r.SentBytes)) / most
	}
	sum, most = 0, 0
	for _, l := range r.Links {
		sum += l.Utilisation
		most = max(most, l.Utilisation)
	}
	if most > 0 {
		b.Links = sum / float64(len(r.Links)) / most
	}
	return b
}

// busyEnough is the utilisation from which the busiest link is named as the limit, and
// nearly how close to it another class must come to be named too.
const (
	busyEnough = 0.5
	nearly     = 0.9
)

// bottleneck says in words what limits: the busiest link, with the busiest of any
// other class that is nearly as busy, or latency.
func (p *Plan) bottleneck(r *Result) string {
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
	case best < 0 || r.Launch*2 > r.Time:
		return fmt.Sprintf("launch: %v of %v", r.Launch, r.Time)
	case r.Links[best].Utilisation < busyEnough:
		l := r.Links[best]
		return fmt.Sprintf("latency: the busiest link, %s, is %.0f%% busy", p.topo.LinkName(l.Link), 100*l.Utilisation)
	}
	limits := []string{p.busy(r.Links[best])}
	for class := range p.topo.Classes() {
		i, ok := busiest[int32(class)]
		if ok && i != best && r.Links[i].Utilisation >= nearly*r.Links[best].Utilisation {
			limits = append(limits, p.busy(r.Links[i]))
		}
	}
	return "link " + strings.Join(limits, "; ")
}

func (p *Plan) busy(l LinkLoad) string {
	return fmt.Sprintf("%s (%s, %v): %.0f%% busy", p.topo.LinkName(l.Link), p.topo.Class(l.Link).Name, p.topo.Rate(l.Link), math.Round(100*l.Utilisation))
}

// LowerEstimate never exceeds the time that Run predicts: each connection's messages
// come one after the other, and each resource has to carry all of its bytes.
func (p *Plan) LowerEstimate(size units.Bytes) units.Time {
	e := p.newEngine()
	e.reset(size, Options{})
	load := make([]float64, len(p.res))
	var serial int64
	for i := range p.conns {
		k := &p.conns[i]
		use := p.routes[k.route].use
		var time, weighted float64
		for _, m := range p.msgs[k.first : k.first+k.per] {
			b := m.bytes(e.chunk[k.channel])
			c := e.costOf(k.route, b)
			f := flow{cap: c.rate, eff: c.efficiency}
			time += float64(c.alpha)
			if rate := solo(e, use, &f); !math.IsInf(rate, 1) {
				time += float64(b) * 1e12 / rate
			}
			weighted += float64(b) / c.efficiency
		}
		n := float64(e.slices[k.channel])
		serial = max(serial, int64(time*n*(1-1e-9)))
		for _, u := range use {
			load[u.res] += weighted * n * u.weight
		}
	}
	for r := range load {
		serial = max(serial, int64(load[r]*1e12/p.res[r].capacity*(1-1e-9)))
	}
	return p.profile.Launch + units.Time(serial)
}
