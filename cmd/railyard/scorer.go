package main

import (
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// scorer is the simulator as the planner sees it. It compiles each schedule once.
type scorer struct {
	topo    *topology.Topology
	profile *cost.Profile
	bounds  *planner.Bounds
	plans   map[*schedule.Schedule]*sim.Plan
}

func newScorer(t *topology.Topology, p *cost.Profile) *scorer {
	return &scorer{topo: t, profile: p, bounds: planner.NewBounds(t, p), plans: map[*schedule.Schedule]*sim.Plan{}}
}

func (s *scorer) plan(x *schedule.Schedule) (*sim.Plan, error) {
	if p, ok := s.plans[x]; ok {
		return p, nil
	}
	p, err := sim.Compile(s.topo, x, s.profile)
	if err == nil {
		s.plans[x] = p
	}
	return p, err
}

// Bound implements planner.Scorer.
func (s *scorer) Bound(x *schedule.Schedule, size units.Bytes) units.Time {
	return s.bounds.Time(x, size)
}

// Estimate implements planner.Scorer.
func (s *scorer) Estimate(x *schedule.Schedule, size units.Bytes) (units.Time, error) {
	p, err := s.plan(x)
	if err != nil {
		return 0, err
	}
	return p.LowerEstimate(size), nil
}

// Time implements planner.Scorer.
func (s *scorer) Time(x *schedule.Schedule, size units.Bytes) (units.Time, error) {
	p, err := s.plan(x)
	if err != nil {
		return 0, err
	}
	return p.Time(size)
}

// Explain implements planner.Scorer.
func (s *scorer) Explain(x *schedule.Schedule, size units.Bytes) (planner.Prediction, error) {
	p, err := s.plan(x)
	if err != nil {
		return planner.Prediction{}, err
	}
	r, err := p.Run(size, sim.Options{})
	if err != nil {
		return planner.Prediction{}, err
	}
	return planner.Prediction{Time: r.Time, Bottleneck: r.Bottleneck, Warnings: r.Warnings}, nil
}
