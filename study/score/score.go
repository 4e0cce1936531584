// Package score is the simulator as the planner sees it.
package score

import (
	"errors"
	"reflect"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// Scorer is the simulator as the planner sees it. It compiles each schedule once.
type Scorer struct {
	// Limit is how many operations a simulation may play, and as many may the sharing of links take; beyond, estimates and times
	// are planner.ErrTooLarge. 0: any number.
	Limit   int64
	spent   int64                      // operations that all times took
	sharing map[string]float64         // by algorithm: how many times as much as what it plays its last time took
	tooLong map[*schedule.Schedule]int // given up: pipelines of more slices take too long as well
	topo    *topology.Topology
	profile *cost.Profile
	bounds  *planner.Bounds
	plans   map[*schedule.Schedule]*sim.Plan
	made    map[string][]*schedule.Schedule // compiled, by algorithm
}

// New makes a score for a topology under a profile.
func New(t *topology.Topology, p *cost.Profile) *Scorer {
	return &Scorer{topo: t, profile: p, bounds: planner.NewBounds(t, p), plans: map[*schedule.Schedule]*sim.Plan{},
		made: map[string][]*schedule.Schedule{}, tooLong: map[*schedule.Schedule]int{}, sharing: map[string]float64{}}
}

func (s *Scorer) plan(x *schedule.Schedule, connections int) (*sim.Plan, error) {
	if p, ok := s.plans[x]; ok {
		return p, nil
	}
	for _, y := range s.made[x.Algorithm] {
		if !sameButSlices(x, y) {
			continue
		}
		if p, ok := s.plans[y].Resliced(x); ok {
			s.plans[x] = p
			return p, nil
		}
	}
	p, err := sim.CompileJobs(s.topo, []sim.Job{{Schedule: x}}, s.profile, sim.CompileOptions{Connections: connections,
		Operations: operationsPerConnection * int64(connections)})
	if errors.Is(err, sim.ErrTooLong) {
		s.tooLong[x] = 0
		err = planner.ErrTooLarge
	}
	if err == nil {
		s.plans[x], s.made[x.Algorithm] = p, append(s.made[x.Algorithm], x)
		s.spent += p.Compiled()
	}
	return p, err
}

// sameButSlices reports whether schedules differ in nothing but the number of slices, and in their protocol.
func sameButSlices(a, b *schedule.Schedule) bool {
	if len(a.Channels) != len(b.Channels) || !reflect.DeepEqual(a.Spec, b.Spec) || !reflect.DeepEqual(a.Paths, b.Paths) {
		return false
	}
	for i := range a.Channels {
		x, y := a.Channels[i], b.Channels[i]
		x.Slices = y.Slices
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// Bound implements planner.Scorer.
func (s *Scorer) Bound(x *schedule.Schedule, size units.Bytes) units.Time {
	return s.bounds.Time(x, size)
}

const operationsPerConnection = 4

// connections is how many of them may be compiled: each takes as long as some operations, and
// memory that those do not take.
func (s *Scorer) connections() int { return int(s.Limit / operationsPerConnection) }

// Work implements planner.Scorer.
func (s *Scorer) Work(x *schedule.Schedule) int64 {
	sharing := max(1, s.sharing[x.Algorithm])
	if p, ok := s.plans[x]; ok {
		return int64(float64(p.Work()) * sharing)
	}
	if _, given := s.tooLong[x]; given {
		return max(x.Ordered(), int64(s.connections()))
	}
	return int64(float64(x.Ordered()) * sharing)
}

// Spent implements planner.Scorer.
func (s *Scorer) Spent() int64 { return s.spent }

// within is a schedule's plan, if it may be played.
func (s *Scorer) within(x *schedule.Schedule) (*sim.Plan, error) {
	if s.Limit > 0 && s.givenUp(x) {
		return nil, planner.ErrTooLarge
	}
	p, err := s.plan(x, s.connections())
	if err == nil && s.Limit > 0 && p.Work() > s.Limit {
		return nil, planner.ErrTooLarge
	}
	return p, err
}

// givenUp reports whether a schedule, or the same in fewer slices, took too long; to compile, in any protocol.
func (s *Scorer) givenUp(x *schedule.Schedule) bool {
	if _, given := s.tooLong[x]; given {
		return true
	}
	for y, slices := range s.tooLong {
		if y.Algorithm == x.Algorithm && (slices == 0 || y.Protocol == x.Protocol) && slices < x.Channels[0].Slices && sameButSlices(x, y) {
			return true
		}
	}
	return false
}

// Estimate implements planner.Scorer.
func (s *Scorer) Estimate(x *schedule.Schedule, size units.Bytes) (units.Time, error) {
	p, err := s.within(x)
	if err != nil {
		return 0, err
	}
	t := p.LowerEstimate(size)
	s.spent += p.Spent()
	return t, nil
}

// Time implements planner.Scorer.
func (s *Scorer) Time(x *schedule.Schedule, size units.Bytes) (units.Time, error) {
	p, err := s.within(x)
	if err != nil {
		return 0, err
	}
	p.Limited(s.Limit)
	t, err := p.Time(size)
	s.spent += p.Spent()
	s.sharing[x.Algorithm] = float64(p.Spent()) / float64(max(1, p.Work()))
	if errors.Is(err, sim.ErrTooLong) {
		s.tooLong[x] = x.Channels[0].Slices
		return 0, planner.ErrTooLarge
	}
	return t, err
}

// Explain implements planner.Scorer. It plays whatever it takes.
func (s *Scorer) Explain(x *schedule.Schedule, size units.Bytes) (planner.Prediction, error) {
	p, err := s.plan(x, 0)
	if err != nil {
		return planner.Prediction{}, err
	}
	p.Limited(0)
	r, err := p.Run(size, sim.Options{})
	if err != nil {
		return planner.Prediction{}, err
	}
	return planner.Prediction{Time: r.Time, Bottleneck: r.Bottleneck, Warnings: r.Warnings}, nil
}
