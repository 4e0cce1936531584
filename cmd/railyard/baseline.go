package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	"railyard/report/table"
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

func (f *baselineFlags) run(cmd *cobra.Command) error { return f.group.announce(cmd, f.measured(cmd)) }

func (f *baselineFlags) measured(cmd *cobra.Command) error {
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
	f.predictions.Graphs = false // they are launched in a row
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
	what := terms("command", "baseline", "topology", identity(f.topology), "settings", f.Settings, "collectives", f.Kinds,
		"element type", f.Dtype, "reduction", f.Op, "launch", f.Launch, "root", f.Root, "warm-up", f.Warmup, "iterations", f.Iterations,
		"--in-place", f.InPlace)
	if err := c.enter(ctx, cluster.Hello{Version: build, Terms: what, GPUs: own, Sizes: fmt.Sprint(sizes)}); err != nil {
		return err
	}
	bound, end := c.bound(ctx)
	defer end()
	return c.leave(node.Within(bound, func() error {
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

// baselineRow is what NCCL took for a collective of a size.
type baselineRow struct {
	Collective   string   `json:"collective"`
	GPUs         int      `json:"gpus"`
	Algorithm    string   `json:"algo"`
	Protocol     string   `json:"proto"`
	Registration string   `json:"registration"`
	Launch       string   `json:"launch"`
	DType        string   `json:"dtype"`
	Size         int64    `json:"size_bytes"`
	Count        int64    `json:"count"`
	Op           string   `json:"redop"`
	Root         int      `json:"root"`
	Median       float64  `json:"time_us" digits:"3"`
	P95          float64  `json:"p95_us" digits:"3"`
	P99          float64  `json:"p99_us" digits:"3"`
	AlgBW        float64  `json:"algbw_GBps" digits:"3"`
	BusBW        float64  `json:"busbw_GBps" digits:"3"`
	InPlace      bool     `json:"in_place"`
	Estimate     float64  `json:"nccl_estimate_us" digits:"3"`
	Predicted    *float64 `json:"predicted_us" digits:"3"` // nil: not modelled
	Error        *float64 `json:"error" digits:"3"`
	Wrong        *int64   `json:"wrong"`             // elements; nil: not checked
	Sent         *int64   `json:"nvlink_sent_bytes"` // by the busiest GPU in one operation; nil without --how traffic
	Version      string   `json:"nccl_version"`
}

// measure writes each row before the next is measured.
func (f *baselineFlags) measure(ctx context.Context, w io.Writer, node *cuda.Node, settings []nccl.Setting, sizes []units.Bytes) error {
	rows, err := table.NewRows[baselineRow](w)
	if err != nil {
		return err
	}
	if err := node.Reserve(ctx, int64(sizes[len(sizes)-1])); err != nil {
		return err
	}
	for range f.rounds {
		for i, s := range settings {
			if err := f.setting(ctx, rows, node, s, sizes); err != nil {
				return fmt.Errorf("setting %s: %w", f.Settings[i], err)
			}
		}
	}
	return nil
}

// setting measures all collectives and sizes with communicators of a setting.
func (f *baselineFlags) setting(ctx context.Context, rows *table.Rows[baselineRow], node *cuda.Node, s nccl.Setting,
	sizes []units.Bytes) (err error) {
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
			row, err := f.row(ctx, b, s, kind, size)
			if err != nil {
				return err
			}
			if err := rows.Write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *baselineFlags) row(ctx context.Context, b *nccl.Baseline, s nccl.Setting, kind collective.Kind,
	size units.Bytes) (*baselineRow, error) {
	spec := collective.Spec{Kind: kind, Ranks: f.topology.NumRanks()}
	if kind.Rooted() {
		spec.Root = f.Root
	}
	cfg := f.config(size)
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
	row := &baselineRow{Collective: kind.String(), GPUs: spec.Ranks, Registration: "none", Launch: f.Launch, DType: f.elements.String(),
		Size: int64(size), Count: cfg.Count, Op: "none", Root: -1, Median: median.Microseconds(),
		P95: float64(sum.P95.Nanoseconds()) / 1e3, P99: float64(sum.P99.Nanoseconds()) / 1e3, InPlace: f.InPlace,
		Estimate: estimate.Microseconds(), Version: f.version}
	row.AlgBW, row.BusBW = study.Bandwidths(spec, size, median)
	row.Algorithm, row.Protocol = s.Names()
	if s.Windows {
		row.Registration = "window"
	}
	if kind.Reduces() {
		row.Op = f.reduction.String()
	}
	if kind.Rooted() {
		row.Root = f.Root
	}
	asked := measurement.Row{Collective: kind, Size: size, GPUs: spec.Ranks, Algo: row.Algorithm, Proto: row.Protocol, Launch: f.Launch}
	if p, err := f.predictions.Predict(asked); err == nil && !s.Windows { // its symmetric kernels are not modelled
		row.Predicted, row.Error = new(p.Time.Microseconds()), new(float64(p.Time-median)/float64(median))
	}
	if r.Wrong >= 0 { // else not checked
		row.Wrong = &r.Wrong
		f.wrong += r.Wrong
	}
	row.Sent, err = f.sent(r.Launches)
	return row, err
}

// config says how often a size is timed, and how it is launched.
func (f *baselineFlags) config(size units.Bytes) cuda.Config {
	cfg := cuda.Config{Count: int64(size) / int64(f.elements.Size()), DType: f.elements, Op: f.reduction, InPlace: f.InPlace,
		Warmup: f.Warmup, Iterations: f.Iterations, Replays: 20, Checks: f.checks, Seed: 1}
	cfg.Limit(int64(size), 5*time.Second)
	cfg.Stream = f.Launch == "stream"
	cfg.NoGraph = cfg.Stream
	return cfg
}

// sent is what the busiest GPU sent over its NVLinks in one operation since the call before; nil without --how traffic.
func (f *baselineFlags) sent(operations int) (*int64, error) {
	if f.meter == nil {
		return nil, nil
	}
	moved, err := f.meter.Busiest()
	return new(int64(moved) / int64(operations)), err
}
