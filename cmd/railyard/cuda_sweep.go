package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/exec/discover"
	"railyard/exec/nccl"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// sweepFlags choose what cuda-sweep measures.
type sweepFlags struct {
	topology    string
	load        func(gpus int) (*topology.Topology, error)
	gpus        []int
	collectives []string
	dtypes      []string
	op          string
	sizes       sizeFlags
	iterations  int
	replays     int
	checks      int
	budget      time.Duration
	perCase     time.Duration
	deadline    time.Duration
	jitter      time.Duration
	inPlace     bool
	odd         bool
	stream      bool
	specialise  bool
	nccl        bool
	traffic     bool
	name        string          // of the run, in every row
	meter       *discover.Meter // with traffic
	chosen      bool
	only        []string
	algos       []string
	blocks      []int
	try         []string
	tried       []variant // try, read
	fastest     string
	before      map[sweptKey]variant // fastest, read
	out         string

	multiprocessors int    // of a GPU
	gpu             string // its name
}

// newCudaSweep times many ways to run each case in one process: what thresholds are made
// from. It is hidden: `run --backend cuda` is for use.
func newCudaSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{Use: "cuda-sweep", Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }}
	fl := cmd.Flags()
	fl.StringVarP(&f.topology, "topology", "t", "hgx-h200-4", "topology")
	fl.IntSliceVar(&f.gpus, "gpus", []int{4}, "numbers of GPUs")
	fl.StringSliceVarP(&f.collectives, "collective", "c", []string{"all_reduce"}, "collectives")
	fl.StringSliceVarP(&f.dtypes, "datatype", "d", []string{"float32"}, "element types")
	fl.StringVar(&f.op, "op", "sum", "reduction")
	f.sizes.add(cmd, "1K", "1G")
	fl.IntVarP(&f.iterations, "iters", "n", 20, "operations in a graph")
	fl.IntVar(&f.replays, "replays", 20, "replays of a graph")
	fl.IntVar(&f.checks, "checks", 3, "epochs that are checked")
	fl.DurationVar(&f.budget, "budget", time.Hour, "no case begins after this")
	fl.DurationVar(&f.perCase, "per-case", 60*time.Millisecond, "fewer operations and replays where they would take longer")
	fl.DurationVar(&f.deadline, "deadline", 5*time.Second, "longest wait on a GPU")
	fl.DurationVar(&f.jitter, "jitter", 0, "random delays before operations")
	fl.BoolVar(&f.inPlace, "in-place", false, "in place")
	fl.BoolVar(&f.odd, "odd", false, "odd counts and addresses")
	fl.BoolVar(&f.stream, "stream", false, "time stream launches too")
	fl.BoolVar(&f.specialise, "specialise", false, "with specialised kernels too")
	fl.BoolVar(&f.nccl, "nccl", false, "time NCCL beside, its choice with and without symmetric windows")
	fl.BoolVar(&f.traffic, "traffic", false, "read the NVLinks' counters: what the busiest GPU sent in an operation, beside what the schedule sends")
	fl.BoolVar(&f.chosen, "chosen", false, "of ours only what the topology's profile says was fastest, as run --backend cuda does")
	fl.StringVar(&f.name, "run", "", "what rows say of the run they are from (default: when it began)")
	fl.StringSliceVar(&f.only, "only", nil, "only these ways, as algorithm/mechanism")
	fl.StringVar(&f.fastest, "fastest", "", "of a CSV file of this command: of each case only the way that was fastest there, of whatever type")
	fl.StringSliceVar(&f.algos, "algos", nil, "these algorithms in all mechanisms, for checks")
	fl.IntSliceVar(&f.blocks, "blocks", nil, "numbers of blocks to try, except for packets")
	fl.StringSliceVar(&f.try, "try", nil, "these ways alone, each as algorithm/mechanism/slices/blocks/threads, +int for the interpreter")
	fl.StringVarP(&f.out, "output", "o", "-", "CSV file")
	return cmd
}

var sweepHeader = []string{"collective", "gpus", "dtype", "redop", "size_bytes", "algo", "slices", "mechanism", "blocks", "threads", "streams", "overlap", "specialised",
	"in_place", "time_us", "min_us", "p95_us", "p99_us", "stream_us", "wrong", "iterations", "replays", "nvlink_sent_bytes", "schedule_sent_bytes", "run", "at", "error"}

func (f *sweepFlags) run(cmd *cobra.Command) error {
	if err := onlyOneSaysWays(cmd); err != nil {
		return err
	}
	sizes, err := f.sizes.sizes(cmd)
	if err != nil {
		return err
	}
	op, err := collective.ParseOp(f.op)
	if err != nil {
		return usageError{err}
	}
	if f.traffic {
		l, err := discover.Open()
		if err != nil {
			return err
		}
		defer l.Close()
		if f.meter, err = discover.NewMeter(l); err != nil {
			return err
		}
	}
	for _, text := range f.try {
		v, err := parseVariant(text)
		if err != nil {
			return usageError{err}
		}
		f.tried = append(f.tried, v)
	}
	if f.fastest != "" {
		if f.before, err = readFastest(f.fastest); err != nil {
			return err
		}
	}
	if err := driver.Load(); err != nil { // before a file is made
		return err
	}
	w := io.Writer(os.Stdout)
	if f.out != "-" {
		file, err := os.Create(f.out)
		if err != nil {
			return err
		}
		defer file.Close()
		w = file
	}
	f.load = func(gpus int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, f.topology, topology.Options{GPUs: gpus})
	}
	out := csv.NewWriter(w)
	out.Write(sweepHeader)
	out.Flush()
	ctx, stop := untilInterrupt(cmd)
	defer stop()
	began := time.Now()
	for _, gpus := range f.gpus {
		if err := f.sweep(ctx, cmd, gpus, sizes, op, began, out); err != nil {
			return err
		}
	}
	return out.Error()
}

// sweepCase is one measurement.
type sweepCase struct {
	topo  *topology.Topology
	spec  collective.Spec
	dtype collective.DType
	op    collective.ReduceOp
	size  units.Bytes
	v     variant
}

func (f *sweepFlags) sweep(ctx context.Context, cmd *cobra.Command, gpus int, sizes []units.Bytes, op collective.ReduceOp, began time.Time, out *csv.Writer) error {
	if f.name == "" {
		f.name = secondOf(began)
	}
	node, err := cuda.Open(gpus)
	if err != nil {
		return err
	}
	defer node.Close()
	node.Deadline, f.multiprocessors, f.gpu = f.deadline, node.Multiprocessors(), cuda.GPU()
	fmt.Fprintf(cmd.ErrOrStderr(), "# %s\n", node.Driver())
	cases, err := f.cases(gpus, sizes, op)
	if err != nil {
		return err
	}
	if err := node.Reserve(int64(sizes[len(sizes)-1])); err != nil {
		return err
	}
	var beside *nccl.Beside
	if f.nccl {
		if beside, err = nccl.NewBeside(node); err != nil {
			return err
		}
		defer beside.Close()
	}
	f.prepare(node, cases)
	fmt.Fprintf(cmd.ErrOrStderr(), "# %d cases, kernels compiled after %v\n", len(cases), time.Since(began).Round(time.Millisecond))
	for i, c := range cases {
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted: %d of %d cases on %d GPUs are measured and written", i, len(cases), gpus)
		case time.Since(began) > f.budget:
			return nil
		}
		out.Write(f.measure(ctx, node, beside, c))
		out.Flush()
	}
	return nil
}

func (f *sweepFlags) cases(gpus int, sizes []units.Bytes, op collective.ReduceOp) (out []sweepCase, err error) {
	topo, err := f.load(gpus)
	if err != nil {
		return nil, err
	}
	for _, c := range f.collectives {
		kind, err := collective.Parse(c)
		if err != nil {
			return nil, usageError{err}
		}
		for _, d := range f.dtypes {
			dtype, err := collective.ParseDType(d)
			if err != nil {
				return nil, usageError{err}
			}
			for _, size := range sizes {
				spec := collective.Spec{Kind: kind, Ranks: gpus}
				ways, err := f.ways(topo, spec, dtype, size)
				if err != nil {
					return nil, err
				}
				for _, v := range ways {
					out = append(out, sweepCase{topo, spec, dtype, op, size, v})
				}
			}
		}
	}
	return out, nil
}

// prepare compiles all kernels side by side; what fails will say so when it runs.
func (f *sweepFlags) prepare(node *cuda.Node, cases []sweepCase) {
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, c := range cases {
		g.Go(func() error {
			if c.v.algo == ncclAlgo {
				return nil
			}
			if s, err := c.v.build(c.topo, c.spec); err == nil {
				_ = node.Prepare(s, f.config(c), c.v.how)
			}
			return nil
		})
	}
	_ = g.Wait()
}

// config says how often to run a case: less often where it would take long.
func (f *sweepFlags) config(c sweepCase) cuda.Config {
	cfg := cuda.Config{Count: int64(c.size) / int64(c.dtype.Size()), DType: c.dtype, Op: c.op, InPlace: f.inPlace, Warmup: 5, Iterations: f.iterations, Replays: f.replays,
		Checks: f.checks, Jitter: f.jitter, Stream: f.stream, Seed: 1}
	if f.odd {
		cfg.Count, cfg.Offset = (cfg.Count/3|1)*int64(c.spec.Blocks()), 4
	}
	if n := int64(c.spec.Blocks()); n > 1 && !f.odd { // whole 16 bytes for each rank, as nccl-tests rounds
		cfg.Count -= cfg.Count % (n * 16 / int64(c.dtype.Size()))
	} else {
		cfg.Count -= cfg.Count % n
	}
	cfg.Limit(int64(c.size), f.perCase)
	return cfg
}

func (v variant) build(topo *topology.Topology, spec collective.Spec) (*schedule.Schedule, error) {
	s, err := planner.Build(topo, spec, v.algo, planner.Options{Slices: v.slices})
	if err != nil {
		return nil, err
	}
	return s, schedule.Check(s, topo)
}

// measure is a row; what fails is named in it.
func (f *sweepFlags) measure(ctx context.Context, node *cuda.Node, beside *nccl.Beside, c sweepCase) []string {
	cfg, v := f.config(c), c.v
	var r *cuda.Result
	var err error
	sent, planned := "", ""
	if v.algo == ncclAlgo {
		r, err = beside.Time(ctx, c.spec.Kind, cfg, v.windows)
	} else {
		var s *schedule.Schedule
		if s, err = v.build(c.topo, c.spec); err == nil {
			r, err = node.Run(ctx, s, cfg, v.how)
		}
		if err == nil {
			sent, planned, err = f.sent(c, s, r.Launches)
		}
	}
	row := []string{c.spec.Kind.String(), strconv.Itoa(c.spec.Ranks), c.dtype.String(), c.op.String(), strconv.FormatInt(cfg.Count*int64(c.dtype.Size()), 10), v.algo, strconv.Itoa(v.slices),
		v.mechanism(), strconv.Itoa(v.how.Blocks), strconv.Itoa(v.how.Threads), strconv.Itoa(v.how.Streams), strconv.FormatBool(v.how.Overlap), strconv.FormatBool(v.how.Specialise), strconv.FormatBool(f.inPlace)}
	at := secondOf(time.Now())
	if err != nil {
		return append(row, "", "", "", "", "", "", "", "", "", "", f.name, at, err.Error())
	}
	us := func(d time.Duration) string { return strconv.FormatFloat(float64(d.Nanoseconds())/1e3, 'f', 3, 64) }
	sum := measurement.Summarise(r.Times)
	stream := ""
	if len(r.Stream) > 0 {
		stream = us(measurement.Summarise(r.Stream).Median)
	}
	return append(row, us(sum.Median), us(sum.Min), us(sum.P95), us(sum.P99), stream, strconv.FormatInt(r.Wrong, 10), strconv.Itoa(cfg.Iterations), strconv.Itoa(cfg.Replays), sent, planned, f.name, at, "")
}

// secondOf is a moment as rows name it.
func secondOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// sent is what the busiest GPU sent over its NVLinks in one operation since the call
// before, and what the schedule says; "" without --traffic.
func (f *sweepFlags) sent(c sweepCase, s *schedule.Schedule, operations int) (measured, planned string, err error) {
	if f.meter == nil {
		return "", "", nil
	}
	moved, err := f.meter.Moved()
	if err != nil {
		return "", "", err
	}
	r, err := sim.Run(c.topo, s, c.size, profileIdeal, sim.Options{})
	if err != nil {
		return "", "", err
	}
	return strconv.FormatInt(int64(discover.Busiest(moved))/int64(operations), 10), strconv.FormatInt(int64(slices.Max(r.SentBytes)), 10), nil
}
