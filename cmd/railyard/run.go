package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/exec/host"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/report/table"
	"railyard/study"
)

// runFlags say how to execute.
type runFlags struct {
	plan       planFlags
	backend    string
	dtype      string
	op         string
	iterations int
	warmup     int
	seed       int64
	deadline   time.Duration
	inPlace    bool
	file       string
	out        string
	gpu        gpuFlags
	company    company
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:  "run",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.plan.add(cmd, "1K", "64M")
	fl := cmd.Flags()
	fl.StringVar(&f.backend, "backend", "host", "where to execute: host, or cuda: the GPUs of this machine")
	fl.StringVar(&f.file, "plan", "", "run this schedule (JSON from \"railyard plan -o\" or \"railyard import\")")
	fl.StringVarP(&f.dtype, "datatype", "d", "float32", "element type")
	fl.StringVar(&f.op, "op", "sum", "reduction: sum, prod, min, max, avg")
	fl.IntVarP(&f.iterations, "iters", "n", 20, "timed iterations")
	fl.IntVarP(&f.warmup, "warmup", "w", 5, "iterations before timing")
	fl.Int64Var(&f.seed, "seed", 1, "seed of the data")
	fl.DurationVar(&f.deadline, "deadline", 10*time.Second, "longest wait for a peer before the run is ended")
	fl.DurationVar(&f.company.wait, "wait", time.Minute, "several processes: longest wait for all of them to come")
	fl.IntVar(&f.company.sockets, "sockets", 1, "several processes: TCP connections between each two (1 to 64)")
	fl.BoolVar(&f.inPlace, "in-place", false, "input and output are the same memory")
	f.gpu.add(cmd)
	fl.StringVarP(&f.out, "output", "o", "", "result directory (default: railyard-run-N, the first that is free)")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command) error {
	dtype, op, err := f.checked(cmd)
	if err != nil {
		return err
	}
	if err := f.calibrated(cmd, dtype, op); err != nil {
		return err
	}
	p, err := f.planned(cmd, dtype)
	if err != nil {
		return err
	}
	if f.backend == backendCUDA {
		if err := f.gpu.open(cmd, p, f, dtype); err != nil {
			return err
		}
		defer f.gpu.close()
	}
	if kind := p.Question.Spec().Kind; cmd.Flags().Changed("op") && !kind.Reduces() {
		return cli.Usagef("--op has no effect on %v: leave it out", kind)
	}
	if err := f.plan.wholeElements(cmd, dtype); err != nil {
		return err
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	if !f.company.several {
		return f.measured(ctx, cmd, p, dtype, op)
	}
	if err := f.meet(ctx, cmd, p, dtype, op); err != nil {
		return err
	}
	bound, end := f.company.bound(ctx)
	defer end()
	return f.company.leave(withinGPUs(bound, f.gpu.node, func() error { return f.measured(bound, cmd, p, dtype, op) }))
}

// measured executes everything; where elements were wrong, that is the error.
func (f *runFlags) measured(ctx context.Context, cmd *cobra.Command, p *planned, dtype collective.DType, op collective.ReduceOp) error {
	var wrong error
	check := func(_ int, m *measuredRow) error {
		if m.Wrong > 0 && wrong == nil {
			wrong = fmt.Errorf("%d wrong elements at %d bytes: the results cannot be trusted", m.Wrong, m.SizeBytes)
		}
		return nil
	}
	var err error
	if f.company.leads() {
		err = f.recorded(ctx, cmd, p, dtype, op, check)
	} else {
		err = f.execute(ctx, p, dtype, op, check)
	}
	if err != nil {
		return err
	}
	return wrong
}

// checked are the type and operation of flags that fit together.
func (f *runFlags) checked(cmd *cobra.Command) (collective.DType, collective.ReduceOp, error) {
	if f.backend != backendHost && f.backend != backendCUDA {
		return 0, 0, cli.Usagef("--backend %s: must be host or cuda", f.backend)
	}
	if err := f.gpu.check(cmd, f.backend); err != nil {
		return 0, 0, err
	}
	dtype, err := collective.ParseDType(f.dtype)
	if err != nil {
		return 0, 0, cli.Usage(err)
	}
	op, err := collective.ParseOp(f.op)
	if err != nil {
		return 0, 0, cli.Usage(err)
	}
	if f.iterations < 1 || f.warmup < 0 {
		return 0, 0, cli.Usagef("-n must be at least 1 and -w at least 0")
	}
	supports := host.Supports
	if f.backend == backendCUDA {
		supports = cuda.Supports
	}
	if err := supports(dtype); err != nil {
		return 0, 0, cli.Usage(err)
	}
	if err := f.detect(cmd); err != nil {
		return 0, 0, cli.Usage(err)
	}
	return dtype, op, checkPlanFile(cmd, f.file)
}

// onHost reports whether the topology is the machine that runs: its times are measurements.
func (f *runFlags) onHost() bool {
	return f.plan.topo.name == hostTopology && f.backend == backendHost
}

// timed reports whether measured times can be held against predictions: on this machine's own topology, on GPUs, and
// over several processes where the user says whose costs are those of this network.
func (f *runFlags) timed() bool {
	return f.onHost() || f.backend == backendCUDA || f.company.several && f.plan.profile.name != ""
}

// calibrated makes the profile of this machine, or looks for what its GPUs need.
func (f *runFlags) calibrated(cmd *cobra.Command, dtype collective.DType, op collective.ReduceOp) error {
	if f.onHost() && f.plan.profile.name == "" {
		sizes, err := f.plan.sizes.Sizes(cmd)
		if err != nil {
			return err
		}
		t, err := f.plan.topo.load()
		if err != nil {
			return err
		}
		kind, err := f.kind(t)
		if err != nil {
			return err
		}
		written := f.inPlace && kind.Reduces() // what is only moved leaves inputs as they were
		profile, err := calibrate(cmd.Context(), t, host.Config{DType: dtype, Op: op, InPlace: written}, sizes[len(sizes)-1])
		if err != nil {
			return err
		}
		f.plan.profile.fitted = profile
	}
	if f.backend == backendCUDA {
		return f.gpu.available()
	}
	return nil
}

// kind is the collective of the plan that was given, or of the flag.
func (f *runFlags) kind(t *topology.Topology) (collective.Kind, error) {
	if f.file != "" {
		s, err := readSchedule(f.file, t)
		if err != nil {
			return 0, err
		}
		return s.Spec.Kind, nil
	}
	kind, err := collective.Parse(f.plan.coll.name)
	if err != nil {
		return 0, cli.Usage(err)
	}
	return kind, nil
}

// recorded executes and prints; whatever happens, what was measured is in the result
// directory.
func (f *runFlags) recorded(ctx context.Context, cmd *cobra.Command, p *planned, dtype collective.DType, op collective.ReduceOp,
	check func(int, *measuredRow) error) error {
	dir, err := newResultDir(f.out)
	if err != nil {
		return err
	}
	d := &report.RunDocument{Schema: "railyard.run/v1", Tool: planner.Tool, Topology: p.Question.Topology().Name(),
		Hash: p.Question.Topology().Hash(), Profile: p.Question.Costs().Name,
		Backend: f.backend, Seed: f.seed, Timed: f.timed(), Rows: []report.RunRow{}}
	if f.company.several {
		d.Processes = f.company.world.Size
		p.printPredictions(cmd.ErrOrStderr())
	}
	if err := dir.begin(p, d, os.Args); err != nil {
		return err
	}
	live, err := f.live(cmd, p, d, dtype, op)
	if err != nil {
		return err
	}
	runErr := f.execute(ctx, p, dtype, op, func(i int, m *measuredRow) error {
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
	if err := dir.finish(d); err != nil && runErr == nil {
		runErr = err
	}
	if runErr != nil {
		return fmt.Errorf("%w (what was measured before is in %s%s)", runErr, dir.path, p.resumeHint(len(d.Rows)))
	}
	if live != nil {
		err = live.End(d)
	} else {
		err = f.plan.format.Emit(cmd, d)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "results in %s\n", dir.path)
	return nil
}

// planned is what is run, with predictions of it.
func (f *runFlags) planned(cmd *cobra.Command, dtype collective.DType) (*planned, error) {
	f.plan.inPlace = f.inPlace && f.backend == backendHost // on GPUs it depends on the mechanism
	p, err := f.chosen(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.roundDown(dtype); err != nil || !f.plan.inPlace {
		return p, err
	}
	return p, p.predictInPlace()
}

// chosen is the plan that was given, or the best for each size.
func (f *runFlags) chosen(cmd *cobra.Command) (*planned, error) {
	if f.file != "" {
		return f.plan.fromFile(cmd, f.file)
	}
	if f.backend == backendCUDA { // whose kernels never use multicast
		f.plan.topo.noInNetwork, f.plan.topo.lenient = true, f.plan.topo.lenient || !f.plan.topo.noInNetwork
	}
	return f.plan.plan(cmd, study.Detail{Baseline: true})
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
func (f *runFlags) live(cmd *cobra.Command, p *planned, d *report.RunDocument, dtype collective.DType,
	op collective.ReduceOp) (*table.Live, error) {
	if f.plan.format.Name != table.Text {
		return nil, nil
	}
	foreseen := *d
	for _, row := range p.Rows {
		r := predictedRow(p, row, dtype, op)
		r.took(p, row.Prediction.Time, measurement.Summary{Median: time.Duration(row.Prediction.Time.Microseconds() * 1e3)})
		foreseen.Rows = append(foreseen.Rows, r.RunRow)
	}
	return table.NewLive(cmd.OutOrStdout(), f.plan.format.Wide, &foreseen)
}

// resumeHint says from which size on a run that ended after some rows is to be called again.
func (p *planned) resumeHint(done int) string {
	if done == 0 || done >= len(p.Rows) {
		return ""
	}
	return fmt.Sprintf("; go on from -b %d", int64(p.Rows[done].Size))
}

// execute runs every size; each row is kept before the next one starts.
func (f *runFlags) execute(ctx context.Context, p *planned, dtype collective.DType, op collective.ReduceOp,
	keep func(int, *measuredRow) error) error {
	for i, row := range p.Rows {
		m, err := f.executeRow(ctx, p, row, dtype, op)
		if err != nil {
			return fmt.Errorf("%v: %w", row.Size, err)
		}
		if err := keep(i, m); err != nil {
			return err
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
func predictedRow(p *planned, row study.Row, dtype collective.DType, op collective.ReduceOp) *measuredRow {
	spec := p.Question.Spec()
	r := &measuredRow{RunRow: report.RunRow{Collective: spec.Kind.String(), SizeBytes: int64(row.Size),
		Count: int64(row.Size) / int64(dtype.Size()),
		DType: dtype.String(), RedOp: "none", Root: -1,
		Schedule: planner.Name(row.Schedule), PredictedUS: row.Prediction.Time.Microseconds(), Library: libraryOf(&row.NCCL),
		Warnings: append([]string{}, row.Prediction.Warnings...)}}
	if spec.Kind.Reduces() {
		r.RedOp = op.String()
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

func (f *runFlags) executeRow(ctx context.Context, p *planned, row study.Row, dtype collective.DType,
	op collective.ReduceOp) (*measuredRow, error) {
	if err := schedule.Check(row.Schedule, p.Question.Topology()); err != nil {
		return nil, err
	}
	r := predictedRow(p, row, dtype, op)
	times, err := f.time(ctx, row, r, dtype, op)
	if err != nil {
		return nil, err
	}
	r.took(p, row.Prediction.Time, measurement.Summarise(times))
	err = f.gpu.library(ctx, f, row, &r.RunRow, dtype, op)
	return r, err
}

// time runs a row's schedule on the backend: the time of every iteration; how many elements were wrong, and what
// each rank took, go into the row.
func (f *runFlags) time(ctx context.Context, row study.Row, r *measuredRow, dtype collective.DType,
	op collective.ReduceOp) ([]time.Duration, error) {
	if f.backend == backendCUDA {
		out, err := f.gpu.time(ctx, f, row, r.Count, dtype, op)
		if err != nil {
			return nil, err
		}
		r.Wrong, r.Slowest, r.ranks = out.Wrong, f.company.slowest(out.Ranks), f.company.rankTimes(r.SizeBytes, out.Ranks)
		return out.Times, nil
	}
	out, err := host.Run(ctx, row.Schedule, host.Config{Count: r.Count, DType: dtype, Op: op, InPlace: f.inPlace,
		Warmup: f.warmup, Iterations: f.iterations, Deadline: f.deadline, Seed: f.seed, Over: f.company.processes})
	if err != nil {
		return nil, err
	}
	r.Wrong, r.Slowest, r.ranks = out.Wrong, f.company.slowest(out.Ranks), f.company.rankTimes(r.SizeBytes, out.Ranks)
	return out.Times, nil
}

// resultDir is where a run leaves everything.
type resultDir struct {
	path        string
	rows, ranks *os.File
}

// newResultDir makes the directory; it never writes into an existing one.
func newResultDir(path string) (*resultDir, error) {
	if path != "" {
		if err := os.Mkdir(path, 0o755); err != nil {
			return nil, fmt.Errorf("result directory: %w (choose one that does not exist)", err)
		}
		return &resultDir{path: path}, nil
	}
	for i := 1; ; i++ {
		path = fmt.Sprintf("railyard-run-%d", i)
		err := os.Mkdir(path, 0o755)
		if err == nil {
			return &resultDir{path: path}, nil
		}
		if !os.IsExist(err) {
			return nil, err
		}
	}
}

// begin writes what the run is made from, before anything is measured.
func (d *resultDir) begin(p *planned, doc *report.RunDocument, args []string) error {
	seen := map[*schedule.Schedule]bool{}
	for _, r := range p.Rows {
		if seen[r.Schedule] {
			continue
		}
		name := fmt.Sprintf("schedule-%02d.json", len(seen))
		seen[r.Schedule] = true
		if err := cli.WriteFile(filepath.Join(d.path, name),
			func(w io.Writer) error { return schedule.Encode(w, r.Schedule) }); err != nil {
			return err
		}
	}
	if _, data, err := source(p.source); err != nil {
		return err
	} else if err := os.WriteFile(filepath.Join(d.path, "topology.yaml"), data, 0o644); err != nil {
		return err
	}
	if err := cli.WriteFile(filepath.Join(d.path, "profile.yaml"),
		func(w io.Writer) error { return cost.Encode(w, p.Question.Machine().WithOwn(p.Question.Costs())) }); err != nil {
		return err
	}
	manifest := map[string]any{"schema": "railyard.manifest/v1", "tool": planner.Tool, "command": args[1:], "topology": doc.Topology,
		"topology_hash": doc.Hash, "profile": doc.Profile, "seed": doc.Seed}
	if err := cli.WriteFile(filepath.Join(d.path, "manifest.json"),
		func(w io.Writer) error { return table.WriteJSON(w, manifest) }); err != nil {
		return err
	}
	var err error
	if d.rows, err = os.Create(filepath.Join(d.path, "rows.jsonl")); err != nil {
		return err
	}
	d.ranks, err = os.Create(filepath.Join(d.path, "ranks.jsonl"))
	return err
}

// row appends a measured row, and what each rank took, and waits until both are on disk.
func (d *resultDir) row(m *measuredRow) error {
	for _, r := range m.ranks {
		if err := table.WriteJSONLine(d.ranks, r); err != nil {
			return err
		}
	}
	if err := table.WriteJSONLine(d.rows, m.RunRow); err != nil {
		return err
	}
	return errors.Join(d.ranks.Sync(), d.rows.Sync())
}

// finish writes the results as documents.
func (d *resultDir) finish(doc *report.RunDocument) error {
	if err := errors.Join(d.ranks.Close(), d.rows.Close()); err != nil {
		return err
	}
	if err := cli.WriteFile(filepath.Join(d.path, "run.json"), func(w io.Writer) error { return table.WriteJSON(w, doc) }); err != nil {
		return err
	}
	if err := cli.WriteFile(filepath.Join(d.path, "run.csv"),
		func(w io.Writer) error { return table.Emit(w, table.CSV, doc) }); err != nil {
		return err
	}
	return d.plot(doc)
}

// plot draws time and bus bandwidth, predicted beside measured, where the times mean
// something.
func (d *resultDir) plot(doc *report.RunDocument) error {
	if !doc.Timed || len(doc.Rows) == 0 || doc.Rows[0].BusBW == 0 {
		return nil
	}
	for name, figure := range doc.Figures() {
		c, err := figure.Chart()
		if err != nil {
			return err
		}
		for _, ext := range []string{".svg", ".png"} {
			if err := cli.WriteChart(filepath.Join(d.path, name+ext), c); err != nil {
				return err
			}
		}
	}
	return nil
}
