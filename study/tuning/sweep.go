package tuning

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"railyard/exec/cuda"
	"railyard/exec/discover"
	"railyard/exec/nccl"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/table"
	"railyard/sim"
)

// Sweep says what is measured, in which ways and how often. Tags name the flags of the command that sweeps.
type Sweep struct {
	Load        func(gpus int) (*topology.Topology, error)
	Collectives []collective.Kind
	DTypes      []collective.DType
	Op          collective.ReduceOp
	Sizes       []units.Bytes // ascending

	Iterations int             `flag:"iters,n,default=20"` // operations in a graph
	Replays    int             `flag:"replays,default=20"` // of a graph
	Checks     int             `flag:"checks,default=3"`   // epochs that are checked
	Until      time.Time       // no case begins after this
	PerCase    time.Duration   `flag:"per-case,default=60ms"` // fewer operations and replays where they would take longer
	Deadline   time.Duration   `flag:"deadline,default=5s"`   // longest wait on a GPU
	InPlace    bool            `flag:"in-place"`
	Stream     bool            `flag:"stream"`     // launched one by one too
	Specialise bool            `flag:"specialise"` // with kernels made for one plan
	NCCL       bool            `flag:"nccl"`       // beside, with and without symmetric windows
	Meter      *discover.Meter // of what NVLinks carry; may be nil

	Chosen bool            `flag:"chosen"` // of ours only what the topology's profile says was fastest
	Before map[Key]Variant // of ours only these, where it is not nil
	Tried  []Variant       // these alone

	Run string    `flag:"run"` // what rows say of the run they are from
	Log io.Writer // gets a line for each number of GPUs

	multiprocessors int    // of a GPU
	gpu             string // its name
}

// sweepRow is a row as it is written; of a case that failed it has no times, but says why.
type sweepRow struct {
	Collective  string   `json:"collective"`
	GPUs        int      `json:"gpus"`
	DType       string   `json:"dtype"`
	Op          string   `json:"redop"`
	Size        int64    `json:"size_bytes"`
	Algorithm   string   `json:"algo"`
	Slices      int      `json:"slices"`
	Mechanism   string   `json:"mechanism"`
	Blocks      int      `json:"blocks"`
	Threads     int      `json:"threads"`
	Streams     int      `json:"streams"`
	Overlap     bool     `json:"overlap"`
	Specialised bool     `json:"specialised"`
	InPlace     bool     `json:"in_place"`
	Median      *float64 `json:"time_us" digits:"3"`
	Min         *float64 `json:"min_us" digits:"3"`
	P95         *float64 `json:"p95_us" digits:"3"`
	P99         *float64 `json:"p99_us" digits:"3"`
	Stream      *float64 `json:"stream_us" digits:"3"` // launched one by one
	Wrong       *int64   `json:"wrong"`                // elements; −1: not checked
	Iterations  int      `json:"iterations,omitempty"`
	Replays     int      `json:"replays,omitempty"`
	Sent        *int64   `json:"nvlink_sent_bytes"`   // of the busiest GPU in one operation; nil without a meter
	Planned     *int64   `json:"schedule_sent_bytes"` // what its schedule says of that
	Run         string   `json:"run"`
	At          string   `json:"at"`
	Error       string   `json:"error"`
}

// sweepCase is one measurement.
type sweepCase struct {
	topo  *topology.Topology
	spec  collective.Spec
	dtype collective.DType
	op    collective.ReduceOp
	size  units.Bytes
	v     Variant
}

// Write measures on each of some numbers of GPUs until the budget is used up, and writes the rows as CSV as they come.
func (f *Sweep) Write(ctx context.Context, w io.Writer, gpus []int, budget time.Duration) error {
	out, err := table.NewRows[sweepRow](w)
	if err != nil {
		return err
	}
	began := time.Now()
	f.Until, f.Run = began.Add(budget), cmp.Or(f.Run, Second(began))
	for _, n := range gpus {
		if err := f.on(ctx, n, out); err != nil {
			return err
		}
	}
	return nil
}

// on measures all cases on so many GPUs.
func (f *Sweep) on(ctx context.Context, gpus int, out *table.Rows[sweepRow]) error {
	began := time.Now()
	node, err := cuda.Open(gpus)
	if err != nil {
		return err
	}
	defer node.Close()
	node.Deadline, f.multiprocessors, f.gpu = f.Deadline, node.Multiprocessors(), cuda.GPU()
	fmt.Fprintf(f.Log, "# %s\n", node.Driver())
	cases, err := f.cases(gpus)
	if err != nil {
		return err
	}
	if err := node.Reserve(ctx, int64(f.Sizes[len(f.Sizes)-1])); err != nil {
		return err
	}
	baselines := map[bool]*nccl.Baseline{} // by whether on symmetric windows
	for _, windows := range []bool{false, true} {
		if !f.NCCL {
			break
		}
		if baselines[windows], err = nccl.NewBaseline(node, nccl.Setting{Windows: windows}); err != nil {
			return err
		}
		defer baselines[windows].Close()
	}
	f.prepare(node, cases)
	fmt.Fprintf(f.Log, "# %d cases, kernels compiled after %v\n", len(cases), time.Since(began).Round(time.Millisecond))
	for i, c := range cases {
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted: %d of %d cases on %d GPUs are measured and written", i, len(cases), gpus)
		case time.Now().After(f.Until):
			return nil
		}
		if err := out.Write(f.measure(ctx, node, baselines, c)); err != nil {
			return err
		}
	}
	return nil
}

func (f *Sweep) cases(gpus int) (out []sweepCase, err error) {
	topo, err := f.Load(gpus)
	if err != nil {
		return nil, err
	}
	for _, kind := range f.Collectives {
		for _, dtype := range f.DTypes {
			for _, size := range f.Sizes {
				spec := collective.Spec{Kind: kind, Ranks: gpus}
				ways, err := f.timedVariants(topo, spec, dtype, size)
				if err != nil {
					return nil, err
				}
				for _, v := range ways {
					out = append(out, sweepCase{topo, spec, dtype, f.Op, size, v})
				}
			}
		}
	}
	return out, nil
}

// prepare compiles all kernels side by side; what fails will say so when it runs.
func (f *Sweep) prepare(node *cuda.Node, cases []sweepCase) {
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, c := range cases {
		g.Go(func() error {
			if c.v.Algorithm == NCCL {
				return nil
			}
			if s, err := c.v.build(c.topo, c.spec); err == nil {
				_ = node.Prepare(s, f.config(c), c.v.How)
			}
			return nil
		})
	}
	_ = g.Wait()
}

// config says how often to run a case: less often where it would take long.
func (f *Sweep) config(c sweepCase) cuda.Config {
	cfg := cuda.Config{Count: int64(c.size) / int64(c.dtype.Size()), DType: c.dtype, Op: c.op, InPlace: f.InPlace, Warmup: 5,
		Iterations: f.Iterations, Replays: f.Replays,
		Checks: f.Checks, Stream: f.Stream, Seed: 1}
	if n := int64(c.spec.Blocks()); n > 1 { // whole 16 bytes for each rank, as nccl-tests rounds
		cfg.Count -= cfg.Count % (n * 16 / int64(c.dtype.Size()))
	}
	cfg.Limit(int64(c.size), f.PerCase)
	return cfg
}

// build is the schedule, checked.
func (v Variant) build(topo *topology.Topology, spec collective.Spec) (*schedule.Schedule, error) {
	s, err := planner.Build(topo, spec, v.Algorithm, planner.Options{Slices: v.Slices})
	if err != nil {
		return nil, err
	}
	return s, schedule.Check(s, topo)
}

// measure is a row; what fails is named in it.
func (f *Sweep) measure(ctx context.Context, node *cuda.Node, baselines map[bool]*nccl.Baseline, c sweepCase) *sweepRow {
	cfg, v := f.config(c), c.v
	row := &sweepRow{Collective: c.spec.Kind.String(), GPUs: c.spec.Ranks, DType: c.dtype.String(), Op: c.op.String(),
		Size: cfg.Count * int64(c.dtype.Size()), Algorithm: v.Algorithm, Slices: v.Slices, Mechanism: v.Mechanism(),
		Blocks: v.How.Blocks, Threads: v.How.Threads, Streams: v.How.Streams, Overlap: v.How.Overlap, Specialised: v.How.Specialise,
		InPlace: f.InPlace, Run: f.Run}
	r, err := f.time(ctx, node, baselines, c, row)
	row.At = Second(time.Now())
	if err != nil {
		row.Error = err.Error()
		return row
	}
	row.Specialised = r.Specialised // long plans are not, whoever asks
	us := func(d time.Duration) *float64 { return new(float64(d.Nanoseconds()) / 1e3) }
	sum := measurement.Summarise(r.Times)
	row.Median, row.Min, row.P95, row.P99 = us(sum.Median), us(sum.Min), us(sum.P95), us(sum.P99)
	if len(r.Stream) > 0 {
		row.Stream = us(measurement.Summarise(r.Stream).Median)
	}
	row.Wrong, row.Iterations, row.Replays = &r.Wrong, cfg.Iterations, cfg.Replays
	return row
}

// time runs a case; what was sent goes into its row.
func (f *Sweep) time(ctx context.Context, node *cuda.Node, baselines map[bool]*nccl.Baseline, c sweepCase,
	row *sweepRow) (*cuda.Result, error) {
	cfg := f.config(c)
	if c.v.Algorithm == NCCL {
		cfg.Checks = 0
		return baselines[c.v.Windows].Time(ctx, c.spec, cfg)
	}
	s, err := c.v.build(c.topo, c.spec)
	if err != nil {
		return nil, err
	}
	r, err := node.Run(ctx, s, cfg, c.v.How)
	if err != nil {
		return nil, err
	}
	return r, f.sent(c, s, r.Launches, row)
}

// Second is a moment as rows name it.
func Second(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// sent puts into a row what the busiest GPU sent over its NVLinks in one operation since the call before, and what the schedule says;
// nothing without a meter.
func (f *Sweep) sent(c sweepCase, s *schedule.Schedule, operations int, row *sweepRow) error {
	if f.Meter == nil {
		return nil
	}
	moved, err := f.Meter.Busiest()
	if err != nil {
		return err
	}
	r, err := sim.Run(c.topo, s, c.size, cost.Ideal, sim.Options{})
	if err != nil {
		return err
	}
	row.Sent, row.Planned = new(int64(moved)/int64(operations)), new(int64(slices.Max(r.SentBytes)))
	return nil
}
