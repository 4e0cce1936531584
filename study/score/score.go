// Package score is the simulator as the planner sees it.
package score

import (
	"errors"
	"fmt"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// Scorer is the simulator as the planner sees it. It compiles each schedule once, and plays it once at a size. What that took is
// counted in each search that asks for it (see Begin), so that no search knows or has spent less for what others have asked before.
type Scorer struct {
	// Limit is how many operations a simulation may play, and as many may the sharing of links take; beyond, estimates and times
	// are planner.ErrTooLarge. 0: any number.
	Limit    int64
	search   search
	topo     *topology.Topology
	profile  *cost.Profile
	bounds   *planner.Bounds
	routes   *topology.Router
	compiled map[within]compiled
	siblings map[string][]*siblings // by algorithm
	played   map[played]outcome
	runs     map[sized]runsAs
	as       As
	longer   Longer
	lost     map[sized]loss
}

// As is what runs in place of a schedule for a size, and is simulated in its place.
type As func(*schedule.Schedule, units.Bytes) (*schedule.Schedule, error)

// Longer is what a schedule takes at a size beyond what the simulator counts, which knows no places in memory, and what is to be said of
// it.
type Longer func(s *schedule.Schedule, size units.Bytes, simulated units.Time) (units.Time, []string)

type loss struct {
	time units.Time
	said []string
}

// sized is a schedule at a size.
type sized struct {
	schedule *schedule.Schedule
	size     units.Bytes
}

type runsAs struct {
	schedule *schedule.Schedule
	err      error
}

// Run has schedules run as something else says from now on, with up to so many slices on their way side by side.
func (s *Scorer) Run(as As, streams int) {
	s.as, s.runs = as, map[sized]runsAs{}
	s.bounds.Streams = streams
}

// Add has times and explanations count what a function says from now on; nil: nothing.
func (s *Scorer) Add(longer Longer) { s.longer, s.lost = longer, map[sized]loss{} }

// loss is what is added to a schedule's time.
func (s *Scorer) loss(x *schedule.Schedule, size units.Bytes, simulated units.Time) loss {
	if s.longer == nil {
		return loss{}
	}
	k := sized{x, size}
	l, ok := s.lost[k]
	if !ok {
		l.time, l.said = s.longer(x, size, simulated)
		s.lost[k] = l
	}
	return l
}

// Streams is how many slices runs have on their way side by side.
func (s *Scorer) Streams() int { return max(s.bounds.Streams, 1) }

// run is what runs in place of a schedule; in a search, one that cannot run is left out as those are that take too long.
func (s *Scorer) run(x *schedule.Schedule, size units.Bytes) (*schedule.Schedule, error) {
	if s.as == nil {
		return x, nil
	}
	k := sized{x, size}
	r, ok := s.runs[k]
	if !ok {
		r.schedule, r.err = s.as(x, size)
		s.runs[k] = r
	}
	return r.schedule, r.err
}

// search is what is known and spent since Begin.
type search struct {
	spent   int64                      // operations that all times took
	sharing map[string]float64         // by algorithm: how many times as much as what it plays its last time took
	tooLong map[*schedule.Schedule]int // given up: pipelines of more slices take too long as well
	plans   map[*schedule.Schedule]compiled
	counted map[*siblings]bool // their compilation
}

// within is a schedule, of which so many connections may be compiled; 0: any number.
type within struct {
	schedule    *schedule.Schedule
	connections int
}

type compiled struct {
	plan *sim.Plan
	kin  *siblings
	err  error
}

// siblings are schedules that are compiled once: the first plan is resliced for the others. Trees in one order are compiled with their
// loops where they have one slice, and without where they have more; plans for copy engines are their own.
type siblings struct {
	first       *schedule.Schedule
	copyEngine  bool
	plan        *sim.Plan
	connections int
	known       map[*schedule.Schedule]bool // whether they are of these
}

// played is a run at a size, within a limit.
type played struct {
	schedule *schedule.Schedule
	size     units.Bytes
	limit    int64
	most     units.Time
}

// outcome is what a run found, and took.
type outcome struct {
	time  units.Time
	spent int64
	err   error
}

// New makes a score for a topology under a profile.
func New(t *topology.Topology, p *cost.Profile) *Scorer {
	s := &Scorer{topo: t, profile: p, bounds: planner.NewBounds(t, p), routes: topology.NewRouter(t),
		compiled: map[within]compiled{}, siblings: map[string][]*siblings{},
		played: map[played]outcome{}}
	s.Begin()
	return s
}

// Begin implements planner.Scorer.
func (s *Scorer) Begin() {
	s.search = search{sharing: map[string]float64{}, tooLong: map[*schedule.Schedule]int{}, plans: map[*schedule.Schedule]compiled{},
		counted: map[*siblings]bool{}}
}

// plan is a schedule's plan, which counts as compiled now unless it or one that it is resliced from already does.
func (s *Scorer) plan(x, valid *schedule.Schedule, connections int) (*sim.Plan, error) {
	c := s.compile(within{x, connections}, valid)
	if errors.Is(c.err, planner.ErrTooLarge) {
		s.search.tooLong[x] = 0
	}
	if c.err == nil && s.search.plans[x].plan == nil {
		s.search.plans[x] = c
		if !s.search.counted[c.kin] {
			s.search.counted[c.kin] = true
			s.search.spent += c.kin.plan.Compiled()
		}
	}
	return c.plan, c.err
}

// compile compiles what is not compiled yet; another schedule, if there is one, is valid.
func (s *Scorer) compile(x within, valid *schedule.Schedule) compiled {
	c, ok := s.compiled[x]
	if ok {
		return c
	}
	defer func() { s.compiled[x] = c }()
	var like *sim.Plan
	for _, k := range s.siblings[x.schedule.Algorithm] {
		if sharePrograms(k.first, x.schedule) {
			like = k.plan
		}
		if k.connections == x.connections && k.has(x.schedule) {
			if p, ok := k.plan.Resliced(x.schedule); ok {
				c = compiled{plan: p, kin: k}
				return c
			}
		}
	}
	p, err := sim.CompileJobs(s.topo, []sim.Job{{Schedule: x.schedule, Valid: valid}}, s.profile, sim.CompileOptions{
		Connections: x.connections, Operations: operationsPerConnection * int64(x.connections), Routes: s.routes, Like: like})
	if errors.Is(err, sim.ErrTooLong) {
		err = planner.ErrTooLarge
	}
	if c = (compiled{plan: p, err: err}); err == nil {
		c.kin = &siblings{x.schedule, x.schedule.Protocol == schedule.CopyEngine, p, x.connections, map[*schedule.Schedule]bool{}}
		s.siblings[x.schedule.Algorithm] = append(s.siblings[x.schedule.Algorithm], c.kin)
	}
	return c
}

// has reports whether a schedule is compiled as these are, which is looked at once.
func (k *siblings) has(x *schedule.Schedule) bool {
	has, known := k.known[x]
	if !known {
		has = k.alike(x)
		k.known[x] = has
	}
	return has
}

func (k *siblings) alike(x *schedule.Schedule) bool {
	if k.copyEngine != (x.Protocol == schedule.CopyEngine) || !k.first.SameButSlices(x) {
		return false
	}
	looped := x.Ordered() > 0
	for i := range x.Channels {
		if looped && (x.Channels[i].Slices == 1) != (k.first.Channels[i].Slices == 1) {
			return false
		}
	}
	return true
}

// sharePrograms reports whether all channels of two schedules have the same programs.
func sharePrograms(a, b *schedule.Schedule) bool {
	for _, s := range []*schedule.Schedule{a, b} {
		for i := range s.Channels {
			if !s.Channels[i].SharesPrograms(&a.Channels[0]) {
				return false
			}
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
	work := x.Ordered()
	if c, ok := s.search.plans[x]; ok {
		work = c.plan.Work()
	} else if _, given := s.search.tooLong[x]; given {
		return max(work, s.Limit) // more than that
	}
	return int64(float64(work) * max(1, s.search.sharing[x.Algorithm]))
}

// Foreseen implements planner.Scorer: every slice of a channel takes what one of the other's does, to compile once, and to play.
func (s *Scorer) Foreseen(x, like *schedule.Schedule) int64 {
	_, known := s.search.plans[x]
	c, alike := s.search.plans[like]
	if known || !alike || s.givenUp(x) {
		return s.Work(x)
	}
	work := s.Work(like) * slicesOf(x) / slicesOf(like)
	for _, k := range s.siblings[x.Algorithm] {
		if s.search.counted[k] && k.has(x) {
			return work
		}
	}
	return work + c.kin.plan.Compiled()*int64(len(x.Channels))/int64(len(like.Channels))
}

// slicesOf are those of all channels, and pieces of slices.
func slicesOf(x *schedule.Schedule) (n int64) {
	for i := range x.Channels {
		n += int64(x.Channels[i].Depth())
	}
	return n
}

// Spent implements planner.Scorer.
func (s *Scorer) Spent() int64 { return s.search.spent }

// within is the plan of what runs in place of a valid schedule, if it may be played.
func (s *Scorer) within(x, valid *schedule.Schedule) (*sim.Plan, error) {
	if s.Limit > 0 && s.givenUp(x) {
		if _, known := s.search.tooLong[x]; !known {
			s.search.tooLong[x] = x.Channels[0].Slices
		}
		return nil, planner.ErrTooLarge
	}
	p, err := s.plan(x, valid, s.connections())
	if err == nil && s.Limit > 0 && p.Work() > s.Limit {
		return nil, planner.ErrTooLarge
	}
	return p, err
}

// givenUp reports whether a schedule, or the same in as few or fewer slices, took too long: by another protocol there are as many messages.
func (s *Scorer) givenUp(x *schedule.Schedule) bool {
	if _, given := s.search.tooLong[x]; given {
		return true
	}
	for y, slices := range s.search.tooLong {
		if y.Algorithm == x.Algorithm && slices <= x.Channels[0].Slices && x.SameButSlices(y) {
			return true
		}
	}
	return false
}

// Estimate implements planner.Scorer.
func (s *Scorer) Estimate(valid *schedule.Schedule, size units.Bytes) (units.Time, error) {
	x, err := s.run(valid, size)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", planner.ErrTooLarge, err)
	}
	p, err := s.within(x, valid)
	if err != nil {
		return 0, err
	}
	return p.LowerEstimate(size), nil
}

// Time implements planner.Scorer. A run that cannot end within a time is given up.
func (s *Scorer) Time(valid *schedule.Schedule, size units.Bytes, most units.Time) (units.Time, error) {
	x, err := s.run(valid, size)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", planner.ErrTooLarge, err)
	}
	p, err := s.within(x, valid)
	if err != nil {
		return 0, err
	}
	run := played{x, size, s.Limit, most}
	o, ok := s.played[run]
	if !ok {
		p.Limited(s.Limit)
		o.time, o.err = p.TimeWithin(size, most)
		o.spent = p.Spent()
		s.played[run] = o
	}
	s.search.spent += o.spent
	if o.time <= most { // not of a run that was given up
		s.search.sharing[x.Algorithm] = float64(o.spent) / float64(max(1, p.Work()))
	}
	if errors.Is(o.err, sim.ErrTooLong) {
		s.search.tooLong[x] = x.Channels[0].Slices
		return 0, planner.ErrTooLarge
	}
	if o.err != nil || o.time > most {
		return o.time, o.err
	}
	lost := s.loss(x, size, o.time)
	if lost.time > 0 { // each operation was looked at once more
		s.search.spent += x.Ordered()
	}
	return o.time + lost.time, nil
}

// Explain implements planner.Scorer. It plays whatever it takes, but compiles no more than the default budget allows, or the limit.
func (s *Scorer) Explain(x *schedule.Schedule, size units.Bytes) (planner.Prediction, error) {
	x, err := s.run(x, size)
	if err != nil {
		return planner.Prediction{}, err
	}
	c := s.compile(within{x, s.connections()}, nil)
	if errors.Is(c.err, planner.ErrTooLarge) {
		c = s.compile(within{x, int(max(s.Limit, int64(planner.DefaultBudget)) / operationsPerConnection)}, nil)
	}
	if c.err != nil {
		return planner.Prediction{}, c.err
	}
	c.plan.Limited(0)
	r, err := c.plan.Run(size, sim.Options{})
	if err != nil {
		return planner.Prediction{}, err
	}
	lost := s.loss(x, size, r.Time)
	return planner.Prediction{Time: r.Time + lost.time, Bottleneck: r.Bottleneck, Warnings: append(r.Warnings, lost.said...)}, nil
}
