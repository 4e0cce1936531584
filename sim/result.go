package sim

import (
	"fmt"
	"slices"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/trace"
	"railyard/model/units"
)

// Result is a prediction. Of several jobs it is about all together.
type Result struct {
	Time       units.Time
	Ends       []units.Time // by job: its own time
	Sends      int64        // messages
	Events     int64
	Launch     units.Time
	Links      []LinkLoad // links that carry anything, by id and lane
	Shared     *Shared    // where several jobs use one link
	Node       *NodeLoad  // the busiest of what adapters of a node share, where the profile has such
	SentBytes  []units.Bytes
	Balance    Balance
	Bottleneck string
	Warnings   []string
	Trace      *trace.Trace
}

// LinkLoad is what a link carries during a run. Lane is 0 unless it is about one of its
// parallel links alone, to which a network hashed flows; those count from 1.
type LinkLoad struct {
	Link        topology.LinkID
	Lane        int32
	Bytes       float64
	Utilisation float64 // of rate × time
}

// Balance compares the mean with the maximum: 1 is perfectly even.
type Balance struct {
	Ranks float64 // bytes sent by rank
	Links float64 // utilisation of the links that carry anything
	// The same for the least: 1 is perfectly even, 0 a rank that sends nothing.
	MinRank float64
	MinLink float64
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
	e, err := p.play(p.each(size), Options{})
	if err != nil {
		return 0, err
	}
	return units.Time(e.last), nil
}

// each is one size for all jobs.
func (p *Plan) each(size units.Bytes) []units.Bytes {
	return slices.Repeat([]units.Bytes{size}, len(p.jobs))
}

// play runs sizes, unless that is what was run last.
func (p *Plan) play(sizes []units.Bytes, o Options) (*engine, error) {
	e := p.newEngine()
	if o.plain() && e.played != nil && slices.Equal(e.played, sizes) {
		return e, nil
	}
	e.reset(sizes, o)
	err := e.play()
	if o.plain() && err == nil {
		e.played = slices.Clone(sizes)
	}
	return e, err
}

// Run predicts a size, the same for all jobs, with all that is known about it.
func (p *Plan) Run(size units.Bytes, o Options) (*Result, error) { return p.RunJobs(p.each(size), o) }

// RunJobs is Run with a size for each job.
func (p *Plan) RunJobs(sizes []units.Bytes, o Options) (*Result, error) {
	if len(sizes) != len(p.jobs) {
		return nil, fmt.Errorf("sim: %d sizes for %d jobs", len(sizes), len(p.jobs))
	}
	p, err := p.planFor(o)
	if err != nil {
		return nil, err
	}
	e, err := p.play(sizes, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Time: units.Time(e.last), Sends: e.sends, Events: e.events, Launch: p.launched(), Warnings: p.warnings(sizes)}
	for _, t := range e.ends {
		r.Ends = append(r.Ends, units.Time(t))
	}
	if e.trace != nil {
		r.Trace = e.trace.out
	}
	p.loads(e, r)
	r.Bottleneck, err = p.bottleneck(sizes, r)
	return r, err
}

// mostTraced is up to how many operations a trace shows every rank's own; of more, which no viewer opens, it shows representatives'.
const mostTraced = 1_000_000

// planFor is the plan that a run with these options plays.
func (p *Plan) planFor(o Options) (*Plan, error) {
	every := o.Trace && p.operations(func(l *lane) int64 { return int64(l.times) }) <= mostTraced
	if every {
		flat, err := p.flat()
		if err != nil {
			return nil, err
		}
		p = flat
	}
	return p.delayed(o.Delays, every)
}

// warnings are the profile's about the sizes, each once, those of ways that plans take, and what the profile has no prices for.
func (p *Plan) warnings(sizes []units.Bytes) []string {
	var out []string
	for _, size := range sizes {
		for _, w := range p.profile.Warnings(size, p.topo.NumRanks()) {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	for _, j := range p.jobs {
		if w := j.Schedule.OutOfUse(); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	if staged := p.topo.StagedNICs(); staged != "" {
		out = append(out, staged)
	}
	return append(out, p.unpriced()...)
}

// Split runs the size twice more: without transfer times, which leaves α (and local
// work), and with every transfer alone on its route, which leaves out contention. β is
// the rest. Contention is nothing where sharing happens to hurt no critical transfer.
func (p *Plan) Split(size units.Bytes, total units.Time) (Split, error) {
	latency, err := p.play(p.each(size), Options{NoTransfer: true})
	if err != nil {
		return Split{}, err
	}
	alpha := units.Time(latency.last) - p.launched()
	alone, err := p.play(p.each(size), Options{NoContention: true})
	if err != nil {
		return Split{}, err
	}
	contention := max(total-units.Time(alone.last), 0)
	return Split{p.launched(), alpha, total - p.launched() - alpha - contention, contention}, nil
}
