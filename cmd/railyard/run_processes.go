package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cluster"
	"railyard/exec/cuda"
	"railyard/exec/host"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/table"
)

// company is the processes that a launcher has started for one run; this is one of them. Rank 0 of them keeps and prints
// what all have measured, the others only say why they could not go on.
type company struct {
	world     cluster.World
	several   bool          // else this process alone runs everything
	wait      time.Duration // for all to come
	sockets   int           // between each two processes
	group     *cluster.Group
	processes *host.Processes
}

// detect asks the launcher's variables who this process is, and refuses what several cannot run.
func (f *runFlags) detect(cmd *cobra.Command) (err error) {
	c := &f.company
	if c.world, err = cluster.Detect(os.Getenv); err != nil {
		return err
	}
	switch c.several = c.world.Size > 1; {
	case c.sockets < 1 || c.sockets > maxSockets:
		return cli.Usagef("--sockets %d: must be from 1 to %d", c.sockets, maxSockets)
	case !c.several:
		return cli.NoEffect(cmd, "in one process", "wait", "sockets")
	case f.plan.topo.name == hostTopology:
		return fmt.Errorf("-t %s is the memory of one process: name a topology with a rank for each process (%s has started %d)",
			hostTopology,
			c.world.Launcher, c.world.Size)
	case f.backend == backendCUDA:
		return cli.NoEffect(cmd, "with --backend cuda", "sockets")
	}
	return nil
}

// maxSockets between two processes are more than any network's flows ask for.
const maxSockets = 64

// leads reports whether this process keeps and prints what is measured.
func (c *company) leads() bool { return c.world.Rank == 0 }

// meet joins the others, which agree on what is run, and connects their ranks for data.
func (f *runFlags) meet(ctx context.Context, cmd *cobra.Command, p *planned, dtype collective.DType, op collective.ReduceOp) error {
	c := &f.company
	own, err := c.own(p.Question.Topology())
	if err != nil {
		return err
	}
	hello, err := f.hello(p, own, dtype, op)
	if err != nil {
		return err
	}
	if f.backend != backendCUDA {
		return c.join(ctx, hello, own)
	}
	if err := c.enter(ctx, hello); err != nil {
		return err
	}
	bound, end := c.bound(ctx)
	defer end()
	if err := f.gpu.meet(bound, cmd, f, p); err != nil {
		return c.leave(err)
	}
	return nil
}

// enter meets the other processes, which agree.
func (c *company) enter(ctx context.Context, hello cluster.Hello) (err error) {
	options := cluster.Options{Wait: c.wait}
	if file := os.Getenv("RAILYARD_SECRET_FILE"); file != "" {
		if options.Secret, err = cluster.ReadSecret(file); err != nil {
			return err
		}
	}
	c.group, err = cluster.Join(ctx, c.world, hello, options)
	return err
}

// join enters and connects the ranks of all processes, so many in this one, in host memory.
func (c *company) join(ctx context.Context, hello cluster.Hello, ranks int) (err error) {
	if err := c.enter(ctx, hello); err != nil {
		return err
	}
	c.processes, err = host.Meet(ctx, c.group, host.Place{Process: c.world.Rank, Size: c.world.Size, Ranks: ranks, Local: c.group.Local(),
		Host: c.group.Address(), Sockets: c.sockets})
	if err != nil {
		return c.leave(err)
	}
	return nil
}

// own is how many ranks each process has.
func (c *company) own(t *topology.Topology) (int, error) {
	ranks, size := t.NumRanks(), c.world.Size
	if ranks%size > 0 {
		return 0, fmt.Errorf("%s has %d ranks for the %d processes that %s has started: each needs as many (--nodes, --gpus)",
			t.Name(), ranks, size, c.world.Launcher)
	}
	return ranks / size, nil
}

// all are the processes, for GPUs.
func (c *company) all() cuda.Processes {
	return cuda.Processes{Own: c.world.Rank, Size: c.world.Size, Exchange: c.group.Exchange, Barrier: c.group.Barrier}
}

// bound is a context that ends with the other processes, too.
func (c *company) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.group.Context(), func() { cancel(context.Cause(c.group.Context())) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// leave tells the others why this process ends, unless it ends well, as it then does when all others do.
func (c *company) leave(err error) error {
	if err != nil {
		c.group.Abort(err)
	}
	var closed error
	if c.processes != nil {
		closed = c.processes.Close()
	}
	if cause := c.group.Close(); cause != nil {
		closed = cause
	}
	if err != nil {
		return err
	}
	return closed
}

// hello is what all processes must agree on: the build, the schedules and what is done with them.
func (f *runFlags) hello(p *planned, ranks int, dtype collective.DType, op collective.ReduceOp) (cluster.Hello, error) {
	var sizes []string
	plan := sha256.New()
	fmt.Fprintf(plan, "%s %v %v %d %d %d %v %v\n", p.Question.Topology().Hash(), dtype, op, f.iterations, f.warmup, f.seed, f.inPlace,
		f.deadline)
	var last *schedule.Schedule
	for _, row := range p.Rows {
		sizes = append(sizes, fmt.Sprint(int64(row.Size)))
		if row.Schedule == last {
			continue
		}
		last = row.Schedule
		fmt.Fprintf(plan, "from %d\n", int64(row.Size))
		if err := schedule.Encode(plan, last); err != nil {
			return cluster.Hello{}, err
		}
	}
	build, err := exactBuild()
	return cluster.Hello{Version: build, Plan: hex.EncodeToString(plan.Sum(nil)[:8]), GPUs: ranks, Sizes: strings.Join(sizes, ",")}, err
}

// exactBuild is the release and commit, and where no commit says all, the program itself.
func exactBuild() (string, error) {
	name := version + commit()
	if commit() != "" && !strings.Contains(name, "changed") {
		return name, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return name + " " + hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// printPredictions prints what is predicted before anything runs.
func (p *planned) printPredictions(w io.Writer) {
	for _, row := range p.Rows {
		fmt.Fprintf(w, "# predicted: %v %s\n", row.Size, table.Microseconds(row.Prediction.Time.Microseconds()))
	}
}

// rankTimes are what each rank took for a size, with the node that it was on.
func (c *company) rankTimes(size int64, times [][]time.Duration) (out []report.RankTimes) {
	for rank, all := range times {
		r := report.RankTimes{SizeBytes: size, Rank: rank}
		if c.group != nil {
			r.Node = c.group.Host(rank * c.world.Size / len(times))
		}
		for _, t := range all {
			r.TimesUS = append(r.TimesUS, float64(t.Nanoseconds())/1e3)
		}
		out = append(out, r)
	}
	return out
}

// slowest names the rank whose median is longest, "" where one process runs all.
func (c *company) slowest(times [][]time.Duration) string {
	if c.group == nil || len(times) == 0 {
		return ""
	}
	slowest, longest := 0, time.Duration(-1)
	for rank, all := range times {
		if m := medianOf(all); m > longest {
			slowest, longest = rank, m
		}
	}
	return fmt.Sprintf("rank %d on %s", slowest, c.group.Host(slowest*c.world.Size/len(times)))
}

func medianOf(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
