package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/exec/host"
	"railyard/model/collective"
	"railyard/model/topology"
)

// runFlags say how to execute.
type runFlags struct {
	plan       planFlags
	backend    string
	typeName   string
	opName     string
	iterations int
	warmup     int
	seed       int64
	inPlace    bool
	file       string
	out        string
	gpu        gpuFlags
	group      processGroup

	dtype collective.DType
	op    collective.ReduceOp
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
	fl.StringVarP(&f.typeName, "datatype", "d", "float32", "element type")
	fl.StringVar(&f.opName, "op", "sum", "reduction: sum, prod, min, max, avg")
	fl.IntVarP(&f.iterations, "iters", "n", 20, "timed iterations")
	fl.IntVarP(&f.warmup, "warmup", "w", 5, "iterations before timing")
	fl.Int64Var(&f.seed, "seed", 1, "seed of the data")
	f.group.add(cmd)
	fl.BoolVar(&f.inPlace, "in-place", false, "input and output are the same memory")
	f.gpu.add(cmd)
	fl.StringVarP(&f.out, "output", "o", "", "result directory (default: railyard-run-N, the first that is free)")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if err := f.calibrated(cmd); err != nil {
		return err
	}
	p, err := f.planned(cmd)
	if err != nil {
		return err
	}
	if f.backend == backendCUDA {
		if err := f.gpu.open(cmd, p, f); err != nil {
			return err
		}
		defer f.gpu.close()
	}
	if kind := p.Question.Spec().Kind; cmd.Flags().Changed("op") && !kind.Reduces() {
		return cli.Usagef("--op has no effect on %v: leave it out", kind)
	}
	if err := f.plan.wholeElements(cmd, f.dtype); err != nil {
		return err
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	if !f.group.several() {
		return f.measured(ctx, cmd, p)
	}
	if err := f.meet(ctx, cmd, p); err != nil {
		return err
	}
	bound, end := f.group.bound(ctx)
	defer end()
	return f.group.leave(withinGPUs(bound, f.gpu.node, func() error { return f.measured(bound, cmd, p) }))
}

// measured executes everything; where elements were wrong, that is the error.
func (f *runFlags) measured(ctx context.Context, cmd *cobra.Command, p *planned) error {
	var wrong error
	check := func(_ int, m *measuredRow) error {
		if m.Wrong > 0 && wrong == nil {
			wrong = fmt.Errorf("%d wrong elements at %d bytes: the results cannot be trusted", m.Wrong, m.SizeBytes)
		}
		return nil
	}
	var err error
	if f.group.leads() {
		err = f.recorded(ctx, cmd, p, check)
	} else {
		err = f.execute(ctx, p, check)
	}
	if err != nil {
		return err
	}
	return wrong
}

// check reads the flags, and refuses those that do not fit together.
func (f *runFlags) check(cmd *cobra.Command) (err error) {
	supports := host.Supports
	switch f.backend {
	case backendHost:
	case backendCUDA:
		supports = cuda.Supports
	default:
		return cli.Usagef("--backend %s: must be host or cuda", f.backend)
	}
	if err := f.gpu.check(cmd, f.backend); err != nil {
		return err
	}
	if f.dtype, err = collective.ParseDType(f.typeName); err == nil {
		err = supports(f.dtype)
	}
	if err == nil {
		f.op, err = collective.ParseOp(f.opName)
	}
	if err == nil && (f.iterations < 1 || f.warmup < 0) {
		err = errors.New("-n must be at least 1 and -w at least 0")
	}
	if err == nil {
		err = f.detect(cmd)
	}
	if err != nil {
		return cli.Usage(err)
	}
	return checkPlanFile(cmd, f.file)
}

// onHost reports whether the topology is the machine that runs: its times are measurements.
func (f *runFlags) onHost() bool {
	return f.plan.topo.name == hostTopology && f.backend == backendHost
}

// timed reports whether measured times can be held against predictions: on this machine's own topology, on GPUs, and
// over several processes where the user says whose costs are those of this network.
func (f *runFlags) timed() bool {
	return f.onHost() || f.backend == backendCUDA || f.group.several() && f.plan.profile.name != ""
}

// calibrated makes the profile of this machine, or looks for what its GPUs need.
func (f *runFlags) calibrated(cmd *cobra.Command) error {
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
		profile, err := calibrate(cmd.Context(), t, host.Config{DType: f.dtype, Op: f.op, InPlace: written}, sizes[len(sizes)-1])
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
