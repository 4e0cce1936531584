package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/load"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
)

// checkRepeat refuses repetitions that would not be what they seem.
func (f *runFlags) checkRepeat(cmd *cobra.Command) error {
	switch {
	case !(f.Replan > 0 && f.Replan < 1):
		return cli.Usagef("--how replan=%v: must be a share of a link's rate between 0 and 1", f.Replan)
	case f.Repeat > 1 && f.Group.several():
		return cli.Usagef("--repeat has no effect on several processes: start them again")
	case len(f.Plan.Topo.Loads) == 0 || f.Repeat == 1:
		return cli.NoEffect(cmd, "without --load and --repeat: nothing is planned again", "how replan")
	case f.File != "":
		return cli.NoEffect(cmd, "with --plan: that schedule is run, whatever the load", "how replan")
	}
	return nil
}

// copied is an answer that what becomes of p leaves as it is.
func (p *planned) copied() *study.Answer {
	a := *p.Answer
	a.Rows = slices.Clone(p.Rows)
	return &a
}

// replan looks at the load before a repetition, and plans again where some link's has changed by more than the threshold; p is the new
// plan then, and what changed is returned for each size. What was planned goes on where it is still the fastest.
func (f *runFlags) replan(ctx context.Context, p *planned, repetition int) ([]report.Replan, error) {
	if len(f.Plan.Topo.Loads) == 0 || f.File != "" || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.Plan.Topo.now = nil
	t, err := f.Plan.Topo.load()
	if err != nil {
		return nil, err
	}
	changes := load.Changes(f.again.Question.Topology(), t, f.Replan)
	if len(changes) == 0 {
		return nil, nil
	}
	sizes, err := f.Plan.allSizes(f.cmd)
	if err != nil {
		return nil, err
	}
	asked, err := f.Plan.asked(f.cmd, t, sizes)
	if err != nil {
		return nil, err
	}
	asked.Detail.Baseline = true
	bar := cli.NewProgress(f.cmd.ErrOrStderr(), "planning again")
	answer, err := f.again.After(asked, bar)
	bar.Finish()
	if err != nil {
		return nil, err
	}
	before := p.Rows
	p.Answer = answer
	if err := p.roundDown(f.dtype); err != nil {
		return nil, err
	}
	if f.Plan.inPlace {
		if err := p.predictInPlace(); err != nil {
			return nil, err
		}
	}
	f.again = p.copied()
	if f.Backend == backendCUDA {
		if err := f.Gpu.rows(p); err != nil {
			return nil, err
		}
	}
	var out []report.Replan
	for i := range p.Rows {
		row := &p.Rows[i]
		out = append(out, report.Replan{Repetition: repetition, Change: inWords(changes), SizeBytes: int64(row.Size),
			Before: planner.Name(before[i].Schedule), KeptUS: row.Kept.Time.Microseconds(), After: planner.Name(row.Schedule),
			PredictedUS: row.Prediction.Time.Microseconds()})
	}
	return out, nil
}

// inWords are the largest changes.
func inWords(changes []load.Change) (text string) {
	for i, c := range changes {
		if i > 0 {
			text += ", "
		}
		if i == 3 {
			return text + "…"
		}
		text += c.String()
	}
	return text
}
