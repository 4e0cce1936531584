package main

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda/driver"
	"railyard/exec/discover"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/study/tuning"
	"railyard/topologies"
)

// sweepFlags choose what cuda-sweep measures.
type sweepFlags struct {
	tuning.Sweep
	topology            string
	gpus                []int
	collectives, dtypes []string
	op                  string
	sizes               cli.SizeFlags
	budget              time.Duration
	traffic             bool
	try                 []string
	fastest             string
	out                 string
}

// newCudaSweep times many ways to run each case in one process: what thresholds are made from.
func newCudaSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:  "cuda-sweep",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.topology, "topology", "t", "hgx-h200-4", "topology")
	fl.IntSliceVar(&f.gpus, "gpus", []int{4}, "numbers of GPUs")
	fl.StringSliceVarP(&f.collectives, "collective", "c", []string{"all_reduce"}, "collectives")
	fl.StringSliceVarP(&f.dtypes, "datatype", "d", []string{"float32"}, "element types")
	fl.StringVar(&f.op, "op", "sum", "reduction")
	f.sizes.Add(cmd, "1K", "1G")
	fl.IntVarP(&f.Iterations, "iters", "n", 20, "operations in a graph")
	fl.IntVar(&f.Replays, "replays", 20, "replays of a graph")
	fl.IntVar(&f.Checks, "checks", 3, "epochs that are checked")
	fl.DurationVar(&f.budget, "budget", time.Hour, "no case begins after this")
	fl.DurationVar(&f.PerCase, "per-case", 60*time.Millisecond, "fewer operations and replays where they would take longer")
	fl.DurationVar(&f.Deadline, "deadline", 5*time.Second, "longest wait on a GPU")
	fl.BoolVar(&f.InPlace, "in-place", false, "in place")
	fl.BoolVar(&f.Stream, "stream", false, "time stream launches too")
	fl.BoolVar(&f.Specialise, "specialise", false, "with specialised kernels too")
	fl.BoolVar(&f.NCCL, "nccl", false, "time NCCL beside, its choice with and without symmetric windows")
	fl.BoolVar(&f.traffic, "traffic", false, "read the NVLinks' counters: what the busiest GPU sent in an operation, beside what the "+
		"schedule sends")
	fl.BoolVar(&f.Chosen, "chosen", false, "of ours only what the topology's profile says was fastest, as run --backend cuda does")
	fl.StringVar(&f.Run, "run", "", "what rows say of the run they are from (default: when it began)")
	fl.StringVar(&f.fastest, "fastest", "", "of a CSV file of this command: of each case only the way that was fastest there, of "+
		"whatever type")
	fl.StringSliceVar(&f.try, "try", nil, "these ways alone, each as algorithm/mechanism/slices/blocks/threads, +int for the interpreter")
	fl.StringVarP(&f.out, "output", "o", "", "CSV file (default: standard output)")
	return cmd
}

// onlyOneSaysWays refuses flags that would have no effect beside one another.
func onlyOneSaysWays(cmd *cobra.Command) error {
	var given []string
	for _, name := range []string{"chosen", "fastest", "try"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return cli.Usagef("%s all say which ways are timed: give one", strings.Join(given, ", "))
	}
	return nil
}

// read reads the flags that are names of things, and files.
func (f *sweepFlags) read(cmd *cobra.Command) (err error) {
	if f.Sizes, err = f.sizes.Sizes(cmd); err != nil {
		return err
	}
	if f.Collectives, err = cli.ParseAll(f.collectives, collective.Parse); err != nil {
		return err
	}
	if f.DTypes, err = cli.ParseAll(f.dtypes, collective.ParseDType); err != nil {
		return err
	}
	if f.Op, err = collective.ParseOp(f.op); err != nil {
		return cli.Usage(err)
	}
	if f.Tried, err = cli.ParseAll(f.try, tuning.ParseWay); err != nil {
		return err
	}
	if f.fastest != "" {
		f.Before, err = tuning.ReadFastest(f.fastest)
	}
	return err
}

func (f *sweepFlags) run(cmd *cobra.Command) error {
	if err := onlyOneSaysWays(cmd); err != nil {
		return err
	}
	if err := f.read(cmd); err != nil {
		return err
	}
	if f.traffic {
		l, err := discover.Open()
		if err != nil {
			return err
		}
		defer l.Close()
		if f.Meter, err = discover.NewMeter(l); err != nil {
			return err
		}
	}
	if err := driver.Load(); err != nil { // before a file is made
		return err
	}
	f.Load = func(gpus int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, f.topology, topology.Options{GPUs: gpus})
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	f.Log = cmd.ErrOrStderr()
	return cli.StreamTo(cmd, f.out, func(w io.Writer) error { return f.Write(ctx, w, f.gpus, f.budget) })
}
