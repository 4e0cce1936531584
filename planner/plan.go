package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// Prediction is what a score says of a schedule at a size.
type Prediction struct {
	Time       units.Time
	Bottleneck string
	Warnings   []string
}

// Scorer predicts times of valid schedules; as a rule it is the simulator. Neither Bound, which should cost
// next to nothing (see Bounds), nor Estimate may exceed the Time: candidates that cannot
// win are not looked at any further. Work is how many operations a Time plays, as far as
// that is known without compiling the schedule, else 0; Foreseen is that, and what compiling takes, of one that is like another in other
// slices and channels; Spent is how many all of them took, the
// sharing of links included, since Begin, which forgets all that was asked before but for what saves finding it again: what a search
// is told and what counts as spent in it is the same whatever others have asked. Explain adds the bottleneck and the warnings to a time.
type Scorer interface {
	Begin()
	Work(s *schedule.Schedule) int64
	Foreseen(s, like *schedule.Schedule) int64
	Spent() int64
	Bound(s *schedule.Schedule, size units.Bytes) units.Time
	Estimate(s *schedule.Schedule, size units.Bytes) (units.Time, error)
	// Time is what a schedule takes, or where that is more than most, some time that is more than most, too, and no more than it takes.
	Time(s *schedule.Schedule, size units.Bytes, most units.Time) (units.Time, error)
	Explain(s *schedule.Schedule, size units.Bytes) (Prediction, error)
}

// ErrTooLarge is what estimates and times of schedules are that would take too long to
// find out: such candidates are left out, with a warning where they could have won.
var ErrTooLarge = errors.New("its simulation takes too long")

// PlanOptions narrow the choice.
type PlanOptions struct {
	Algorithm string              // only this one; "" is all
	Without   []string            // algorithms left out, where all others are looked at
	Protocols []schedule.Protocol // nil is simple alone
	Build     Options
	InPlace   bool                  // only schedules that also run with input and output in one memory
	Why       bool                  // also say what limits each candidate that was scored
	Progress  func(done, total int) // sizes
	Better    func(Standing)        // told whenever a better plan is found
}

// Standing is how a plan stands while better ones are looked for.
type Standing struct {
	Size        units.Bytes
	Schedule    *schedule.Schedule
	Time, Bound units.Time
}

// OfBound is the share of the unbeatable time in that of the best plan so far.
func (s *Standing) OfBound() float64 { return float64(s.Bound) / float64(max(s.Time, 1)) }

// OfBound is the share of the unbeatable time in the planned one: 1 is optimal.
func (r *Row) OfBound() float64 {
	return float64(r.Bound.Time) / float64(max(r.Prediction.Time, 1))
}

// RunnerLoss is how much longer the runner-up takes: 0.1 is 10 % more; 0 without one.
func (r *Row) RunnerLoss() float64 {
	if r.RunnerUp == nil {
		return 0
	}
	return float64(max(r.RunnerTime, 1))/float64(max(r.Prediction.Time, 1)) - 1
}

// Row is the plan for one size.
type Row struct {
	Size       units.Bytes
	Schedule   *schedule.Schedule
	Prediction Prediction
	Bound      collective.Bound
	RunnerUp   *schedule.Schedule // a good one of another algorithm or protocol (see contest); nil if none
	RunnerTime units.Time
	Why        []Considered
}

// Considered is a candidate with its time, or with the estimate that ruled it out.
type Considered struct {
	Schedule *schedule.Schedule
	Time     units.Time
	Pruned   bool    // Time is a lower estimate that was already too slow
	TooLarge bool    // Time is a lower bound, and it was left out (see ErrTooLarge)
	Gain     float64 // by how much it could be faster than the best, at most, where it was not timed all the same (see contest)
	Limit    string  // what limits it, only with PlanOptions.Why
}

// Name is how a schedule is called in tables: algorithm, protocol, pipeline depth, channels where they are not the algorithm's own.
func Name(s *schedule.Schedule) string {
	name := s.Algorithm
	if s.Protocol != schedule.Simple {
		name += "/" + string(s.Protocol)
	}
	n := cmp.Or(askedFor(s, "slices"), s.Channels[0].Slices) // some algorithms make channels of them
	if n > 1 {
		name += fmt.Sprintf("×%d", n)
	}
	if n := askedFor(s, "channels"); n > 0 {
		name += fmt.Sprintf("·%dch", n)
	}
	return name
}

// Describe says in words what a schedule's algorithm does; "" where it is none of ours.
func Describe(s *schedule.Schedule) string {
	a, err := find(s.Algorithm)
	if err != nil {
		return ""
	}
	return a.Doc
}

// Family is how an algorithm with its protocol is called, whatever the slices.
func Family(s *schedule.Schedule) string {
	if s.Protocol == schedule.Simple {
		return s.Algorithm
	}
	return family(s)
}

// family is the algorithm with its protocol, whatever the slices.
func family(s *schedule.Schedule) string { return s.Algorithm + "/" + string(s.Protocol) }

// Plan picks the best schedule for each size.
func Plan(t *topology.Topology, spec collective.Spec, sizes []units.Bytes, score Scorer, o PlanOptions) ([]Row, error) {
	candidates, err := candidatesOf(t, spec, o)
	if err != nil {
		return nil, err
	}
	return planAll(t, spec, candidates, sizes, score, o)
}

// planAll picks the best candidate for each size.
func planAll(t *topology.Topology, spec collective.Spec, candidates []*schedule.Schedule, sizes []units.Bytes, score Scorer,
	o PlanOptions) ([]Row, error) {
	rows := make([]Row, len(sizes))
	var err error
	limits, shapes := newLimits(t, spec), newShaper(t, spec, candidates, o)
	for i, size := range sizes {
		if o.Progress != nil {
			o.Progress(i, len(sizes))
		}
		c := newContest(candidates, size, score, o.Build.Budget)
		c.shapes = shapes
		c.bound = func(planned units.Time) units.Time { return limits.least(planned, size) }
		if o.Better != nil {
			c.better = func(best *Considered, least units.Time) { o.Better(Standing{size, best.Schedule, best.Time, least}) }
		}
		if rows[i], err = choose(c); err != nil {
			return nil, err
		}
		rows[i].Bound = limits.beside(rows[i].Prediction.Time, size)
		if o.Why {
			if err := explain(rows[i].Why, size, score); err != nil {
				return nil, err
			}
		}
	}
	if o.Progress != nil {
		o.Progress(len(sizes), len(sizes))
	}
	return rows, nil
}

// explain asks what limits each candidate that was scored.
func explain(list []Considered, size units.Bytes, score Scorer) error {
	for i := range list {
		if list[i].Pruned {
			continue
		}
		p, err := score.Explain(list[i].Schedule, size)
		if err != nil {
			return err
		}
		list[i].Limit = p.Bottleneck
	}
	return nil
}

// candidatesOf are the candidates of all algorithms in all protocols.
func candidatesOf(t *topology.Topology, spec collective.Spec, o PlanOptions) ([]*schedule.Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	protocols := o.Protocols
	if len(protocols) == 0 {
		protocols = []schedule.Protocol{schedule.Simple}
	}
	base, err := Candidates(t, spec, o.Algorithm, o.Build)
	if err != nil {
		return nil, err
	}
	base = slices.DeleteFunc(base, func(s *schedule.Schedule) bool { return slices.Contains(o.Without, s.Algorithm) })
	if len(base) == 0 {
		return nil, fmt.Errorf("no other algorithm makes %v on %s", spec.Kind, t.Name())
	}
	if o.InPlace {
		if base, err = inPlace(base); err != nil {
			return nil, err
		}
	}
	out := make([]*schedule.Schedule, 0, len(base)*len(protocols))
	for _, p := range protocols {
		for _, s := range base {
			c := *s
			c.Protocol = p
			out = append(out, &c)
		}
	}
	return out, nil
}

// inPlace are the candidates that run in place as well; the error says why none does.
func inPlace(candidates []*schedule.Schedule) (out []*schedule.Schedule, refused error) {
	for _, s := range candidates {
		if _, err := schedule.InPlace(s); !s.Spec.Kind.InPlace() {
			return nil, err // whatever the algorithm
		} else if err != nil {
			refused = fmt.Errorf("%s: %w", s.Algorithm, err)
			continue
		}
		out = append(out, s)
	}
	if len(out) > 0 {
		refused = nil
	}
	return out, refused
}
