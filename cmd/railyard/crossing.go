package main

import (
	"fmt"

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

func newCrossing() *cobra.Command {
	var topo topoFlags
	var format cli.FormatFlag
	var size, compress, initiated, steps string
	var from, to int
	var o crossing.Options
	cmd := &cobra.Command{
		Use:   "crossing TOPOLOGY --to RANK -s SIZE",
		Short: "Predict a transfer between nodes step by step: compress, copy, network, copy, synchronise",
		Example: `  railyard crossing -t dgx-h100 --nodes 2 --to 8 -s 64M
  railyard crossing -t dgx-h100 --nodes 2 --to 8 -s 64M --staged --compress fp8`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			var err error
			if o.Size, err = units.ParseBytes(size); err != nil {
				return cli.Usage(err)
			}
			var ok bool
			if o.Shrink, ok = shrinks[compress]; !ok {
				return cli.Usagef("--compress %s: must be none, fp16, bf16 or fp8", compress)
			}
			if initiated != "proxy" && initiated != "gpu" {
				return cli.Usagef("--initiated %s: must be proxy or gpu", initiated)
			}
			o.GPUInitiated = initiated == "gpu"
			d, err := predictCrossing(topo, from, to, steps, o)
			if err != nil {
				return err
			}
			d.Compress, d.Initiated = compress, initiated
			return format.Emit(cmd, d)
		},
	}
	topo.add(cmd)
	format.Add(cmd)
	cmd.Flags().StringVarP(&size, "size", "s", "", "bytes to move, as FP32")
	cmd.Flags().IntVar(&from, "from", 0, "rank that sends")
	cmd.Flags().IntVar(&to, "to", 0, "rank that receives, on another node")
	cmd.Flags().BoolVar(&o.HostStaged, "staged", false, "through host memory at both ends, without GPUDirect RDMA")
	cmd.Flags().StringVar(&compress, "compress", "none", "type on the wire: none, fp16, bf16 or fp8")
	cmd.Flags().StringVar(&initiated, "initiated", "proxy", "who posts to the NIC: proxy (a CPU thread) or gpu")
	cmd.Flags().IntVar(&o.QueuePairs, "qps", 2, "queue pairs to the peer")
	cmd.Flags().IntVar(&o.Pieces, "pieces", 0, "pieces of the pipeline (default: as many as are fastest)")
	cmd.Flags().StringVar(&steps, "steps", "", "constants of the steps (YAML; default: those of the profile for these GPUs)")
	cli.Must(cmd.MarkFlagRequired("size"))
	cli.Must(cmd.MarkFlagRequired("to"))
	return cmd
}

func predictCrossing(tf topoFlags, from, to int, steps string, o crossing.Options) (*report.CrossingDocument, error) {
	t, err := tf.load()
	if err != nil {
		return nil, err
	}
	if n := t.NumRanks(); from < 0 || from >= n || to < 0 || to >= n {
		return nil, fmt.Errorf("%s has ranks 0 to %d", t.Name(), n-1)
	}
	costs, err := stepsOf(t, steps)
	if err != nil {
		return nil, err
	}
	r, err := crossing.Predict(t, from, to, costs, o)
	if err != nil {
		return nil, err
	}
	d := &report.CrossingDocument{Schema: "railyard.crossing/v1", Topology: t.Name(), From: t.DeviceName(t.Ranks()[from]), To: t.DeviceName(t.Ranks()[to]),
		SizeBytes: int64(o.Size), Staged: o.HostStaged, QueuePairs: o.QueuePairs, Pieces: r.Pieces, TimeUS: r.Time.Microseconds(),
		SerialUS: r.Serial.Microseconds(), SynchroniseUS: r.Synchronise.Microseconds(), GBps: float64(o.Size) / r.Time.Seconds() / 1e9, Slowest: r.Slowest}
	for _, s := range r.Steps {
		d.Steps = append(d.Steps, report.CrossingStep{Name: s.Name, Bytes: int64(s.Bytes), GBps: s.Rate / 1e9, AlphaUS: s.Alpha.Microseconds(), BusyUS: s.Busy.Microseconds()})
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
