package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/exec/discover"
	"railyard/exec/host"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/report"
	"railyard/study"
)

// runFlags say how to execute.
type runFlags struct {
	Plan       planFlags
	Backend    string  `flag:"backend,default=host"`
	TypeName   string  `flag:"datatype,d,default=float32"`
	OpName     string  `flag:"op,default=sum"`
	Iterations int     `flag:"iters,n,default=20"`
	Warmup     int     `flag:"warmup,w,default=5"`
	Seed       int64   `flag:"seed,default=1"`
	Repeat     int     `flag:"repeat,default=1,lo=1"`
	Replan     float64 `flag:"how replan,default=0.1"`
	InPlace    bool    `flag:"in-place"`
	File       string  `flag:"plan"`
	Out        string  `flag:"output,o"`
	Gpu        gpuFlags
	Group      processGroup

	dtype collective.DType
	op    collective.ReduceOp
	cmd   *cobra.Command
	again *study.Answer // as it was planned last, before GPUs said how it runs
	meter *discover.Processors
}

// Run executes schedules with real data.
func (f *runFlags) Run(cmd *cobra.Command, _ []string) error {
	return f.Group.announce(cmd, f.run(cmd))
}

func (f *runFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	f.meter = discover.WatchProcessors("/")
	if err := f.calibrated(cmd); err != nil {
		return err
	}
	p, err := f.planned(cmd)
	if err != nil {
		return err
	}
	f.cmd, f.again = cmd, p.copied()
	if f.Backend == backendCUDA {
		if err := f.Gpu.open(cmd, p, f); err != nil {
			return err
		}
		defer f.Gpu.close()
	}
	if kind := p.Question.Spec().Kind; cmd.Flags().Changed("op") && !kind.Reduces() {
		return cli.Usagef("--op has no effect on %v: leave it out", kind)
	}
	if err := f.Plan.wholeElements(cmd, f.dtype); err != nil {
		return err
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	if !f.Group.several() {
		wrong, err := f.measured(ctx, cmd, p)
		return cmp.Or(err, wrong)
	}
	if err := f.meet(ctx, cmd, p); err != nil {
		return err
	}
	bound, end := f.Group.bound(ctx)
	defer end()
	var wrong error // what all processes find, and none has to hear from another
	err = f.Group.leave(f.Gpu.node.Within(bound, func() (err error) {
		wrong, err = f.measured(bound, cmd, p)
		return err
	}))
	if err != nil {
		return err
	}
	return wrong
}

// measured executes everything, and says where elements were wrong.
func (f *runFlags) measured(ctx context.Context, cmd *cobra.Command, p *planned) (wrong, err error) {
	check := func(_ int, m *measuredRow) error {
		if m.Wrong > 0 && wrong == nil {
			wrong = fmt.Errorf("%d wrong elements at %d bytes: the results cannot be trusted", m.Wrong, m.SizeBytes)
		}
		return nil
	}
	if f.Group.leads() {
		err = f.recorded(ctx, cmd, p, check)
	} else {
		err = f.execute(ctx, p, func([]report.Replan) error { return nil }, check)
	}
	return wrong, err
}

// check reads the flags, and refuses those that do not fit together.
func (f *runFlags) check(cmd *cobra.Command) (err error) {
	supports := host.Supports
	switch f.Backend {
	case backendHost:
	case backendCUDA:
		supports = cuda.Supports
	default:
		return cli.Usagef("--backend %s: must be host or cuda", f.Backend)
	}
	if err := f.Gpu.check(cmd, f.Backend); err != nil {
		return err
	}
	if f.dtype, err = collective.ParseDType(f.TypeName); err == nil {
		err = supports(f.dtype)
	}
	if err == nil {
		f.op, err = collective.ParseOp(f.OpName)
	}
	if err == nil && (f.Iterations < 1 || f.Warmup < 0) {
		err = errors.New("-n must be at least 1 and -w at least 0")
	}
	if err == nil {
		err = f.detect(cmd)
	}
	if err != nil {
		return cli.Usage(err)
	}
	if f.Group.leads() {
		if err := freeDir(f.Out); err != nil {
			return err
		}
	}
	if err := f.checkRepeat(cmd); err != nil {
		return err
	}
	return checkPlanFile(cmd, f.File)
}

// onHost reports whether the topology is the machine that runs: its times are measurements.
func (f *runFlags) onHost() bool {
	return f.Plan.Topo.Name == hostTopology && f.Backend == backendHost
}

// timed reports whether measured times can be held against predictions: on this machine's own topology, on GPUs, and
// over several processes where the user says whose costs are those of this network.
func (f *runFlags) timed() bool {
	return f.onHost() || f.Backend == backendCUDA || f.Group.several() && f.Plan.Profile.Name != ""
}

// calibrated makes the profile of this machine, or looks for what its GPUs need.
func (f *runFlags) calibrated(cmd *cobra.Command) error {
	if f.onHost() && f.Plan.Profile.Name == "" {
		sizes, err := f.Plan.Sizes.Sizes(cmd)
		if err != nil {
			return err
		}
		t, err := f.Plan.Topo.load()
		if err != nil {
			return err
		}
		kind, err := f.kind(t)
		if err != nil {
			return err
		}
		written := f.InPlace && kind.Reduces() // what is only moved leaves inputs as they were
		profile, err := calibrate(cmd.Context(), t, host.Config{DType: f.dtype, Op: f.op, InPlace: written}, sizes[len(sizes)-1])
		if err != nil {
			return err
		}
		f.Plan.Profile.fitted = profile
	}
	if f.Backend == backendCUDA {
		return f.Gpu.available()
	}
	return nil
}

// kind is the collective of the plan that was given, or of the flag.
func (f *runFlags) kind(t *topology.Topology) (collective.Kind, error) {
	if f.File != "" {
		s, err := readSchedule(f.File, t)
		if err != nil {
			return 0, err
		}
		return s.Spec.Kind, nil
	}
	kind, err := collective.Parse(f.Plan.Coll.Name)
	if err != nil {
		return 0, cli.Usage(err)
	}
	return kind, nil
}
