package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/capacity/whatif"
	"railyard/cmd/internal/cli"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
)

// whatIfFlags say what is asked of which machine, and what is changed.
type whatIfFlags struct {
	Training trainingFlags `optional:"workload"` // its topology's faults and loads are part of the change
	Coll     collFlags     `without:"counts counts-of"`
	Sizes    cli.SizeFlags
	Format   cli.FormatFlag
	Change   changeFlags
	Guard    guardFlags
	Prices   priceFlags
	Place    placeFlags
}

// changeFlags say what is changed, beside faults and loads.
type changeFlags struct {
	To     string   `flag:"to"`
	Set    []string `flag:"change"`
	Faster []string `flag:"faster"`
	With   []string `flag:"with"`
}

// Run compares before with after, or places a job.
func (f *whatIfFlags) Run(cmd *cobra.Command, _ []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("job") {
		return f.limits(cmd)
	}
	return f.run(cmd)
}

func (f *whatIfFlags) check(cmd *cobra.Command) error {
	changed, c, t := cmd.Flags().Changed, &f.Change, &f.Training
	if changed("job") {
		if err := f.Place.check(cmd); err != nil {
			return err
		}
	} else {
		if err := cli.NoEffect(cmd, "without --job", "within"); err != nil {
			return err
		}
		if c.To == "" && len(c.Set)+len(c.Faster)+len(c.With)+len(t.Topo.Fail)+len(t.Topo.Slow)+len(t.Topo.Loads) == 0 {
			return cli.Usagef("nothing changes: give --to, --change, --faster, --with, --load, --fail, --slow or --job")
		}
	}
	if (t.Workload != "") == changed("collective") {
		return cli.Usagef("give either a workload (-w) or a collective (-c)")
	}
	idle := cli.NoEffect(cmd, "on a collective: leave it out, or ask about a workload", "gpu", "runtime", "workload-set", "layout", "fix")
	if t.Workload != "" {
		idle = cli.NoEffect(cmd, "on a workload: leave it out, or ask about a collective", append(cli.RangeFlags, "size", "root")...)
	}
	return errors.Join(idle, f.Prices.check(), f.Guard.check(cmd))
}

func (f *whatIfFlags) run(cmd *cobra.Command) error {
	before := f.Training.Topo
	before.Fail, before.Slow, before.Loads = nil, nil, nil
	a, err := before.load()
	if err != nil {
		return err
	}
	after, err := f.changed(a)
	if err != nil {
		return err
	}
	b, err := after.load()
	if err != nil {
		return err
	}
	d := &report.WhatIfDocument{Schema: "railyard.what-if/v1", Topology: a.Name(), Changed: b.Name(), GPUs: a.NumRanks(),
		After: b.NumRanks(), Notes: []string{}}
	subject := &subject{flags: f, cmd: cmd, before: before, a: a}
	if f.Training.Workload != "" {
		err = subject.train(d, after)
	} else {
		err = subject.collect(d, b)
	}
	if err != nil {
		return err
	}
	if d.Goodput, err = f.Guard.goodput(subject, d, a, b); err != nil {
		return err
	}
	d.Notes = append(d.Notes, sharedAdapters(b)...)
	if err := f.Prices.difference(d, a, b, f.Change.Faster, cmd.Flags().Changed("prices")); err != nil {
		return err
	}
	return f.Format.Emit(cmd, d)
}

// changed is the topology after the change.
func (f *whatIfFlags) changed(a *topology.Topology) (topoFlags, error) {
	t := f.Training.Topo
	if f.Change.To != "" {
		name, nodes, err := cutNodes(f.Change.To)
		if err != nil {
			return t, cli.Usagef("--to %s: write TOPOLOGY or TOPOLOGY:NODES: %v", f.Change.To, err)
		}
		t.Name, t.Nodes, t.Set = name, cmp.Or(nodes, t.Nodes), nil
	}
	t.Set = slices.Concat(t.Set, f.Change.Set)
	t.faster = f.Change.Faster
	for _, text := range f.Change.With {
		list, err := f.secondJob(text, a)
		if err != nil {
			return t, err
		}
		t.traffic = append(t.traffic, list...)
	}
	return t, nil
}

// secondJob is the load of a collective that runs all the time.
func (f *whatIfFlags) secondJob(text string, t *topology.Topology) ([]topology.Background, error) {
	spec, err := parseJob(text, 64*units.MiB)
	if err != nil {
		return nil, err
	}
	if spec.file != "" {
		return nil, cli.Usagef("--with %s: name a collective; for a plan, give --load what `railyard simulate --plan %s --format json` "+
			"writes", text, spec.file)
	}
	m, err := f.Training.Profile.machine(t)
	if err != nil {
		return nil, err
	}
	j, err := planJob(spec, t, m, nil)
	if err != nil {
		return nil, fmt.Errorf("--with %s: %w", text, err)
	}
	return loadOf(t, m.Own(t), j)
}

// subject is what the question is about.
type subject struct {
	flags    *whatIfFlags
	cmd      *cobra.Command
	before   topoFlags
	a        *topology.Topology
	slowdown func(part topoFlags) (float64, error) // with the plan kept; 0: it does not run
}

// predictor is one for another topology, and the workload.
func (s *subject) predictor(t topoFlags) (*step.Predictor, *workload.Workload, error) {
	x := s.flags.Training
	x.Topo = t
	return x.load()
}

// train asks about a workload.
func (s *subject) train(d *report.WhatIfDocument, after topoFlags) error {
	p, w, err := s.predictor(s.before)
	if err != nil {
		return err
	}
	l, _, err := s.flags.Training.best(s.cmd, p, w)
	if err != nil {
		return err
	}
	q, _, err := s.predictor(after)
	if err != nil {
		return err
	}
	space := search.Space{GlobalBatch: l.GlobalBatch, Zero: -1}
	if s.flags.Training.Layout.Text == "" {
		if space, err = s.flags.Training.Layout.space(s.cmd); err != nil {
			return err
		}
	}
	space.Narrow = true
	m := whatif.Machines{Before: p, After: q, Free: s.flags.Training.Layout.Text == ""}
	if s.flags.Change.To == "" {
		left := s.flags.Training
		left.Topo = after
		m.Part = left.part(q.Machine().Topology)
	}
	bar := cli.NewProgress(s.cmd.ErrOrStderr(), "layouts")
	r, err := whatif.Train(s.cmd.Context(), m, w, l, space, search.Options{Top: 1, Progress: bar.Set})
	bar.Finish()
	if err != nil {
		return err
	}
	s.slowdown = func(t topoFlags) (float64, error) {
		kept, err := s.flags.Training.onWhatIsLeft(t, r.Before)
		if kept == nil {
			return 0, err
		}
		return max(whatif.Slowdown(r.Before, kept), 1), nil
	}
	d.Subject, d.By = w.Name, p.Runtime()
	if then := q.Runtime(); then != d.By {
		d.By += ", then " + then
	}
	d.Rows = []report.WhatIfRow{trainingRow(r, w.Unit)}
	d.Notes = slices.Concat(d.Notes, s.flags.Training.Layout.changed(w, &l), trainingNotes(r))
	return nil
}

// onWhatIsLeft is a step with its layout kept on a machine some parts of which have failed; nil where the job stops: GPUs are lost or
// no longer reach one another.
func (f trainingFlags) onWhatIsLeft(t topoFlags, whole *step.Result) (*step.Result, error) {
	f.Topo = t
	p, w, err := f.load()
	if err != nil {
		return nil, unlessUnreachable(err)
	}
	if p.Machine().Topology.NumRanks() < whole.Layout.Ranks() {
		return nil, nil
	}
	return step.Run(p, w, whole.Layout, step.Options{})
}

// unlessUnreachable is what else is wrong than that failures part the machine, or leave no GPU.
func unlessUnreachable(err error) error {
	var cut topology.Unreachable
	if errors.As(err, &cut) || errors.Is(err, topology.ErrNoGPU) {
		return nil
	}
	return err
}

func trainingRow(r *whatif.Training, unit string) report.WhatIfRow {
	row := report.WhatIfRow{BeforeMS: ms(r.Before.Time), Plan: r.Before.Layout.String(), Limit: r.Before.Bottleneck(), Unit: unit,
		BeforeRate: r.Before.UnitsPerSecond(),
		PlannedMS:  ms(r.Planned.Time), PlannedSlowdown: whatif.Slowdown(r.Before, r.Planned), NewPlan: r.Planned.Layout.String(),
		NewLimit: r.Planned.Bottleneck(), PlannedRate: r.Planned.UnitsPerSecond()}
	if r.Kept != nil {
		row.KeptMS, row.KeptSlowdown, row.KeptLimit = ms(r.Kept.Time), whatif.Slowdown(r.Before, r.Kept), r.Kept.Bottleneck()
	}
	return row
}

func trainingNotes(r *whatif.Training) []string {
	var out []string
	if r.Why != "" {
		out = append(out, "plan not kept: "+r.Why)
	}
	if r.Unfit != "" {
		out = append(out, "not planned again: "+r.Unfit)
	}
	if r.Larger != nil {
		out = append(out, "more GPUs than are used do not fit: "+r.Larger.Error())
	}
	out = append(out, idleNote(r.Idle)...)
	if a, b := r.Before.Layout.GlobalBatch, r.Planned.Layout.GlobalBatch; a != b {
		out = append(out, fmt.Sprintf("the global batch changes from %d to %d; slowdowns are for the same number of samples", a, b))
	}
	for _, x := range []*step.Result{r.Before, r.Kept, r.Planned} { // what each step's prediction assumes, once
		for i := 0; x != nil && i < len(x.Notes); i++ {
			if !slices.Contains(out, x.Notes[i]) {
				out = append(out, x.Notes[i])
			}
		}
	}
	return out
}

// collect asks about a collective.
func (s *subject) collect(d *report.WhatIfDocument, b *topology.Topology) error {
	sizes, err := s.flags.Sizes.Sizes(s.cmd)
	if err != nil {
		return err
	}
	before, err := s.flags.asked(s.cmd, s.a, sizes)
	if err != nil {
		return err
	}
	was, err := study.Ask(before, nil)
	if err != nil {
		return err
	}
	changed := func(b *topology.Topology) (*study.Answer, error) {
		after, err := s.flags.asked(s.cmd, b, sizes)
		if err != nil {
			return nil, err
		}
		return was.After(after, nil)
	}
	is, err := changed(b)
	if err != nil {
		return err
	}
	d.Subject, d.By = s.flags.Coll.Name, "railyard (profile "+was.Question.Costs().Name+")"
	for i := range is.Rows {
		d.Rows = append(d.Rows, collectiveRow(&is.Rows[i], &was.Rows[i].NCCL))
		for _, w := range is.Rows[i].Prediction.Warnings {
			if !slices.Contains(d.Notes, w) {
				d.Notes = append(d.Notes, w)
			}
		}
	}
	s.slowdown = func(t topoFlags) (float64, error) {
		b, err := t.load()
		if err != nil {
			return 0, unlessUnreachable(err)
		}
		x, err := changed(b)
		if err != nil || x.Rows[0].Kept.Time == 0 {
			return 0, err
		}
		return max(slowdown(x.Rows[0].Kept.Time, was.Rows[0].Prediction.Time), 1), nil
	}
	return nil
}

// asked is the collective on one of the machines.
func (f *whatIfFlags) asked(cmd *cobra.Command, t *topology.Topology, sizes []units.Bytes) (study.Asked, error) {
	a, err := asked(cmd, &f.Coll, &f.Training.Profile, t, sizes)
	a.Detail.Baseline = true
	return a, err
}

// collectiveRow is a size, by railyard's plans and by NCCL, of which was says what it took before.
func collectiveRow(r *study.Row, was *study.Baseline) report.WhatIfRow {
	before, planned := r.Before.Prediction, r.Prediction
	out := report.WhatIfRow{SizeBytes: int64(r.Size), BeforeMS: ms(before.Time), Plan: planner.Name(r.Before.Schedule),
		Limit:  before.Bottleneck,
		KeptMS: ms(r.Kept.Time), KeptSlowdown: slowdown(r.Kept.Time, before.Time), PlannedMS: ms(planned.Time),
		PlannedSlowdown: slowdown(planned.Time, before.Time),
		NewPlan:         planner.Name(r.Schedule), NewLimit: planned.Bottleneck}
	if was.Runs() && r.NCCL.Runs() {
		out.NCCLBeforeMS, out.NCCLAfterMS, out.NCCLSlowdown = ms(was.Time), ms(r.NCCL.Time), slowdown(r.NCCL.Time, was.Time)
	}
	return out
}
