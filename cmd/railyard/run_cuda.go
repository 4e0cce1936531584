package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/exec/nccl"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
	"railyard/study/kernels"
	"railyard/study/network"
)

// The backends.
const (
	backendHost = "host"
	backendCUDA = "cuda"
)

// gpuFlags say how GPUs run a schedule.
type gpuFlags struct {
	Engine     string `flag:"how engine"`
	Mechanism  string `flag:"how mechanism"`
	Blocks     int    `flag:"how blocks"`
	Threads    int    `flag:"how threads"`
	Specialise bool   `flag:"how specialise,default=true"`

	node    *cuda.Node
	machine *cost.Machine // which says what was fastest
	dtype   collective.DType
	other   *nccl.Baseline                     // nil where there is no NCCL
	between between                            // of several processes
	nodes   [][]int                            // ranks whose memory one another reach: of one process all
	fixed   bool                               // the user chose the schedule
	given   bool                               // by a file
	inPlace bool                               // input and output are the same memory
	planned bool                               // over several nodes: plans are chosen by what they take by each engine
	ways    map[*schedule.Schedule]cuda.Method // how each row's runs
}

// check refuses flags without effect.
func (g *gpuFlags) check(cmd *cobra.Command, backend string) error {
	if backend != backendCUDA {
		return cli.NoEffect(cmd, "without --backend cuda", cli.FlagNames(g)...)
	}
	if g.Blocks < 0 || g.Threads < 0 || g.Threads > cuda.MaxThreads || g.Threads%32 != 0 {
		return cli.Usagef("--how blocks must be positive, threads a multiple of 32 up to %d", cuda.MaxThreads)
	}
	if err := g.checkEngine(); err != nil {
		return err
	}
	if g.Mechanism != "" {
		if _, err := block.ParseMechanism(g.Mechanism); err != nil {
			return cli.Usage(err)
		}
	}
	return nil
}

// available says in one line what is missing, before anything is planned.
func (g *gpuFlags) available() error { return driver.Load() }

// open takes the GPUs and puts the schedules that were fastest in place of the planned
// ones, unless the user asked for others.
func (g *gpuFlags) open(cmd *cobra.Command, p *planned, f *runFlags) error {
	own, err := f.Group.own(p.Question.Topology())
	if err != nil {
		return err
	}
	if g.node, err = cuda.OpenFrom(f.Group.world.LocalRank*own, own); err != nil {
		return err
	}
	g.nodes = nodesOf(p.Question.Topology(), f.Group.several())
	if g.fixed = g.staged(); g.fixed { // what was fastest was measured in one node
		g.planned = f.File == "" && !cmd.Flags().Changed("proto") // which says how kernels inside nodes run
		g.carry(p)
		if err := cli.NoEffect(cmd, "over several nodes, whose stages are interpreted", "how specialise"); err != nil {
			return err
		}
	} else if err := cli.NoEffect(cmd, "within one node", "how engine"); err != nil {
		return err
	}
	g.node.Deadline, g.machine, g.dtype = f.Group.Deadline, p.Question.Machine(), f.dtype
	g.inPlace = f.InPlace
	if f.Group.leads() {
		fmt.Fprintf(cmd.ErrOrStderr(), "# %s\n", g.node.Driver())
	}
	for _, name := range []string{"algo", "proto", "channels", "slices", "plan"} {
		g.fixed = g.fixed || cmd.Flags().Changed(name)
	}
	g.given = f.File != "" && !g.staged()
	if err := g.openLibrary(cmd, p, f); err != nil {
		g.close()
		return err
	}
	g.ways = map[*schedule.Schedule]cuda.Method{}
	if err := g.rows(p); err != nil {
		g.close()
		return err
	}
	if g.uses(true) {
		return nil
	}
	if err := cli.NoEffect(cmd, "on GPUs where no messages go by proxy (--how engine=proxy)", "sockets"); err != nil {
		g.close()
		return err
	}
	return nil
}

// carry has schedules predicted as the engines run them on these GPUs.
func (g *gpuFlags) carry(p *planned) {
	p.Run(func(s *schedule.Schedule, size units.Bytes) (*schedule.Schedule, error) {
		return network.Carried(p.Question.Topology(), s, size, cuda.Streams(s, g.node.Multiprocessors(), g.node.Share()))
	}, block.MostStreams)
}

// nodesOf are the ranks by node: those of one process reach one another's memory wherever they pretend to be.
func nodesOf(t *topology.Topology, several bool) [][]int {
	nodes := make([][]int, t.NumNodes())
	for r := range t.NumRanks() {
		node := 0
		if several {
			node = t.NodeOf(r)
		}
		nodes[node] = append(nodes[node], r)
	}
	return slices.DeleteFunc(nodes, func(ranks []int) bool { return len(ranks) == 0 })
}

// staged reports whether messages go between nodes.
func (g *gpuFlags) staged() bool { return len(g.nodes) > 1 }

// rows settle what runs for each size.
func (g *gpuFlags) rows(p *planned) error {
	warnings := g.warnings(p)
	for i := range p.Rows {
		row := &p.Rows[i]
		if err := g.row(p, i); err != nil {
			return err
		}
		row.Prediction.Warnings = slices.Concat(row.Prediction.Warnings, warnings, g.unmeasured(p, row))
	}
	return nil
}

// row settles what runs for a size, and names and predicts it as it runs.
func (g *gpuFlags) row(p *planned, i int) error {
	row := &p.Rows[i]
	delete(g.ways, row.Schedule) // which may run no more: no engine is connected for it
	if !g.fixed {
		if err := g.replace(p, row); err != nil {
			return err
		}
	}
	if engines := g.measured(p); g.planned && len(engines) > 0 {
		if err := p.Replan(i, engines...); err != nil {
			return err
		}
	}
	s, how := row.Schedule, g.method(*row)
	best, err := g.predict(p, row, s, how)
	if err != nil {
		return err
	}
	for _, w := range g.others(p, row, how) {
		if t, err := g.predict(p, row, w.schedule, w.how); err == nil && t.Time < best.Time {
			best, s, how = t, w.schedule, w.how
		}
	}
	g.ways[g.named(row, s, how)], row.Prediction = how, best
	return nil
}

// named gives a row the schedule under the protocol of how it runs.
func (g *gpuFlags) named(row *study.Row, s *schedule.Schedule, how cuda.Method) *schedule.Schedule {
	as := *s
	if as.Protocol = how.Mechanism.Protocol(); how.Proxied {
		as.Protocol = schedule.Proxied
	}
	row.Schedule = &as
	return &as
}

// openLibrary connects NCCL on the same GPUs and memory, where there is one that does the
// same.
func (g *gpuFlags) openLibrary(cmd *cobra.Command, p *planned, f *runFlags) error {
	if f.InPlace || f.Group.several() || !nccl.Supported(p.Question.Spec().Kind) {
		return nil
	}
	if err := nccl.Open(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "# without NCCL as a baseline: %v\n", err)
		return nil
	}
	if err := g.reserve(cmd.Context(), p); err != nil {
		return err
	}
	var err error
	g.other, err = nccl.NewBaseline(g.node, nccl.Setting{})
	return err
}

// reserve makes memory for all sizes, so that it stays where it is.
func (g *gpuFlags) reserve(ctx context.Context, p *planned) error {
	var largest int64
	for _, row := range p.Rows {
		largest = max(largest, int64(row.Size))
	}
	return g.node.Reserve(ctx, largest)
}

// meet makes the GPUs of several processes reach one another: within nodes by shared memory, between them by NCCL, whose
// own collectives are timed beside where there are such.
func (g *gpuFlags) meet(ctx context.Context, cmd *cobra.Command, f *runFlags, p *planned) error {
	c := &f.Group
	if err := g.node.Meet(ctx, c.all(), g.nodes); err != nil {
		return err
	}
	if err := g.share(p); err != nil {
		return err
	}
	if err := g.reserve(ctx, p); err != nil {
		return err
	}
	if g.uses(true) {
		if err := g.between.connectProxy(ctx, c, g.node); err != nil {
			return err
		}
	}
	beside, needed := !f.InPlace && nccl.Supported(p.Question.Spec().Kind), g.uses(false)
	if !beside && !needed {
		return nil
	}
	g.between.streams = g.streams()
	err := g.between.connectLibrary(ctx, c, g.node)
	switch {
	case err == nil:
	case needed || ctx.Err() != nil:
		return err
	default:
		if c.leads() {
			fmt.Fprintf(cmd.ErrOrStderr(), "# without NCCL as a baseline: %v\n", err)
		}
		return nil
	}
	if beside {
		g.other = g.between.mesh.Baseline(g.node)
	}
	return nil
}

// streams are those that the library needs: one for its own collectives, more where rows' stages have work for them.
func (g *gpuFlags) streams() int {
	most := 1
	for s, how := range g.ways {
		if g.staged() && !how.Proxied {
			most = max(most, block.StreamsOf(s))
		}
	}
	return most
}

// share keeps rows within what ranks have that share a GPU, which only processes that have met know, and says so.
func (g *gpuFlags) share(p *planned) error {
	n := g.node.Share()
	if n <= 1 {
		return nil
	}
	g.carry(p)
	warnings := append(g.warnings(p), fmt.Sprintf("%d ranks share a GPU: times are not those of ranks with GPUs of their own", n))
	for i := range p.Rows {
		row := &p.Rows[i]
		if g.planned { // on fewer streams others may be faster
			if err := g.row(p, i); err != nil {
				return err
			}
		}
		how := g.ways[row.Schedule]
		if g.Blocks == 0 {
			how = how.Shared(row.Schedule, g.node.Multiprocessors(), n)
		}
		var err error
		if row.Prediction, err = g.predict(p, row, row.Schedule, how); err != nil {
			return err
		}
		g.ways[g.named(row, row.Schedule, how)] = how
		row.Prediction.Warnings = slices.Concat(row.Prediction.Warnings, warnings, g.unmeasured(p, row))
	}
	return nil
}

func (g *gpuFlags) close() {
	if g.node.Abandoned() {
		return
	}
	if g.other != nil {
		_ = g.other.Close() // what was measured is complete
	}
	g.between.close()
	g.node.Close()
}

// warnings say where little is known of these GPUs: then schedules are the planner's, and predictions
// those for others. They travel with each row.
func (g *gpuFlags) warnings(p *planned) []string {
	var out []string
	costs, fastest := p.Question.Costs(), g.machine.Fastest()
	if costs.Borrowed() || fastest != nil && fastest.GPU != cuda.GPU() {
		out = append(out, fmt.Sprintf("assumed: profile %s was not probed on %s (%v); measure with `railyard probe`", costs.Name,
			cuda.GPU(), &costs.Origin))
	}
	switch {
	case g.fixed:
	case fastest == nil:
		out = append(out, fmt.Sprintf("profile %s does not say what is fastest here: the schedule is planned; measure with `railyard tune`",
			g.machine.Name))
	case fastest.GPU != cuda.GPU():
		out = append(out, fmt.Sprintf("profile %s knows what is fastest on %s, not on %s: the schedule is planned; measure with "+
			"`railyard tune`", g.machine.Name, fastest.GPU, cuda.GPU()))
	}
	return out
}

// unmeasured says so where nothing is known of what a row's messages between nodes cost.
func (g *gpuFlags) unmeasured(p *planned, row *study.Row) []string {
	costs, engine := p.Question.Costs(), network.Engine(g.ways[row.Schedule])
	if !g.staged() || costs.Curved(string(engine)) {
		return nil
	}
	return []string{fmt.Sprintf("assumed: what messages between nodes cost by engine %s was not measured (`railyard probe` by the same "+
		"launcher does): predicted as profile %s has messages over that network", engine, costs.Name)}
}

// replace plans what was fastest for a row's size.
func (g *gpuFlags) replace(p *planned, row *study.Row) error {
	c, ok := g.choose(p.Question.Spec(), row.Size)
	if !ok {
		return nil
	}
	s, err := planner.Build(p.Question.Topology(), p.Question.Spec(), c.Algorithm, planner.Options{Slices: c.Slices,
		Protocol: c.Method.Mechanism.Protocol()})
	if err != nil {
		return err
	}
	row.Schedule = s
	return nil
}

// predict says how long a row takes by a method; where the profile knows no such messages, how
// long its schedule takes.
func (g *gpuFlags) predict(p *planned, row *study.Row, s *schedule.Schedule, how cuda.Method) (planner.Prediction, error) {
	as := *s
	if as.Protocol = network.Engine(how); g.staged() && p.Question.Costs().Curved(string(as.Protocol)) {
		return p.Explain(&as, row.Size)
	}
	if as.Protocol = how.Mechanism.Protocol(); g.staged() || !p.Question.Costs().Curved(string(as.Protocol)) {
		return p.Explain(s, row.Size)
	}
	d := kernels.Data{Size: row.Size, Element: g.dtype.Size(), InPlace: g.inPlace}
	top, costs := p.Question.Topology(), p.Question.Costs()
	t, slower, err := kernels.Predict(top, &as, how, d, costs)
	return planner.Prediction{Time: t, Warnings: append(costs.Warnings(row.Size, top.NumRanks()), kernels.Told(t, slower)...)}, err
}

func (g *gpuFlags) choose(spec collective.Spec, size units.Bytes) (cuda.Choice, bool) {
	return cuda.Choose(g.machine, cuda.GPU(), spec.Kind, g.dtype, spec.Ranks, int64(size))
}

// config says how often: fewer operations and replays where a row would take seconds.
func (g *gpuFlags) config(f *runFlags, row study.Row, count int64) cuda.Config {
	cfg := cuda.Config{Count: count, DType: f.dtype, Op: f.op, InPlace: f.InPlace, Warmup: f.Warmup,
		Iterations: (f.Iterations + block.EpochWords - 1) / block.EpochWords * block.EpochWords, Replays: 20, Checks: 3, Seed: f.Seed}
	cfg.Limit(int64(row.Size), time.Second)
	return cfg
}

// library times NCCL's own choice for a row in the same process, memory and graphs.
func (g *gpuFlags) library(ctx context.Context, f *runFlags, row study.Row, r *report.RunRow) error {
	if g.other == nil {
		return nil
	}
	cfg := g.config(f, row, r.Count)
	cfg.Checks = 0
	other, err := g.other.Time(ctx, row.Schedule.Spec, cfg)
	if err != nil {
		return fmt.Errorf("NCCL: %w", err)
	}
	us := float64(measurement.Summarise(other.Times).Median.Nanoseconds()) / 1e3
	version, err := nccl.Version()
	r.Library.MeasuredUS, r.Library.MeasuredIn = &us, "this run, NCCL "+version
	return err
}
