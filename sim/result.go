package sim

import (
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
	// The same for the least: 1 is perfectly even, 0 a rank that sends nothing.
	LeastRank float64
	LeastLink float64
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
	if o.Trace { // every rank's own events
		var err error
		if p, err = p.flat(); err != nil {
			return nil, err
		}
	}
	e, err := p.play(size, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Time: units.Time(e.last), Sends: e.sends, Events: e.events, Launch: p.profile.Launch,
		Warnings: append(p.profile.Warnings(size), p.unpriced()...)}
	if e.trace != nil {
		r.Trace = e.trace.out
	}
	p.loads(e, r)
	r.Bottleneck, err = p.bottleneck(r)
	return r, err
}

// Split runs the size twice more: without transfer times, which leaves α (and local
// work), and with every transfer alone on its route, which leaves out contention. β is
// the rest. Contention is nothing where sharing happens to hurt no critical transfer.
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
