package main

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda/driver"
	"railyard/exec/discover"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/study/tuning"
	"railyard/topologies"
)

// sweepFlags choose what cuda-sweep measures: many ways to run each case in one process, what thresholds are made from.
type sweepFlags struct {
	tuning.Sweep
	Topology  string   `flag:"topology,t,default=hgx-h200-4"`
	Gpus      []int    `flag:"gpus,default=4"`
	Kinds     []string `flag:"collective,c,commas,default=all_reduce"`
	Types     []string `flag:"datatype,d,commas,default=float32"`
	Reduction string   `flag:"op,default=sum"`
	Range     cli.SizeFlags
	Budget    time.Duration `flag:"budget,default=1h"`
	Traffic   bool          `flag:"traffic"`
	Try       []string      `flag:"try,commas"`
	Fastest   string        `flag:"fastest"`
	Out       string        `flag:"output,o"`
}

// refuseConflicts refuses flags that would have no effect beside one another.
func refuseConflicts(cmd *cobra.Command) error {
	var given []string
	for _, name := range []string{"chosen", "fastest", "try"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return cli.Usagef("%s all say which ways are timed: give one", strings.Join(given, ", "))
	}
	return nil
}

// read reads the flags that are names of things, and files.
func (f *sweepFlags) read(cmd *cobra.Command) (err error) {
	if f.Sizes, err = f.Range.Sizes(cmd); err != nil {
		return err
	}
	if f.Collectives, err = cli.ParseAll(f.Kinds, collective.Parse); err != nil {
		return err
	}
	if f.DTypes, err = cli.ParseAll(f.Types, collective.ParseDType); err != nil {
		return err
	}
	if f.Op, err = collective.ParseOp(f.Reduction); err != nil {
		return cli.Usage(err)
	}
	if f.Tried, err = cli.ParseAll(f.Try, tuning.ParseVariant); err != nil {
		return err
	}
	if f.Fastest != "" {
		f.Before, err = tuning.ReadFastest(f.Fastest)
	}
	return err
}

// Run measures, and writes rows as they come.
func (f *sweepFlags) Run(cmd *cobra.Command, _ []string) error {
	if err := refuseConflicts(cmd); err != nil {
		return err
	}
	if err := f.read(cmd); err != nil {
		return err
	}
	if f.Traffic {
		l, err := discover.Open()
		if err != nil {
			return err
		}
		defer l.Close()
		if f.Meter, err = discover.NewMeter(l); err != nil {
			return err
		}
	}
	if err := driver.Load(); err != nil { // before a file is made
		return err
	}
	f.Load = func(gpus int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, f.Topology, topology.Options{GPUs: gpus})
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	f.Log = cmd.ErrOrStderr()
	return cli.StreamTo(cmd, f.Out, func(w io.Writer) error { return f.Write(ctx, w, f.Gpus, f.Budget) })
}
