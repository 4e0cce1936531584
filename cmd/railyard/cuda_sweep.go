package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// sweepFlags choose what cuda-sweep measures.
type sweepFlags struct {
	topology    string
	gpus        []int
	collectives []string
	dtypes      []string
	op          string
	sizes       sizeFlags
	iterations  int
	replays     int
	checks      int
	budget      time.Duration
	perCase     time.Duration
	deadline    time.Duration
	jitter      time.Duration
	inPlace     bool
	odd         bool
	stream      bool
	specialise  bool
	few         bool
	out         string
}

// newCudaSweep times many ways to run each case in one process: what thresholds are made
// from. It is hidden: `run --backend cuda` is for use.
func newCudaSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{Use: "cuda-sweep", Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }}
	fl := cmd.Flags()
	fl.StringVarP(&f.topology, "topology", "t", "hgx-h200-4", "topology")
	fl.IntSliceVar(&f.gpus, "gpus", []int{4}, "numbers of GPUs")
	fl.StringSliceVarP(&f.collectives, "collective", "c", []string{"all_reduce"}, "collectives")
	fl.StringSliceVarP(&f.dtypes, "datatype", "d", []string{"float32"}, "element types")
	fl.StringVar(&f.op, "op", "sum", "reduction")
	f.sizes.add(cmd, "1K", "1G")
	fl.IntVarP(&f.iterations, "iters", "n", 20, "operations in a graph")
	fl.IntVar(&f.replays, "replays", 20, "replays of a graph")
	fl.IntVar(&f.checks, "checks", 3, "epochs that are checked")
	fl.DurationVar(&f.budget, "budget", time.Hour, "no case begins after this")
	fl.DurationVar(&f.perCase, "per-case", 60*time.Millisecond, "fewer operations and replays where they would take longer")
	fl.DurationVar(&f.deadline, "deadline", 5*time.Second, "longest wait on a GPU")
	fl.DurationVar(&f.jitter, "jitter", 0, "random delays before operations")
	fl.BoolVar(&f.inPlace, "in-place", false, "in place")
	fl.BoolVar(&f.odd, "odd", false, "odd counts and addresses")
	fl.BoolVar(&f.stream, "stream", false, "time stream launches too")
	fl.BoolVar(&f.specialise, "specialise", false, "with specialised kernels too")
	fl.BoolVar(&f.few, "few", false, "one variant of each kind")
	fl.StringVarP(&f.out, "output", "o", "-", "CSV file")
	return cmd
}

// variant is an algorithm with the way to run it.
type variant struct {
	algo   string
	slices int
	how    cuda.Method
}

var sweepHeader = []string{"collective", "gpus", "dtype", "redop", "size_bytes", "algo", "slices", "mechanism", "blocks", "threads", "streams", "overlap", "specialised",
	"in_place", "time_us", "min_us", "p95_us", "p99_us", "stream_us", "wrong", "iterations", "replays", "error"}

func (f *sweepFlags) run(cmd *cobra.Command) error {
	sizes, err := f.sizes.sizes(cmd)
	if err != nil {
		return err
	}
	op, err := collective.ParseOp(f.op)
	if err != nil {
		return usageError{err}
	}
	w := io.Writer(os.Stdout)
	if f.out != "-" {
		file, err := os.Create(f.out)
		if err != nil {
			return err
		}
		defer file.Close()
		w = file
	}
	out := csv.NewWriter(w)
	out.Write(sweepHeader)
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	began := time.Now()
	for _, gpus := range f.gpus {
		node, err := cuda.Open(gpus)
		if err != nil {
			return err
		}
		node.Deadline = f.deadline
		fmt.Fprintf(cmd.ErrOrStderr(), "# %s\n", node.Driver())
		topo, err := topology.Load(topologies.Source, f.topology, topology.Options{GPUs: gpus})
		if err != nil {
			return err
		}
		for _, c := range f.collectives {
			kind, err := collective.Parse(c)
			if err != nil {
				return usageError{err}
			}
			for _, d := range f.dtypes {
				dtype, err := collective.ParseDType(d)
				if err != nil {
					return usageError{err}
				}
				for _, size := range sizes {
					for _, v := range f.variants(kind, gpus, size) {
						if time.Since(began) > f.budget || ctx.Err() != nil {
							node.Close()
							return ctx.Err()
						}
						row := f.measure(cmd, node, topo, kind, dtype, op, size, v)
						out.Write(row)
						out.Flush()
					}
				}
			}
		}
		node.Close()
	}
	return out.Error()
}

// variants are the ways worth a try for a size.
func (f *sweepFlags) variants(kind collective.Kind, gpus int, size units.Bytes) (out []variant) {
	n := int64(gpus)
	add := func(algo string, slices int, m block.Mechanism, blocks, threads int) {
		for _, overlap := range []bool{true, false} {
			if !overlap && f.few {
				continue
			}
			how := cuda.Method{Mechanism: m, Blocks: blocks, Threads: threads, Overlap: overlap}
			out = append(out, variant{algo, slices, how})
			if f.specialise {
				how.Specialise = true
				out = append(out, variant{algo, slices, how})
			}
		}
	}
	packets := func(algo string, bytes int64, most units.Bytes) {
		if size > most {
			return
		}
		pairs := max(bytes/8, 1)
		seen := map[[2]int]bool{}
		for _, t := range []int{64, 128, 256, 512} {
			b := int(min((pairs+int64(t)-1)/int64(t), 64))
			if pairs < int64(t)/2 && t > 64 || f.few && t != 256 || seen[[2]int{b, t}] || int64(b*t)*8 < pairs {
				continue
			}
			seen[[2]int{b, t}] = true
			add(algo, 1, block.Packets, b, t)
		}
	}
	simple := func(algo string, slices int, m block.Mechanism, least units.Bytes) {
		if size < least {
			return
		}
		for _, b := range []int{8, 16, 32, 64, 96, 132} {
			if f.few && b != 32 || size > 16*units.MiB && b < 32 || size < units.MiB && b > 32 {
				continue
			}
			add(algo, slices, m, b, 512)
		}
	}
	copies := func(algo string, least units.Bytes, slices ...int) {
		if size < least {
			return
		}
		for _, s := range slices {
			for _, streams := range []int{1, gpus - 1} {
				if streams == 1 && gpus == 2 && s < 0 || f.few && (streams > 1 || s > 4) {
					continue
				}
				out = append(out, variant{algo, s, cuda.Method{Copies: true, Blocks: 64, Threads: 512, Streams: streams}})
				if gpus == 2 {
					break
				}
			}
		}
	}
	whole, part := int64(size), int64(size)/n
	switch kind {
	case collective.AllReduce:
		packets("direct", whole, 512*units.KiB)
		packets("two_shot", part, 2*units.MiB)
		simple("two_shot", 1, block.Push, 64*units.KiB)
		simple("two_shot", 1, block.Pull, 16*units.MiB)
		copies("two_shot", 16*units.MiB, 2, 4, 8, 16)
	case collective.Broadcast:
		packets("direct", whole, 512*units.KiB)
		simple("direct", 1, block.Push, 32*units.KiB)
		if size >= units.MiB {
			for _, s := range []int{4, 16} {
				simple("scatter_allgather", s, block.Push, units.MiB)
				simple("scatter_allgather", s, block.Pull, units.MiB)
			}
		}
		copies("direct", 16*units.MiB, 1)
		copies("scatter_allgather_direct", 16*units.MiB, 4, 8, 16)
	default:
		packets("direct", part, 2*units.MiB)
		simple("direct", 1, block.Push, 64*units.KiB)
		simple("direct", 1, block.Pull, 64*units.KiB)
		copies("direct", 4*units.MiB, 1)
		if kind == collective.ReduceScatter {
			copies("direct", 16*units.MiB, 4, 8)
		}
	}
	return out
}

// build makes the schedule; scatter_allgather_direct is not the planner's yet.
func (v variant) build(topo *topology.Topology, spec collective.Spec) (*schedule.Schedule, error) {
	name := v.algo
	if name == "scatter_allgather_direct" {
		name = "scatter_allgather"
	}
	s, err := planner.Build(topo, spec, name, planner.Options{Slices: v.slices})
	if err != nil {
		return nil, err
	}
	if name != v.algo {
		s.Channels[0].Phases[1].Gen = schedule.GenDirect
	}
	return s, schedule.Check(s, topo)
}

func (f *sweepFlags) measure(cmd *cobra.Command, node *cuda.Node, topo *topology.Topology, kind collective.Kind, dtype collective.DType, op collective.ReduceOp, size units.Bytes, v variant) []string {
	spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
	cfg := cuda.Config{Count: int64(size) / int64(dtype.Size()), DType: dtype, Op: op, InPlace: f.inPlace, Warmup: 5, Iterations: f.iterations, Replays: f.replays,
		Checks: f.checks, Jitter: f.jitter, Stream: f.stream, Seed: 1}
	if f.odd {
		cfg.Count, cfg.Offset = (cfg.Count/3|1)*int64(spec.Blocks()), 4
	}
	// A rough guess of the time keeps a case short.
	guess := time.Duration(float64(size)/200+3000) * time.Nanosecond
	for cfg.Iterations > 4 && guess*time.Duration(cfg.Iterations*cfg.Replays) > f.perCase {
		cfg.Iterations = max(cfg.Iterations/2/2*2, 4)
	}
	for cfg.Replays > 3 && guess*time.Duration(cfg.Iterations*cfg.Replays) > f.perCase {
		cfg.Replays = max(cfg.Replays/2, 3)
	}
	var r *cuda.Result
	s, err := v.build(topo, spec)
	if err == nil {
		r, err = node.Run(cmd.Context(), s, cfg, v.how)
	}
	mechanism := v.how.Mechanism.String()
	if v.how.Copies {
		mechanism = "copies"
	}
	row := []string{kind.String(), strconv.Itoa(spec.Ranks), dtype.String(), op.String(), strconv.FormatInt(cfg.Count*int64(dtype.Size()), 10), v.algo, strconv.Itoa(v.slices),
		mechanism, strconv.Itoa(v.how.Blocks), strconv.Itoa(v.how.Threads), strconv.Itoa(v.how.Streams), strconv.FormatBool(v.how.Overlap), strconv.FormatBool(v.how.Specialise), strconv.FormatBool(f.inPlace)}
	if err != nil {
		return append(row, "", "", "", "", "", "", "", "", err.Error())
	}
	us := func(d time.Duration) string { return strconv.FormatFloat(float64(d.Nanoseconds())/1e3, 'f', 3, 64) }
	sum := measurement.Summarise(r.Times)
	stream := ""
	if f.stream {
		stream = us(measurement.Summarise(r.Stream).Median)
	}
	return append(row, us(sum.Median), us(sum.Min), us(sum.P95), us(sum.P99), stream, strconv.FormatInt(r.Wrong, 10), strconv.Itoa(cfg.Iterations), strconv.Itoa(cfg.Replays), "")
}
