package main

import (
	"errors"
	"fmt"
	"slices"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
	"railyard/study"
	"railyard/study/kernels"
)

// scenario is what simulate plays: jobs on a machine, with what may slow them down. What
// it is compared with is another scenario that lacks one of those.
type scenario struct {
	topo       *topology.Topology
	machine    *cost.Machine
	profile    *cost.Profile // what plans cost there
	jobs       []*job
	counts     *countMatrix // of the first job's all_to_allv, where a file says them
	compile    sim.CompileOptions
	everyLink  bool // list them one by one
	stragglers *stragglers
	baseline   study.Baseline     // of the first job, where all ranks run it
	delays     []units.Time       // of stragglers, for the seed at hand
	planned    *schedule.Schedule // where parts have failed: the first job's on the whole machine, if it was planned for that

	plannedIdle *schedule.Schedule // the same where there is background traffic: on the idle machine
}

// What simulate compiles at most, in about 2 GB: equivalent ranks count once, unless they are played apart.
const mostConnections, mostOperations = 2_000_000, 100_000_000

// ofTooLong says what to do where that, or what is played, is too much.
func ofTooLong(err error) error {
	if !errors.Is(err, sim.ErrTooLong) {
		return err
	}
	return fmt.Errorf("%w: more than %d connections or %d operations; equivalent ranks count once, but each by itself with --how no-fold "+
		"or --ecmp, where ranks start late and where nodes differ: leave that out, or take fewer --nodes",
		err, mostConnections, mostOperations)
}

// plan compiles the jobs.
func (x *scenario) plan() (*sim.Plan, error) {
	jobs := make([]sim.Job, len(x.jobs))
	for i, j := range x.jobs {
		jobs[i] = j.Job
	}
	return sim.CompileJobs(x.topo, jobs, x.profile, x.compile)
}

func (x *scenario) sizes() []units.Bytes {
	out := make([]units.Bytes, len(x.jobs))
	for i, j := range x.jobs {
		out[i] = j.size
	}
	return out
}

// time is the first job's.
func (x *scenario) time() (units.Time, error) {
	p, err := x.plan()
	if err != nil {
		return 0, err
	}
	return x.timeOf(p)
}

func (x *scenario) timeOf(p *sim.Plan) (units.Time, error) {
	r, _, err := x.run(p, sim.Options{Delays: x.delays})
	if err != nil {
		return 0, err
	}
	return r.Ends[0], nil
}

// run plays the jobs; each takes longer by what its places in memory cost, which is returned for each, and its end with it.
func (x *scenario) run(p *sim.Plan, o sim.Options) (*sim.Result, []units.Time, error) {
	r, err := p.RunJobs(x.sizes(), o)
	if err != nil {
		return nil, nil, err
	}
	longer := make([]units.Time, len(x.jobs))
	for i := range x.jobs {
		var said []string
		if longer[i], said, err = x.longer(i, r.Ends[i]); err != nil {
			return nil, nil, err
		}
		r.Ends[i] += longer[i]
		r.Warnings = append(r.Warnings, said...)
	}
	return r, longer, nil
}

// longer is what places in memory cost a job that are not aligned, and what is said of it.
func (x *scenario) longer(i int, simulated units.Time) (units.Time, []string, error) {
	j := x.jobs[i]
	part, _, err := partOf(x.topo, j.Ranks)
	if err != nil {
		return 0, nil, err
	}
	c := study.Collective{Counts: j.Schedule.Spec.Counts}
	if i == 0 && x.counts != nil {
		c.Unit = x.counts.element
	}
	longer := kernels.Longer(part, x.profile, c.Element)
	if longer == nil {
		return 0, nil, nil
	}
	t, said := longer(j.Schedule, j.size, simulated)
	return t, said, nil
}

// but is the same with a change.
func (x scenario) but(change func(*scenario)) *scenario {
	change(&x)
	return &x
}

// fluid is the same on a network whose ports lose nothing where messages compete.
func (x *scenario) fluid() *scenario { return x.but(func(y *scenario) { y.compile.Congested = 0 }) }

// alone is the same with only one of the jobs.
func (x *scenario) alone(i int) *scenario {
	return x.but(func(y *scenario) { y.jobs = x.jobs[i : i+1] })
}

// idle is the same without the traffic of others.
func (x *scenario) idle() *scenario {
	y := *x
	y.topo = x.topo.Idle()
	if x.plannedIdle != nil {
		y.jobs = slices.Clone(x.jobs)
		first := *x.jobs[0]
		first.Schedule = x.plannedIdle
		y.jobs[0] = &first
	}
	return &y
}

// healthy is the same on the whole machine: each job on the ranks that it has, but for
// one that was planned for all of them.
func (x *scenario) healthy() *scenario {
	y := *x
	y.topo = x.topo.Healthy()
	y.jobs = slices.Clone(x.jobs)
	for i := range y.jobs {
		y.jobs[i] = x.onHealthy(x.jobs[i])
	}
	if x.planned != nil {
		y.jobs[0].Schedule, y.jobs[0].Ranks = x.planned, nil
	}
	if x.delays != nil {
		y.delays = make([]units.Time, y.topo.NumRanks())
		for r, d := range x.delays {
			y.delays[x.topo.OriginalRank(r)] = d
		}
	}
	return &y
}

func (x *scenario) onHealthy(j *job) *job {
	out := *j
	if len(x.topo.LostRanks()) == 0 {
		return &out
	}
	out.Ranks = make([]int, j.Schedule.Spec.Ranks)
	for i := range out.Ranks {
		r := i
		if j.Ranks != nil {
			r = j.Ranks[i]
		}
		out.Ranks[i] = x.topo.OriginalRank(r)
	}
	return &out
}
