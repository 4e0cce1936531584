package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cluster"
	"railyard/exec/cuda"
	"railyard/exec/discover"
	"railyard/exec/nccl"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/study"
	"railyard/study/measured"
)

// baselineFlags say what NCCL is asked to do.
type baselineFlags struct {
	Topo       topoFlags `without:"load"`
	Profile    profileFlag
	Sizes      cli.SizeFlags
	Kinds      []string `flag:"collective,c,commas,default=all_reduce"`
	Settings   []string `flag:"setting,commas,default=default"`
	Dtype      string   `flag:"datatype,d,default=float32"`
	Op         string   `flag:"op,default=sum"`
	Root       int      `flag:"root"`
	Launch     string   `flag:"how launch,default=graph,one=graph|stream"`
	Traffic    bool     `flag:"how traffic"`
	Iterations int      `flag:"iters,n,default=20,lo=1"`
	Warmup     int      `flag:"warmup,w,default=5,lo=0"`
	InPlace    bool     `flag:"in-place"`
	Out        string   `flag:"output,o,writes"`

	topology    *topology.Topology
	predictions *measured.Cases
	rounds      int // how often all is measured, one after the other
	checks      int // results that are checked
	has         func(collective.Kind, nccl.Setting) bool
	version     string
	collectives []collective.Kind
	elements    collective.DType
	reduction   collective.ReduceOp
	wrong       int64
	group       processGroup
	meter       *discover.Meter
}

// Run measures all settings, collectives and sizes.
func (f *baselineFlags) Run(cmd *cobra.Command, _ []string) error {
	f.rounds, f.checks, f.has = 1, 2, func(collective.Kind, nccl.Setting) bool { return true }
	return f.run(cmd)
}

func (f *baselineFlags) run(cmd *cobra.Command) error {
	settings, err := f.parse(cmd)
	if err != nil {
		return err
	}
	sizes, err := f.Sizes.Sizes(cmd)
	if err != nil {
		return err
	}
	if err := nccl.Open(); err != nil {
		return err
	}
	if f.version, err = nccl.Version(); err != nil {
		return err
	}
	if f.topology, err = f.Topo.load(); err != nil {
		return err
	}
	profile, err := f.Profile.ran(f.topology)
	if err != nil {
		return err
	}
	f.predictions = measured.NewCases(f.Topo.measured, profile)
	if f.Traffic {
		l, err := discover.Open()
		if err != nil {
			return err
		}
		defer l.Close()
		if f.meter, err = discover.NewMeter(l); err != nil {
			return err
		}
	}
	if err := f.onGPUs(cmd, settings, sizes); err != nil {
		return err
	}
	if f.wrong > 0 {
		return fmt.Errorf("%d wrong elements: the results cannot be trusted", f.wrong)
	}
	return nil
}

// onGPUs measures on this machine's GPUs, or on those of all processes that a launcher has started, of which rank 0 writes.
func (f *baselineFlags) onGPUs(cmd *cobra.Command, settings []nccl.Setting, sizes []units.Bytes) (err error) {
	c := &f.group
	if c.world, err = cluster.Detect(os.Getenv); err != nil {
		return cli.Usage(err)
	}
	own, err := c.own(f.topology)
	if err != nil {
		return err
	}
	if f.topology.NumRanks() < 2 {
		return errors.New("collectives need two GPUs")
	}
	node, err := cuda.OpenFrom(c.world.LocalRank*own, own)
	if err != nil {
		return err
	}
	defer func() {
		if !node.Abandoned() {
			node.Close()
		}
	}()
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	write := func(ctx context.Context) error {
		return cli.StreamTo(cmd, f.Out, func(w io.Writer) error { return f.measure(ctx, w, node, settings, sizes) })
	}
	if !c.several() {
		return write(ctx)
	}
	if !c.leads() {
		write = func(ctx context.Context) error { return f.measure(ctx, io.Discard, node, settings, sizes) }
	}
	build, err := exactBuild()
	if err != nil {
		return err
	}
	what := fmt.Sprint(f.topology.Hash(), f.Settings, f.Kinds, f.Dtype, f.Op, f.Launch, f.Root, f.Warmup, f.Iterations, f.InPlace)
	if err := c.enter(ctx, cluster.Hello{Version: build, Plan: what, GPUs: own, Sizes: fmt.Sprint(sizes)}); err != nil {
		return err
	}
	bound, end := c.bound(ctx)
	defer end()
	return c.leave(withinGPUs(bound, node, func() error {
		if err := node.Meet(bound, c.all(), nil); err != nil {
			return err
		}
		return write(bound)
	}))
}

// parse reads the flags that are names.
func (f *baselineFlags) parse(cmd *cobra.Command) ([]nccl.Setting, error) {
	var err error
	if f.elements, err = collective.ParseDType(f.Dtype); err != nil {
		return nil, cli.Usage(err)
	}
	if f.reduction, err = collective.ParseOp(f.Op); err != nil {
		return nil, cli.Usage(err)
	}
	reduces, rooted := false, false
	for _, name := range f.Kinds {
		k, err := collective.Parse(name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		if !nccl.Supported(k) {
			return nil, cli.Usagef("-c %v: NCCL has no such collective", k)
		}
		reduces, rooted = reduces || k.Reduces(), rooted || k.Rooted()
		f.collectives = append(f.collectives, k)
	}
	if cmd.Flags().Changed("op") && !reduces || cmd.Flags().Changed("root") && !rooted {
		return nil, cli.Usagef("--op and --root have no effect on %s: leave them out", strings.Join(f.Kinds, ", "))
	}
	var out []nccl.Setting
	for _, text := range f.Settings {
		s, err := nccl.ParseSetting(text)
		if err != nil {
			return nil, cli.Usage(err)
		}
		out = append(out, s)
	}
	return out, nil
}

var baselineHeader = []string{"collective", "gpus", "algo", "proto", "registration", "launch", "dtype", "size_bytes", "count", "redop",
	"root", "time_us", "p95_us",
	"p99_us",
	"algbw_GBps", "busbw_GBps", "in_place", "nccl_estimate_us", "predicted_us", "error", "wrong", "nvlink_sent_bytes", "nccl_version"}

// measure writes each row before the next is measured.
func (f *baselineFlags) measure(ctx context.Context, w io.Writer, node *cuda.Node, settings []nccl.Setting, sizes []units.Bytes) error {
	table := csv.NewWriter(w)
	if err := table.Write(baselineHeader); err != nil {
		return err
	}
	if err := node.Reserve(ctx, int64(sizes[len(sizes)-1])); err != nil {
		return err
	}
	for range f.rounds {
		for i, s := range settings {
			if err := f.setting(ctx, table, node, s, sizes); err != nil {
				return fmt.Errorf("setting %s: %w", f.Settings[i], err)
			}
		}
	}
	return nil
}

// setting measures all collectives and sizes with communicators of a setting.
func (f *baselineFlags) setting(ctx context.Context, table *csv.Writer, node *cuda.Node, s nccl.Setting, sizes []units.Bytes) (err error) {
	var b *nccl.Baseline
	if !f.group.several() {
		b, err = nccl.NewBaseline(node, s)
	} else {
		var mesh *nccl.Mesh
		if mesh, b, err = nccl.Over(ctx, f.group.all(), node, s); err == nil {
			node.Connect(mesh)
			defer func() { err = errors.Join(err, mesh.Close()) }()
		}
	}
	if err != nil {
		return err
	}
	defer func() {
		if !node.Abandoned() {
			err = errors.Join(err, b.Close())
		}
	}()
	if _, err := f.sent(1); err != nil { // what connecting sent does not count
		return err
	}
	for _, kind := range f.collectives {
		if !f.has(kind, s) {
			continue
		}
		for _, size := range sizes {
			row, err := f.row(ctx, node, b, s, kind, size)
			if err != nil {
				return err
			}
			table.Write(row)
			if table.Flush(); table.Error() != nil {
				return table.Error()
			}
		}
	}
	return nil
}

func (f *baselineFlags) row(ctx context.Context, node *cuda.Node, b *nccl.Baseline, s nccl.Setting, kind collective.Kind,
	size units.Bytes) ([]string, error) {
	spec := collective.Spec{Kind: kind, Ranks: f.topology.NumRanks()}
	if kind.Rooted() {
		spec.Root = f.Root
	}
	cfg := cuda.Config{Count: int64(size) / int64(f.elements.Size()), DType: f.elements, Op: f.reduction, InPlace: f.InPlace,
		Warmup:     f.Warmup,
		Iterations: f.Iterations, Replays: 20, Checks: f.checks, Seed: 1}
	cfg.Limit(int64(size), 5*time.Second)
	cfg.Stream = f.Launch == "stream"
	cfg.NoGraph = cfg.Stream
	estimate, err := b.Estimate(spec, cfg)
	if err != nil {
		return nil, fmt.Errorf("%v, %v: %w", kind, size, err)
	}
	r, err := b.Time(ctx, spec, cfg)
	if err != nil {
		return nil, fmt.Errorf("%v, %v: %w", kind, size, err)
	}
	times := r.Times
	if cfg.Stream {
		times = r.Stream
	}
	sum := measurement.Summarise(times)
	median := units.Time(sum.Median.Nanoseconds()) * units.Nanosecond
	alg, bus := study.Bandwidths(spec, size, median)
	algo, proto := s.Names()
	registration := "none"
	if s.Windows {
		registration = "window"
	}
	predicted, miss := "", ""
	row := measurement.Row{Collective: kind, Size: size, GPUs: spec.Ranks, Algo: algo, Proto: proto, Launch: f.Launch}
	if p, err := f.predictions.Predict(row); err == nil && !s.Windows { // its symmetric kernels are not modelled
		predicted, miss = decimal(p.Time.Microseconds()), decimal(float64(p.Time-median)/float64(median))
	}
	wrong := "" // not checked
	if r.Wrong >= 0 {
		wrong = strconv.FormatInt(r.Wrong, 10)
		f.wrong += r.Wrong
	}
	sent, err := f.sent(r.Launches)
	if err != nil {
		return nil, err
	}
	us := func(t units.Time) string { return decimal(t.Microseconds()) }
	op, root := "none", "-1"
	if kind.Reduces() {
		op = f.reduction.String()
	}
	if kind.Rooted() {
		root = strconv.Itoa(f.Root)
	}
	return []string{kind.String(), strconv.Itoa(spec.Ranks), algo, proto, registration, f.Launch, f.elements.String(),
		strconv.FormatInt(int64(size), 10), strconv.FormatInt(cfg.Count, 10), op, root, us(median),
		decimal(float64(sum.P95.Nanoseconds()) / 1e3), decimal(float64(sum.P99.Nanoseconds()) / 1e3), decimal(alg), decimal(bus),
		strconv.FormatBool(f.InPlace),
		us(estimate), predicted, miss, wrong, sent, f.version}, nil
}

// sent is what the busiest GPU sent over its NVLinks in one operation since the call
// before; "" without --traffic.
func (f *baselineFlags) sent(operations int) (string, error) {
	if f.meter == nil {
		return "", nil
	}
	moved, err := f.meter.Busiest()
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(int64(moved)/int64(operations), 10), nil
}

// decimal is a number with three digits after the point.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
