package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cluster"
	"railyard/exec/cuda"
	"railyard/exec/host"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/table"
)

// processGroup is the processes that a launcher has started for one run; this is one of them. Rank 0 of them keeps and prints
// what all have measured, the others only say why they could not go on.
type processGroup struct {
	Deadline time.Duration `flag:"deadline,default=10s"`         // of a wait for a peer
	Sockets  int           `flag:"sockets,default=1,lo=1,hi=64"` // between each two processes

	world   cluster.World
	met     bool // the others, or they are known not to come
	control *cluster.Group
	data    *host.Processes
}

// detect asks the launcher's variables who this process is, and refuses a topology that is one machine's where there are several.
func (c *processGroup) detect(topology, oneMachine string) (err error) {
	if c.world, err = cluster.Detect(os.Getenv); err != nil || !c.several() || topology != oneMachine {
		return err
	}
	return cli.Usagef("-t %s is one machine: name a topology with a rank for each of the %d processes (launcher: %s)", topology,
		c.world.Size, c.world.Launcher)
}

// several reports whether there are others; else this process alone runs everything.
func (c *processGroup) several() bool { return c.world.Size > 1 }

// detect asks who this process is, and refuses what has no effect there.
func (f *runFlags) detect(cmd *cobra.Command) error {
	if err := f.Group.detect(f.Plan.Topo.Name, hostTopology); err != nil {
		return err
	}
	if f.Group.several() {
		return nil
	}
	return cli.NoEffect(cmd, "in one process", "sockets")
}

// announce tells the other processes why this one ends before it has met them: a file that is not there, a topology that does not
// fit. They would wait for it otherwise.
func (c *processGroup) announce(cmd *cobra.Command, err error) error {
	if err == nil || c.met {
		return err
	}
	world, unknown := cluster.Detect(os.Getenv)
	if unknown != nil || world.Size < 2 {
		return err
	}
	secret, unknown := cluster.Secret(os.Getenv)
	if unknown != nil {
		return err
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	cluster.Decline(ctx, world, err, cluster.Options{Secret: secret})
	return err
}

// leads reports whether this process keeps and prints what is measured.
func (c *processGroup) leads() bool { return c.world.Rank == 0 }

// meet joins the others, which agree on what is run, and connects their ranks for data.
func (f *runFlags) meet(ctx context.Context, cmd *cobra.Command, p *planned) error {
	c := &f.Group
	own, err := c.own(p.Question.Topology())
	if err != nil {
		return err
	}
	hello, err := f.hello(p, own)
	if err != nil {
		return err
	}
	if f.Backend != backendCUDA {
		return c.join(ctx, hello, own)
	}
	if err := c.enter(ctx, hello); err != nil {
		return err
	}
	bound, end := c.bound(ctx)
	defer end()
	if err := f.Gpu.meet(bound, cmd, f, p); err != nil {
		return c.leave(err)
	}
	return nil
}

// enter meets the other processes, which agree.
func (c *processGroup) enter(ctx context.Context, hello cluster.Hello) (err error) {
	c.met = true
	options := cluster.Options{Wait: max(c.Deadline, time.Minute)} // schedulers start processes one by one
	if options.Secret, err = cluster.Secret(os.Getenv); err != nil {
		return err
	}
	c.control, err = cluster.Join(ctx, c.world, hello, options)
	return err
}

// join enters and connects the ranks of all processes, so many in this one, in host memory.
func (c *processGroup) join(ctx context.Context, hello cluster.Hello, ranks int) (err error) {
	if err := c.enter(ctx, hello); err != nil {
		return err
	}
	c.data, err = host.Meet(ctx, c.control, host.Place{Process: c.world.Rank, Size: c.world.Size, Ranks: ranks, Local: c.control.Local(),
		Host: c.control.Address(), Sockets: c.Sockets})
	if err != nil {
		return c.leave(err)
	}
	return nil
}

// own is how many ranks each process has.
func (c *processGroup) own(t *topology.Topology) (int, error) {
	ranks, size := t.NumRanks(), c.world.Size
	if ranks%size > 0 {
		return 0, fmt.Errorf("%s has %d ranks, which cannot be divided equally among %d processes (launcher: %s): change --nodes or --gpus",
			t.Name(), ranks, size, c.world.Launcher)
	}
	return ranks / size, nil
}

// crowd is how many ranks there are for each of this machine's processors, where several processes have more than one; 0 else.
func (c *processGroup) crowd(t *topology.Topology) float64 {
	if !c.several() || c.control == nil {
		return 0
	}
	ranks := t.NumRanks() / c.world.Size * c.control.Local()
	if ranks <= runtime.NumCPU() {
		return 0
	}
	return float64(ranks) / float64(runtime.NumCPU())
}

// all are the processes, for GPUs.
func (c *processGroup) all() cuda.Processes {
	return cuda.Processes{Own: c.world.Rank, Size: c.world.Size, Exchange: c.control.Exchange, Barrier: c.control.Barrier}
}

// openGPUs takes as many GPUs in each process, where all have them.
func (c *processGroup) openGPUs(ctx context.Context, t *topology.Topology) (*cuda.Node, error) {
	own, err := c.own(t)
	if err != nil {
		return nil, err
	}
	node, err := cuda.OpenFrom(c.world.LocalRank*own, own)
	err = cuda.Agree(ctx, c.all(), err)
	if err != nil && node != nil {
		node.Close()
	}
	return node, err
}

// bound is a context that ends with the other processes, too.
func (c *processGroup) bound(ctx context.Context) (context.Context, func()) {
	return host.Bound(ctx, c.control)
}

// leave tells the others why this process ends, unless it ends well, as it then does when all others do.
func (c *processGroup) leave(err error) error {
	if err != nil {
		c.control.Abort(err)
	}
	var closed error
	if c.data != nil {
		closed = c.data.Close()
	}
	if cause := c.control.Close(); cause != nil {
		closed = cause
	}
	if err != nil {
		return err
	}
	return closed
}

// hello is what all processes must agree on: the build, what the user has said, the schedules.
func (f *runFlags) hello(p *planned, ranks int) (cluster.Hello, error) {
	g, t := &f.Gpu, p.Question.Topology()
	build, err := exactBuild()
	out := cluster.Hello{Version: build, GPUs: ranks, Terms: terms("command", "run --backend "+f.Backend, "topology", identity(t),
		"collective", p.Question.Spec().Kind, "element type", f.dtype, "reduction", f.op, "iterations", f.Iterations, "warm-up", f.Warmup,
		"seed", f.Seed, "--in-place", f.InPlace, "--deadline", f.Group.Deadline, "mechanism", g.Mechanism, "blocks", g.Blocks,
		"threads", g.Threads, "engine", g.Engine)}
	if err != nil {
		return out, err
	}
	var sizes []string
	plan := sha256.New()
	var last *schedule.Schedule
	for _, row := range p.Rows {
		sizes = append(sizes, fmt.Sprint(int64(row.Size)))
		if row.Schedule == last {
			continue
		}
		last = row.Schedule
		fmt.Fprintf(plan, "from %d\n", int64(row.Size))
		if err := schedule.Encode(plan, last); err != nil {
			return out, err
		}
	}
	out.Plan, out.Sizes = hex.EncodeToString(plan.Sum(nil)[:8]), strings.Join(sizes, ",")
	return out, nil
}

// terms are what a user has said: names, each with its value.
func terms(all ...any) (out []cluster.Term) {
	for i := 0; i < len(all); i += 2 {
		out = append(out, cluster.Term{What: fmt.Sprint(all[i]), Value: fmt.Sprint(all[i+1])})
	}
	return out
}

// identity is a topology's name, with a hash of all that it contains.
func identity(t *topology.Topology) string { return t.Name() + " (" + t.Hash()[:8] + ")" }

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
func (c *processGroup) rankTimes(size int64, times [][]time.Duration) (out []report.RankTimes) {
	for rank, all := range times {
		r := report.RankTimes{SizeBytes: size, Rank: rank}
		if c.control != nil {
			r.Node = c.control.Host(rank * c.world.Size / len(times))
		}
		for _, t := range all {
			r.TimesUS = append(r.TimesUS, float64(t.Nanoseconds())/1e3)
		}
		out = append(out, r)
	}
	return out
}

// slowest names the rank whose median is longest, "" where one process runs all.
func (c *processGroup) slowest(times [][]time.Duration) string {
	if c.control == nil || len(times) == 0 {
		return ""
	}
	slowest, longest := 0, time.Duration(-1)
	for rank, all := range times {
		if m := measurement.Summarise(all).Median; m > longest {
			slowest, longest = rank, m
		}
	}
	return fmt.Sprintf("rank %d on %s", slowest, c.control.Host(slowest*c.world.Size/len(times)))
}
