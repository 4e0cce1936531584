package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/planner"
)

// The backends.
const (
	backendHost = "host"
	backendCUDA = "cuda"
)

// gpuFlags say how GPUs run a schedule.
type gpuFlags struct {
	mechanism  string
	blocks     int
	threads    int
	specialise bool

	node  *cuda.Node
	fixed bool // the user chose the schedule
}

func (g *gpuFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&g.mechanism, "mechanism", "", "cuda: how messages travel: "+cuda.Mechanisms+" (default: what was fastest)")
	fl.IntVar(&g.blocks, "blocks", 0, "cuda: thread blocks for each lane of the schedule (default: what was fastest)")
	fl.IntVar(&g.threads, "threads", 0, "cuda: threads of a block, at most 512 (default: what was fastest)")
	fl.BoolVar(&g.specialise, "specialise", true, "cuda: compile each plan into its kernel; false interprets it")
}

// check refuses flags without effect.
func (g *gpuFlags) check(cmd *cobra.Command, backend string) error {
	for _, name := range []string{"mechanism", "blocks", "threads", "specialise"} {
		if backend != backendCUDA && cmd.Flags().Changed(name) {
			return usagef("--%s has no effect without --backend cuda", name)
		}
	}
	if g.blocks < 0 || g.threads < 0 || g.threads > 512 || g.threads%32 != 0 {
		return usagef("--blocks must be positive, --threads a multiple of 32 up to 512")
	}
	if g.mechanism != "" {
		if _, err := cuda.ParseMechanism(cuda.Method{}, g.mechanism); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// available says in one line what is missing, before anything is planned.
func (g *gpuFlags) available() error { return driver.Load() }

// open takes the GPUs and puts the schedules that were fastest in place of the planned
// ones, unless the user asked for others.
func (g *gpuFlags) open(cmd *cobra.Command, p *planned, f *runFlags) error {
	var err error
	if g.node, err = cuda.Open(p.spec.Ranks); err != nil {
		return err
	}
	g.node.Deadline = f.deadline
	fmt.Fprintf(cmd.ErrOrStderr(), "# %s\n", g.node.Driver())
	for _, name := range []string{"algo", "proto", "channels", "slices", "plan"} {
		g.fixed = g.fixed || cmd.Flags().Changed(name)
	}
	if g.fixed {
		return nil
	}
	for i := range p.rows {
		if err := replace(p, &p.rows[i]); err != nil {
			g.node.Close()
			return err
		}
	}
	return nil
}

// replace plans what was fastest for a row's size.
func replace(p *planned, row *planner.Row) error {
	c, ok := cuda.Choose(p.spec.Kind, p.spec.Ranks, int64(row.Size))
	if !ok {
		return nil
	}
	protocol := schedule.Simple
	if c.Method.Packets() {
		protocol = schedule.LL
	}
	s, err := planner.Build(p.topo, p.spec, c.Algorithm, planner.Options{Slices: c.Slices, Protocol: protocol})
	if err != nil {
		return err
	}
	row.Schedule = s
	row.Prediction, err = p.score.Explain(s, row.Size)
	return err
}

// method is how to run a row.
func (g *gpuFlags) method(row planner.Row) cuda.Method {
	how := cuda.MethodFor(row.Schedule)
	if c, ok := cuda.Choose(row.Schedule.Spec.Kind, row.Schedule.Spec.Ranks, int64(row.Size)); ok && !g.fixed {
		how = c.Method
	}
	if g.mechanism != "" {
		was := how.Packets()
		how, _ = cuda.ParseMechanism(how, g.mechanism) // check has seen it
		if was && !how.Packets() {
			how.Blocks, how.Threads, how.Streams = 64, 512, 1
		}
	}
	how = how.Fitted(row.Schedule, int64(row.Size))
	if g.blocks > 0 {
		how.Blocks = g.blocks
	}
	if g.threads > 0 {
		how.Threads = g.threads
	}
	how.Specialise = g.specialise && !how.Copies
	return how
}

// time runs a row: a time for each replay of a graph.
func (g *gpuFlags) time(ctx context.Context, f *runFlags, row planner.Row, count int64, dtype collective.DType, op collective.ReduceOp) ([]time.Duration, int64, error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	const replays = 20
	cfg := cuda.Config{Count: count, DType: dtype, Op: op, InPlace: f.inPlace, Warmup: f.warmup, Iterations: (f.iterations + 1) / 2 * 2, Replays: replays, Checks: 3, Seed: f.seed}
	out, err := g.node.Run(ctx, row.Schedule, cfg, g.method(row))
	if err != nil {
		return nil, 0, err
	}
	return out.Times, out.Wrong, nil
}
