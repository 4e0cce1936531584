package main

import (
	"cmp"
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
var shrinks = map[string]int{"none": 1, "fp16": 2, "bf16": 2, "fp8": 4, "int8": 4}

// crossingFlags say how a transfer between nodes is made.
type crossingFlags struct {
	Size       string `flag:"size,s"`
	Staged     bool   `flag:"how staged"`
	Level      string `flag:"how gdr-level,one=LOC|PIX|PXB|PHB|SYS"`
	Compress   string `flag:"how compress,default=none,one=none|fp16|bf16|fp8|int8"`
	Initiated  string `flag:"how initiated,default=proxy,one=proxy|gpu"`
	QueuePairs int    `flag:"how qps,default=2"`
	Pieces     int    `flag:"how pieces"`
	Steps      string `flag:"how steps"`
	Format     cli.FormatFlag
}

func (f *crossingFlags) run(cmd *cobra.Command, t *topology.Topology, from, to int) error {
	size, err := units.ParseBytes(f.Size)
	if err != nil {
		return cli.Usage(err)
	}
	o := crossing.Options{Size: size, HostStaged: f.Staged, QueuePairs: f.QueuePairs, Pieces: f.Pieces, Shrink: shrinks[f.Compress],
		GPUInitiated: f.Initiated == "gpu"}
	var note string
	if options := cli.OptionsOf(cmd, "how"); !options.Changed("staged") {
		o.HostStaged, note = stagedCrossing(t, from, to, cmp.Or(f.Level, t.GDRLevel().String()))
	} else if options.Changed("gdr-level") {
		return cli.Usagef("--how staged=%v has decided already: leave gdr-level out", f.Staged)
	}
	d, err := predictCrossing(t, from, to, f.Steps, o)
	if err != nil {
		return err
	}
	if note != "" {
		d.Notes = append(d.Notes, note)
	}
	d.Compress, d.Initiated = f.Compress, f.Initiated
	return f.Format.Emit(cmd, d)
}

// stagedCrossing reports whether NCCL has a transfer go through host memory, by the ways of both ends to their adapters, and why.
func stagedCrossing(t *topology.Topology, from, to int, text string) (staged bool, note string) {
	level, _ := topology.ParseGDRLevel(text)
	router := topology.NewRouter(t)
	for _, rank := range []int{from, to} {
		for _, p := range router.NICs(rank) {
			way := fmt.Sprintf("%s to %s: %v", t.DeviceName(t.Ranks()[rank]), t.DeviceName(p.NIC), p.Kind)
			if p.C2C {
				way += " over its chip-to-chip link"
			}
			if !p.GPUDirect(level) {
				return true, way + ", farther than NCCL_NET_GDR_LEVEL=" + text + ": staged through host memory"
			}
			note = way + ": GPUDirect RDMA"
		}
	}
	return false, note
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
func stepsOf(t *topology.Topology, file string) (*cost.Steps, error) {
	if file != "" {
		return cost.ReadSteps(file)
	}
	m, err := cost.MachineFor(t)
	if err != nil {
		return nil, err
	}
	return m.Crossing(), nil
}
