package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/sim/crossing"
)

// shrinks are the types that FP32 can be sent as.
var shrinks = map[string]int{"none": 1, "fp16": 2, "bf16": 2, "fp8": 4}

// crossingFlags say how a transfer between nodes is made.
type crossingFlags struct {
	size, compress, initiated, steps string
	options                          crossing.Options
	format                           cli.FormatFlag
}

func (f *crossingFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.size, "size", "s", "", "bytes that one GPU sends to the other, as FP32")
	how := cli.AddOptions(cmd, "how", "how the transfer is made, such as staged,compress=fp8:")
	how.BoolVar(&f.options.HostStaged, "staged", false, "through host memory at both ends, without GPUDirect RDMA")
	how.StringVar(&f.compress, "compress", "none", "type on the wire: none, fp16, bf16 or fp8")
	how.StringVar(&f.initiated, "initiated", "proxy", "who posts to the NIC: proxy (a CPU thread) or gpu")
	how.IntVar(&f.options.QueuePairs, "qps", 2, "queue pairs to the peer")
	how.IntVar(&f.options.Pieces, "pieces", 0, "pieces of the pipeline (default: as many as are fastest)")
	how.StringVar(&f.steps, "steps", "", "constants of the steps (YAML; default: those of the profile for these GPUs)")
	cli.OneOf(how.FlagSet, "compress", "none", "fp16", "bf16", "fp8")
	cli.OneOf(how.FlagSet, "initiated", "proxy", "gpu")
	f.format.Add(cmd)
}

func (f *crossingFlags) run(cmd *cobra.Command, t *topology.Topology, from, to int) error {
	o := f.options
	var err error
	if o.Size, err = units.ParseBytes(f.size); err != nil {
		return cli.Usage(err)
	}
	o.Shrink, o.GPUInitiated = shrinks[f.compress], f.initiated == "gpu"
	d, err := predictCrossing(t, from, to, f.steps, o)
	if err != nil {
		return err
	}
	d.Compress, d.Initiated = f.compress, f.initiated
	return f.format.Emit(cmd, d)
}

func predictCrossing(t *topology.Topology, from, to int, steps string, o crossing.Options) (*report.CrossingDocument, error) {
	costs, err := stepsOf(t, steps)
	if err != nil {
		return nil, err
	}
	r, err := crossing.Predict(t, from, to, costs, o)
	if err != nil {
		return nil, err
	}
	d := &report.CrossingDocument{Schema: "railyard.crossing/v1", Topology: t.Name(), From: t.DeviceName(t.Ranks()[from]),
		To:        t.DeviceName(t.Ranks()[to]),
		SizeBytes: int64(o.Size), Staged: o.HostStaged, QueuePairs: o.QueuePairs, Pieces: r.Pieces, TimeUS: r.Time.Microseconds(),
		SerialUS: r.Serial.Microseconds(), SynchroniseUS: r.Synchronise.Microseconds(), GBps: float64(o.Size) / r.Time.Seconds() / 1e9,
		Slowest: r.Slowest, Notes: append([]string{}, r.Notes...)}
	for _, s := range r.Steps {
		d.Steps = append(d.Steps, report.CrossingStep{Name: s.Name, Bytes: int64(s.Bytes), GBps: s.Rate / 1e9,
			AlphaUS: s.Alpha.Microseconds(), BusyUS: s.Busy.Microseconds()})
	}
	return d, nil
}

// stepsOf are the constants of a file, else of the topology's machine.
func stepsOf(t *topology.Topology, file string) (cost.Steps, error) {
	if file != "" {
		return cost.ReadSteps(file)
	}
	m, err := cost.MachineFor(t)
	if err != nil {
		return nil, err
	}
	return m.Crossing(), nil
}
