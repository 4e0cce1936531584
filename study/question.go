package study

import (
	"errors"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// Asked is what a question is made of.
type Asked struct {
	Topology   *topology.Topology // with its changes, faults and the traffic of others
	Site       Site               // where it comes from, as far as that is known: what was measured there is put beside
	Collective Collective
	Sizes      []units.Bytes // as nccl-tests counts them, ascending
	Machine    *cost.Machine // what railyard's plans cost, and NCCL's kernels
	Library    Library       // how the communication library is run
	Search     Search
	Detail     Detail
}

// Search narrows the choice of schedules; the zero Search leaves all of them.
type Search struct {
	Algorithm        string              // "": all
	Protocols        []schedule.Protocol // none: all that the machine has the costs of
	Channels, Slices int                 // 0: as the planner chooses
	InPlace          bool                // only what also runs with input and output in one memory
	Budget           planner.Budget      // work of the plan of a size; 0: planner.DefaultBudget
}

// Detail is what an answer has besides the plans.
type Detail struct {
	Considered bool // what limits each schedule that was considered
	Pareto     bool // schedules that no other beats in both latency and bandwidth
	Baseline   bool // what the communication library takes
	Changes    bool // the same on the machine without its faults, and without the traffic of others
}

// Question is a collective on a machine, whole and valid. It is immutable.
type Question struct {
	asked Asked
	spec  collective.Spec
	costs *cost.Profile // of railyard's plans
	limit int64         // of each simulation, see Search.limit
}

// New makes a question; the error says what is missing or does not fit.
func New(a Asked) (*Question, error) {
	switch {
	case a.Topology == nil:
		return nil, errors.New("a question needs a topology")
	case a.Machine == nil:
		return nil, errors.New("a question needs the machine whose costs apply")
	case len(a.Sizes) == 0:
		return nil, errors.New("a question needs a size")
	}
	if i := slices.IndexFunc(a.Sizes, func(s units.Bytes) bool { return s <= 0 }); i >= 0 && a.Collective.Kind != collective.Barrier {
		return nil, fmt.Errorf("size %v: must be positive", a.Sizes[i])
	}
	spec, err := a.Collective.Over(a.Topology.NumRanks())
	if err != nil {
		return nil, err
	}
	a.Sizes, a.Search.Protocols = slices.Clone(a.Sizes), slices.Clone(a.Search.Protocols)
	costs := a.Machine.Own(a.Topology)
	if len(a.Search.Protocols) == 0 {
		a.Search.Protocols = protocols(costs)
	}
	return &Question{a, spec, costs, a.Search.limit()}, nil
}

// protocols are those that a profile has the costs of.
func protocols(p *cost.Profile) []schedule.Protocol {
	var out []schedule.Protocol
	for _, name := range p.Protocols() {
		out = append(out, schedule.Protocol(name))
	}
	return out
}

// Topology is the machine.
func (q *Question) Topology() *topology.Topology { return q.asked.Topology }

// Spec is the collective over the machine's ranks.
func (q *Question) Spec() collective.Spec { return q.spec }

// Machine is whose kernels of NCCL are the baseline; nil: the topology's.
func (q *Question) Machine() *cost.Machine { return q.asked.Machine }

// Costs are those of railyard's plans.
func (q *Question) Costs() *cost.Profile { return q.costs }

// on asks the same about another state of the machine, of a collective that fits it.
func (q *Question) on(t *topology.Topology, c Collective) (*Question, error) {
	a := q.asked
	a.Topology, a.Collective, a.Detail = t, c, Detail{}
	return New(a)
}

// ofFew is how many times the default budget a candidate may take where there are few: an algorithm or slices are asked for, or the plan of
// another state of the machine is kept.
const ofFew = int64(8 * planner.DefaultBudget)

// limit bounds the simulation of a candidate (see score.Scorer.Limit).
func (s *Search) limit() int64 {
	switch {
	case s.Budget > 0:
		return int64(s.Budget)
	case s.Algorithm != "" || s.Slices > 0:
		return ofFew
	}
	return int64(planner.DefaultBudget)
}

func (q *Question) planOptions(progress Progress) planner.PlanOptions {
	s := &q.asked.Search
	o := planner.PlanOptions{Algorithm: s.Algorithm, Protocols: s.Protocols, Why: q.asked.Detail.Considered, InPlace: s.InPlace,
		Build: planner.Options{Channels: s.Channels, Slices: s.Slices, Budget: s.Budget}}
	if progress != nil {
		o.Progress = progress.Set
		o.Better = func(s planner.Standing) {
			progress.Say(fmt.Sprintf("%v: %s, %.1f %% of the bound", s.Size, planner.Name(s.Schedule), 100*s.OfBound()))
		}
	}
	return o
}
