package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"railyard/exec/host"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/report/table"
	"railyard/study"
)

// recorded executes and prints; whatever happens, what was measured is in the result
// directory.
func (f *runFlags) recorded(ctx context.Context, cmd *cobra.Command, p *planned,
	check func(int, *measuredRow) error) error {
	dir, err := newResultDir(f.Out)
	if err != nil {
		return err
	}
	d := &report.RunDocument{Schema: "railyard.run/v1", Tool: planner.Tool, Topology: p.Question.Topology().Name(),
		Hash: p.Question.Topology().Hash(), Profile: p.Question.Costs().Name,
		Backend: f.Backend, Seed: f.Seed, Timed: f.timed(), Rows: []report.RunRow{}}
	if f.Group.several() {
		d.Processes = f.Group.world.Size
		p.printPredictions(cmd.ErrOrStderr())
	}
	if err := dir.begin(p, d, os.Args); err != nil {
		return err
	}
	live, err := f.live(cmd, p, d)
	if err != nil {
		return err
	}
	again := func(changed []report.Replan) error {
		d.Replans = append(d.Replans, changed...)
		return dir.schedules(p)
	}
	runErr := f.execute(ctx, p, again, func(i int, m *measuredRow) error {
		d.Rows = append(d.Rows, m.RunRow)
		if err := dir.row(m); err != nil {
			return err
		}
		if live != nil {
			if err := live.Row(d, i); err != nil {
				return err
			}
		}
		return check(i, m)
	})
	if f.onHost() && !f.Group.several() {
		d.Others = f.meter.Others()
	}
	if f.Backend == backendHost {
		d.Crowd = f.Group.crowd(p.Question.Topology())
	}
	if err := dir.finish(d); err != nil && runErr == nil {
		runErr = err
	}
	if runErr != nil {
		if live != nil && len(d.Rows) > 0 { // warnings about the rows that are printed
			runErr = errors.Join(runErr, live.End(d))
		}
		return fmt.Errorf("%w (what was measured before is in %s%s)", runErr, dir.path, p.resumeHint(len(d.Rows)))
	}
	if live != nil {
		err = live.End(d)
	} else {
		err = f.Plan.Format.Emit(cmd, d)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "results in %s\n", dir.path)
	return nil
}

// planned is what is run, with predictions of it.
func (f *runFlags) planned(cmd *cobra.Command) (*planned, error) {
	f.Plan.inPlace = f.InPlace && f.Backend == backendHost // on GPUs it depends on the mechanism
	p, err := f.chosen(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.roundDown(f.dtype); err != nil || !f.Plan.inPlace {
		return p, err
	}
	return p, p.predictInPlace()
}

// chosen is the plan that was given, or the best for each size.
func (f *runFlags) chosen(cmd *cobra.Command) (*planned, error) {
	if f.File != "" {
		return f.Plan.fromFile(cmd, f.File)
	}
	if f.Backend == backendCUDA { // whose kernels never use multicast
		f.Plan.Topo.NoInNetwork, f.Plan.Topo.lenient = true, f.Plan.Topo.lenient || !f.Plan.Topo.NoInNetwork
	}
	return f.Plan.plan(cmd, study.Detail{Baseline: true})
}

// roundDown makes of the sizes asked for what is moved: whole elements, as many in each
// block.
func (p *planned) roundDown(dtype collective.DType) error {
	for i := range p.Rows {
		element := int64(dtype.Size())
		if err := p.Resize(i, units.Bytes(p.Question.Spec().Moved(int64(p.Rows[i].Size)/element)*element)); err != nil {
			return err
		}
	}
	return nil
}

// predictInPlace leaves out of the predictions what need not be copied in place.
func (p *planned) predictInPlace() error {
	for i := range p.Rows {
		row := &p.Rows[i]
		s, err := schedule.InPlace(row.Schedule)
		if err != nil {
			return err
		}
		if row.Prediction, err = p.Explain(s, row.Size); err != nil {
			return err
		}
	}
	return nil
}

// live prints rows as they are measured, beginning with what stands above them; nil where the
// format has them all at the end.
func (f *runFlags) live(cmd *cobra.Command, p *planned, d *report.RunDocument) (*table.Live, error) {
	if f.Plan.Format.Name != table.Text {
		return nil, nil
	}
	predicted := *d
	for _, row := range p.Rows {
		r := f.predictedRow(p, row)
		if f.Repeat > 1 {
			r.Repetition = 1
		}
		r.took(p, row.Prediction.Time, measurement.Summary{Median: time.Duration(row.Prediction.Time.Microseconds() * 1e3)})
		if f.Gpu.other != nil { // it will be timed, about as long
			r.Library.MeasuredUS = &r.PredictedUS
		}
		predicted.Rows = append(predicted.Rows, r.RunRow)
	}
	return table.NewLive(cmd.OutOrStdout(), f.Plan.Format.Wide, &predicted)
}

// resumeHint says from which size on a run that ended after some rows is to be called again.
func (p *planned) resumeHint(done int) string {
	if done == 0 || done >= len(p.Rows) {
		return ""
	}
	return fmt.Sprintf("; go on from -b %d", int64(p.Rows[done].Size))
}

// execute runs every size, as often as is asked for; each row is kept before the next one starts.
func (f *runFlags) execute(ctx context.Context, p *planned, again func([]report.Replan) error, keep func(int, *measuredRow) error) error {
	for repetition := range f.Repeat {
		if repetition > 0 {
			changed, err := f.replan(ctx, p, repetition+1)
			if err != nil {
				return err
			}
			if err := again(changed); err != nil {
				return err
			}
		}
		for i, row := range p.Rows {
			m, err := f.executeRow(ctx, p, row)
			if err != nil {
				return fmt.Errorf("%v: %w", row.Size, err)
			}
			if f.Repeat > 1 {
				m.Repetition = repetition + 1
			}
			if err := keep(repetition*len(p.Rows)+i, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// measuredRow is a row while it is made, with what each rank took.
type measuredRow struct {
	report.RunRow
	ranks []report.RankTimes
}

// predictedRow is a row before it is measured.
func (f *runFlags) predictedRow(p *planned, row study.Row) *measuredRow {
	spec := p.Question.Spec()
	r := &measuredRow{RunRow: report.RunRow{Collective: spec.Kind.String(), SizeBytes: int64(row.Size),
		Count: int64(row.Size) / int64(f.dtype.Size()),
		DType: f.dtype.String(), RedOp: "none", Root: -1,
		Schedule: planner.Name(row.Schedule), PredictedUS: row.Prediction.Time.Microseconds(), Library: libraryOf(&row.NCCL),
		Warnings: append([]string{}, row.Prediction.Warnings...)}}
	if spec.Kind.Reduces() {
		r.RedOp = f.op.String()
	}
	if spec.Kind.Rooted() {
		r.Root = spec.Root
	}
	return r
}

// took fills in what a row took.
func (r *measuredRow) took(p *planned, predicted units.Time, sum measurement.Summary) {
	median := units.Time(sum.Median.Nanoseconds()) * units.Nanosecond
	r.MeasuredUS = report.NewPercentiles(sum)
	r.AlgBW, r.BusBW = study.Bandwidths(p.Question.Spec(), units.Bytes(r.SizeBytes), median)
	if median > 0 {
		r.Error = float64(predicted-median) / float64(median)
	}
}

func (f *runFlags) executeRow(ctx context.Context, p *planned, row study.Row) (*measuredRow, error) {
	if err := schedule.Check(row.Schedule, p.Question.Topology()); err != nil {
		return nil, err
	}
	r := f.predictedRow(p, row)
	times, err := f.time(ctx, row, r)
	if err != nil {
		return nil, err
	}
	r.took(p, row.Prediction.Time, measurement.Summarise(times))
	err = f.Gpu.library(ctx, f, row, &r.RunRow)
	return r, err
}

// time runs a row's schedule on the backend: the time of every iteration; how many elements were wrong, and what
// each rank took, go into the row.
func (f *runFlags) time(ctx context.Context, row study.Row, r *measuredRow) ([]time.Duration, error) {
	if f.Backend == backendCUDA {
		out, err := f.Gpu.node.Run(ctx, row.Schedule, f.Gpu.config(f, row, r.Count), f.Gpu.ways[row.Schedule])
		if err != nil {
			return nil, err
		}
		r.Wrong, r.Slowest, r.ranks = out.Wrong, f.Group.slowest(out.Ranks), f.Group.rankTimes(r.SizeBytes, out.Ranks)
		return out.Times, nil
	}
	out, err := host.Run(ctx, row.Schedule, host.Config{Count: r.Count, DType: f.dtype, Op: f.op, InPlace: f.InPlace,
		Warmup: f.Warmup, Iterations: f.Iterations, Deadline: f.Group.Deadline, Seed: f.Seed, Over: f.Group.data})
	if err != nil {
		return nil, err
	}
	r.Wrong, r.Slowest, r.ranks = out.Wrong, f.Group.slowest(out.Ranks), f.Group.rankTimes(r.SizeBytes, out.Ranks)
	return out.Times, nil
}
