package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"railyard/internal/outfile"
	"railyard/model/trace"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/sim"
	"railyard/study"
)

// document plays the scenario, and those that it is compared with.
func (x *scenario) document(cmd *cobra.Command, o *simulateFlags) (_ *report.SimulateDocument, err error) {
	defer func() { err = ofTooLong(err) }()
	plan, err := x.plan()
	if err != nil {
		return nil, err
	}
	r, longer, err := x.run(plan, sim.Options{Trace: o.Trace != "", Delays: x.delays})
	if err != nil {
		return nil, err
	}
	d := x.describe(plan, r)
	d.MisalignedUS = longer[0].Microseconds()
	for _, part := range []func() error{
		func() error { return x.split(d, plan, r.Ends[0], longer[0]) },
		func() error { return x.compareOthers(d, r.Ends[0]) },
		func() error { return x.compareJobs(d, plan, r) },
		func() error { return x.compareHashed(d, plan, r.Ends[0]) },
		func() error { return x.repeat(cmd, d, plan, o, longer[0]) },
	} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	if d.Stragglers != nil {
		d.Stragglers.Spec = o.Stragglers.Specs
		if x.stragglers.random() {
			d.Stragglers.Seed = &o.Stragglers.Seed
		}
	}
	if o.Trace != "" {
		if n := len(r.Trace.Shown()); n < r.Trace.Ranks && r.Trace.Folded() {
			d.Warnings = append(d.Warnings, fmt.Sprintf("the trace shows %d of %d ranks: each stands for those that are equivalent to it",
				n, r.Trace.Ranks))
		}
		err = outfile.Write(o.Trace, func(w io.Writer) error { return trace.WriteChrome(w, r.Trace) })
	}
	return d, err
}

// describe is what the run itself says.
func (x *scenario) describe(plan *sim.Plan, r *sim.Result) *report.SimulateDocument {
	j := x.jobs[0]
	t := r.Ends[0]
	alg, bus := study.Bandwidths(j.Schedule.Spec, j.size, t)
	d := &report.SimulateDocument{Schema: "railyard.simulate/v1", Topology: x.topo.Name(), Profile: x.profile.Name,
		Schedule:   planner.Name(j.Schedule),
		Collective: j.Schedule.Spec.Kind.String(), SizeBytes: int64(j.size), TimeUS: t.Microseconds(), AlgBW: alg, BusBW: bus,
		Sends: r.Sends, Events: r.Events, Bottleneck: r.Bottleneck, RankBalance: r.Balance.Ranks, LinkBalance: r.Balance.Links,
		Links: linkLoads(plan, x.topo, r.Links, x.everyLink), Warnings: append([]string{}, r.Warnings...)}
	for _, j := range x.jobs {
		if j.elsewise {
			d.Warnings = append(d.Warnings, "the plan was made for another topology ("+j.Schedule.TopologyName+")")
		}
	}
	for _, f := range x.topo.Faults() {
		d.Faults = append(d.Faults, f.String())
	}
	return d
}

// split divides the time by cause. What other jobs cost is contention; what late ranks
// cost stands apart.
func (x *scenario) split(d *report.SimulateDocument, plan *sim.Plan, t, longer units.Time) error {
	prompt := t
	var err error
	if x.delays != nil {
		if prompt, err = x.but(func(y *scenario) { y.delays = nil }).timeOf(plan); err != nil {
			return err
		}
		d.DelayUS = (t - prompt).Microseconds()
		d.Stragglers = stragglersCost(x.delays, t, prompt)
	}
	if len(x.jobs) > 1 || x.compile.Flat {
		one := x.alone(0)
		one.compile.Flat = false
		if plan, err = one.plan(); err != nil {
			return err
		}
	}
	s, err := plan.Split(x.jobs[0].size, prompt-longer)
	d.LaunchUS, d.AlphaUS, d.BetaUS, d.ContentionUS = s.Launch.Microseconds(), s.Alpha.Microseconds(), s.Beta.Microseconds(),
		s.Contention.Microseconds()
	return err
}

func stragglersCost(delays []units.Time, t, prompt units.Time) *report.Stragglers {
	sum := 0.0
	for _, d := range delays {
		sum += d.Microseconds()
	}
	return &report.Stragglers{LatestUS: slices.Max(delays).Microseconds(), MeanUS: sum / float64(len(delays)),
		PromptUS: prompt.Microseconds(), Slowdown: slowdown(t, prompt)}
}

func slowdown(t, than units.Time) float64 { return float64(t) / float64(max(than, 1)) }

// compareOthers adds the times on the whole machine, without the traffic of others and without congestion, where there are such.
func (x *scenario) compareOthers(d *report.SimulateDocument, t units.Time) error {
	d.Congested = x.compile.Congested
	for _, c := range []struct {
		differs      bool
		other        func() *scenario
		us, slowdown *float64
	}{
		{len(x.topo.Faults()) > 0, x.healthy, &d.HealthyUS, &d.Slowdown},
		{x.topo.Idle() != x.topo, x.idle, &d.IdleUS, &d.LoadSlowdown},
		{x.compile.Congested != 0, x.fluid, &d.FluidUS, &d.CongestedSlowdown},
	} {
		if !c.differs {
			continue
		}
		other, err := c.other().time()
		if err != nil {
			return err
		}
		*c.us, *c.slowdown = other.Microseconds(), slowdown(t, other)
	}
	return nil
}

// compareJobs adds the jobs, and each of them alone.
func (x *scenario) compareJobs(d *report.SimulateDocument, plan *sim.Plan, r *sim.Result) error {
	if len(x.jobs) == 1 {
		return nil
	}
	for i, j := range x.jobs {
		alone, err := x.alone(i).time()
		if err != nil {
			return err
		}
		ranks := j.Ranks
		if ranks == nil {
			for k := range x.topo.NumRanks() {
				ranks = append(ranks, k)
			}
		}
		d.Jobs = append(d.Jobs, report.SimulatedJob{Name: j.name, Schedule: planner.Name(j.Schedule),
			Collective: j.Schedule.Spec.Kind.String(), Ranks: units.Ranges(ranks, ","),
			SizeBytes: int64(j.size), TimeUS: r.Ends[i].Microseconds(), AloneUS: alone.Microseconds(), Slowdown: slowdown(r.Ends[i],
				alone)})
	}
	if s := r.Shared; s != nil {
		d.Shared = &report.SharedLink{ID: plan.LinkName(s.Load), Class: x.topo.Class(s.Load.Link).Name, Utilisation: s.Load.Utilisation,
			JobBytes: s.Jobs}
	}
	return nil
}

// compareHashed adds the time on a network that spreads.
func (x *scenario) compareHashed(d *report.SimulateDocument, plan *sim.Plan, t units.Time) error {
	h := x.compile.Hashing
	if h == nil {
		return nil
	}
	spread, err := x.but(func(y *scenario) { y.compile.Hashing = nil }).time() // transfers are spread
	if err != nil {
		return err
	}
	c, err := plan.Collisions()
	d.Hashed = &report.Hashed{Seed: h.Seed, QPs: h.QPs, SpreadUS: spread.Microseconds(), Slowdown: slowdown(t, spread),
		Transfers: c.Transfers, Worst: c.Worst, Mean: c.Mean, Ideal: c.Spread}
	if c.Transfers > 0 {
		d.Hashed.Fullest = plan.LinkName(c.Fullest)
	}
	return err
}
