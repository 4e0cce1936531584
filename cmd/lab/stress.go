package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"railyard/cmd/internal/cli"
	"railyard/exec/cluster"
	"railyard/exec/cuda"
	"railyard/internal/outfile"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/report/table"
	"railyard/study/tuning"
	"railyard/topologies"
)

// stressFlags bound a stress run: random schedules in random ways on the GPUs, of which every element is checked, for those who change
// the kernels.
type stressFlags struct {
	Topology string        `flag:"topology,t,default=hgx-h200-4"`
	Nodes    int           `flag:"nodes"`
	Gpus     int           `flag:"gpus,default=2"`
	Share    int           `flag:"share,default=1"`
	Length   time.Duration `flag:"for,default=5m"`
	Deadline time.Duration `flag:"deadline,default=5s"`
	Seed     uint64        `flag:"seed,default=1"`
	First    int           `flag:"first"`
	Engine   string        `flag:"engine"`
	Out      string        `flag:"output,o"`

	several *stressProcesses // nil in one process
}

// stressCase is one random run.
type stressCase struct {
	number int
	s      *schedule.Schedule
	cfg    cuda.Config
	how    cuda.Method
}

func (c *stressCase) String() string {
	return fmt.Sprintf("case %d: %s of %s, %v %v, %d elements, %d bytes off alignment, in place %v, %d slices, %s, %d blocks of %d "+
		"threads, delays up to %v, specialised %v", c.number,
		c.s.Algorithm, c.s.Spec.Kind, c.cfg.Op, c.cfg.DType, c.cfg.Count, c.cfg.Offset, c.cfg.InPlace, c.s.Channels[0].Slices,
		c.mechanism(), c.how.Blocks, c.how.Threads, c.cfg.Jitter, c.how.Specialise)
}

// mechanism is how messages travel within nodes, and that they go by proxy between them.
func (c *stressCase) mechanism() string {
	name := tuning.Variant{How: c.how}.Mechanism()
	if c.how.Proxied {
		name += "/" + string(schedule.Proxied)
	}
	return name
}

var (
	stressKinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.AllToAll,
		collective.Reduce, collective.Gather, collective.Scatter, collective.SendRecv, collective.AllToAllV}
	stressTypes = []collective.DType{collective.Float32, collective.BFloat16, collective.Float16, collective.Int32, collective.Float8E4M3,
		collective.Float8E5M2}
	stressOps = []collective.ReduceOp{collective.Sum, collective.Sum, collective.Max, collective.Min, collective.Avg}
)

// make draws case number n; nil where what was drawn has no schedule.
func (f *stressFlags) make(topo *topology.Topology, n int) *stressCase {
	r := rand.New(rand.NewPCG(f.Seed, uint64(n)))
	s := stressSchedule(r, topo)
	if s == nil {
		return nil
	}
	c := &stressCase{number: n, s: s, cfg: stressConfig(r)}
	most := cuda.MaxBlocks(stressBlocks, f.Share) / stressLanes(s)
	if most == 0 && f.Share > 1 {
		return nil
	}
	c.how = cuda.Method{Blocks: 1 + r.IntN(max(most, 1)), Threads: 32 << r.IntN(6), Streams: 1 + r.IntN(2), Overlap: r.IntN(8) > 0,
		Specialise: r.IntN(24) == 0}
	// Few threads get few elements, so that no case takes long.
	blocks, elements := int64(s.Spec.Blocks()), float64(min(4<<20, c.how.Blocks*c.how.Threads*64))
	c.cfg.Count = max(int64(math.Exp(r.Float64()*math.Log(elements)))/blocks, 1) * blocks
	if f.several != nil && len(f.several.engines) > 0 {
		c.how.Proxied = f.several.engines[r.IntN(len(f.several.engines))]
	}
	switch m := block.Mechanism(r.IntN(8)); {
	case m > block.WordsPush && f.Share > 1 && f.several == nil:
		return nil // copy engines are not shared
	case m > block.WordsPush:
		c.how.Mechanism, c.how.Specialise = block.Copies, false
	default:
		c.how.Mechanism = m
	}
	return c
}

// stressConfig draws types, operations, places and delays.
func stressConfig(r *rand.Rand) cuda.Config {
	cfg := cuda.Config{DType: stressTypes[r.IntN(len(stressTypes))], Op: stressOps[r.IntN(len(stressOps))], InPlace: r.IntN(4) == 0,
		Warmup: 5, Iterations: 12, Replays: 5, Checks: 3, Seed: int64(r.Uint32N(1 << 16))}
	if cfg.DType == collective.Int32 && cfg.Op == collective.Avg {
		cfg.Op = collective.Sum
	}
	cfg.Offset = int64(r.IntN(5)) * int64(cfg.DType.Size())
	if r.IntN(2) == 0 {
		cfg.Jitter = time.Duration(1 + r.IntN(20000))
	}
	return cfg
}

// stressSchedule draws a collective and one of the algorithms that apply to it.
func stressSchedule(r *rand.Rand, topo *topology.Topology) *schedule.Schedule {
	spec, slices := stressSpec(r, topo.NumRanks()), []int{1, 1, 2, 3, 5}[r.IntN(5)]
	algorithms := planner.Algorithms()
	for _, i := range r.Perm(len(algorithms)) {
		s, err := planner.Build(topo, spec, algorithms[i].Name, planner.Options{Slices: slices})
		if err == nil && schedule.Check(s, topo) == nil {
			return s
		}
	}
	return nil
}

// stressSpec draws a collective, its root, and what ranks have for one another.
func stressSpec(r *rand.Rand, ranks int) collective.Spec {
	spec := collective.Spec{Kind: stressKinds[r.IntN(len(stressKinds))], Ranks: ranks}
	if spec.Kind.Rooted() {
		spec.Root = r.IntN(ranks)
	}
	if spec.Kind == collective.AllToAllV {
		spec.Counts = make([][]int64, ranks)
		for i := range spec.Counts {
			for range ranks {
				spec.Counts[i] = append(spec.Counts[i], r.Int64N(4))
			}
		}
		spec.Counts[0][ranks-1] = 3 // somebody sends something
	}
	return spec
}

// stressBlocks is how many a GPU has at most, so that all fit at once.
const stressBlocks = 96

func stressLanes(s *schedule.Schedule) (n int) {
	for _, ch := range s.Channels {
		n += len(ch.Phases)
	}
	return n
}

// stressKey is what results are counted by.
type stressKey struct {
	kind      collective.Kind
	mechanism string
}

// stressRow says how many cases of a key were run.
type stressRow struct {
	Collective string `json:"collective"`
	Mechanism  string `json:"mechanism"`
	Ranks      int    `json:"ranks"`
	GPUs       int    `json:"gpus"`
	Cases      int64  `json:"cases"`
	Operations int64  `json:"operations"`
	Wrong      int64  `json:"wrong"`
}

// Run plays cases until the time is over.
func (f *stressFlags) Run(cmd *cobra.Command, _ []string) error {
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	if x := schedule.Protocol(f.Engine); x != "" && x != schedule.Staged && x != schedule.Proxied {
		return cli.Usagef("--engine %s: must be %s or %s", x, schedule.Staged, schedule.Proxied)
	}
	topo, err := topology.Load(topologies.Source, f.Topology, topology.Options{Nodes: f.Nodes, GPUs: f.Gpus})
	if err != nil {
		return err
	}
	world, err := cluster.Detect(os.Getenv)
	if err != nil {
		return err
	}
	if world.Size > 1 {
		return f.among(ctx, cmd, world, topo)
	}
	node, err := cuda.OpenShared(topo.NumRanks(), f.Share)
	if err != nil {
		return err
	}
	defer node.Close()
	return f.all(ctx, cmd, node, topo)
}

// all plays batches until the time is over.
func (f *stressFlags) all(ctx context.Context, cmd *cobra.Command, node *cuda.Node, topo *topology.Topology) error {
	node.Deadline = f.Deadline
	fmt.Fprintf(cmd.ErrOrStderr(), "# %s\n", node.Driver())
	began, counts, refused := time.Now(), map[stressKey]*stressRow{}, 0
	const batch = 64
	for n := f.First; ; n += batch {
		list, err := f.batch(ctx, node, topo, n, batch)
		if err != nil {
			return err
		}
		refused += batch - len(list)
		more, err := f.play(ctx, node, list, began, counts)
		if err != nil {
			return err
		}
		if !more {
			return f.report(cmd.OutOrStdout(), topo.NumRanks(), node.GPUs(), time.Since(began), counts, refused)
		}
	}
}

// timeLeft reports whether another case begins: all processes say so, or none.
func (f *stressFlags) timeLeft(ctx context.Context, began time.Time) (bool, error) {
	left, err := f.agreed(ctx, []bool{time.Since(began) < f.Length && ctx.Err() == nil})
	return left[0] && err == nil, err
}

// agreed says of each question whether all processes say yes to it.
func (f *stressFlags) agreed(ctx context.Context, yes []bool) ([]bool, error) {
	if f.several == nil {
		return yes, nil
	}
	return f.several.all(ctx, yes)
}

// batch draws cases and compiles their kernels side by side; what some process's kernels refuse is left out by all.
func (f *stressFlags) batch(ctx context.Context, node *cuda.Node, topo *topology.Topology, first, n int) (out []*stressCase, err error) {
	list, made := make([]*stressCase, n), make([]bool, n)
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for i := range list {
		g.Go(func() error {
			if c := f.make(topo, first+i); c != nil && node.Prepare(c.s, c.cfg, c.how) == nil {
				list[i], made[i] = c, true
			}
			return nil
		})
	}
	_ = g.Wait() // what fails is left out
	made, err = f.agreed(ctx, made)
	for i, c := range list {
		if made[i] {
			out = append(out, c)
		}
	}
	return out, err
}

// play runs cases, and reports whether there is time for more; the error names the first that is wrong, and how to repeat it.
func (f *stressFlags) play(ctx context.Context, node *cuda.Node, list []*stressCase, began time.Time,
	counts map[stressKey]*stressRow) (more bool, err error) {
	for _, c := range list {
		if more, err = f.timeLeft(ctx, began); !more || err != nil {
			return false, err
		}
		r, err := node.Run(ctx, c.s, c.cfg, c.how)
		if f.several != nil && errors.Is(err, cuda.ErrRoom) { // what nodes need at once is known when they load it
			continue
		}
		if err == nil && r.Wrong > 0 {
			err = fmt.Errorf("%d wrong elements", r.Wrong)
		}
		if err != nil {
			return false, fmt.Errorf("--seed %d --first %d, %v: %w", f.Seed, c.number, c, err)
		}
		k := stressKey{c.s.Spec.Kind, c.mechanism()}
		if counts[k] == nil {
			counts[k] = &stressRow{Collective: k.kind.String(), Mechanism: k.mechanism}
		}
		counts[k].Cases++
		counts[k].Operations += int64(r.Launches)
		counts[k].Wrong += r.Wrong
	}
	return f.timeLeft(ctx, began)
}

func (f *stressFlags) report(out io.Writer, ranks, gpus int, took time.Duration, counts map[stressKey]*stressRow, refused int) error {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b stressKey) int {
		return cmp.Or(cmp.Compare(slices.Index(stressKinds, a.kind), slices.Index(stressKinds, b.kind)),
			cmp.Compare(a.mechanism, b.mechanism))
	})
	var all stressRow
	var d struct {
		Rows []stressRow `json:"rows" csv:""`
	}
	for _, k := range keys {
		c := counts[k]
		c.Ranks, c.GPUs = ranks, gpus
		all.Cases, all.Operations, all.Wrong = all.Cases+c.Cases, all.Operations+c.Operations, all.Wrong+c.Wrong
		d.Rows = append(d.Rows, *c)
	}
	fmt.Fprintf(out, "%v, seed %d: %d cases, %d operations, %d wrong elements; %d draws have no schedule or are refused\n",
		took.Round(time.Second), f.Seed, all.Cases, all.Operations, all.Wrong, refused)
	if f.Out == "" {
		return nil
	}
	return outfile.Write(f.Out, func(w io.Writer) error { return table.Emit(w, table.CSV, &d) })
}
