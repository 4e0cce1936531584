package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/study/tuning"
)

// tuneFlags say which profile learns what is fastest here.
type tuneFlags struct {
	Topo        topoFlags `without:"load"`
	Profile     string    `flag:"profile"`
	Collectives []string  `flag:"collective,c,commas,default=all_reduce|all_gather|reduce_scatter|broadcast|all_to_all"`
	Sizes       cli.SizeFlags
	PerCase     time.Duration `flag:"per-case,default=40ms"`
	Budget      time.Duration `flag:"budget,default=15m"`
	NCCL        bool          `flag:"how nccl"`
	Launch      string        `flag:"how launch,default=stream,one=graph|stream"`
	Rounds      int           `flag:"how rounds,default=5,lo=1"`
	Out         string        `flag:"output,o,writes"`

	sweep tuning.Sweep
}

// Run times ways, and tells the profile which was fastest.
func (f *tuneFlags) Run(cmd *cobra.Command, _ []string) error {
	if f.NCCL {
		return f.library(cmd)
	}
	if err := cli.NoEffect(cmd, "without --how nccl: leave it out", "output", "how launch", "how rounds"); err != nil {
		return err
	}
	if f.Profile == "" {
		return cli.Usagef("which profile? name the file that learns what is fastest with --profile, or tune NCCL with --how nccl")
	}
	if !strings.HasSuffix(f.Profile, ".yaml") {
		return cli.Usagef("--profile %s: a file that is written must end in .yaml", f.Profile)
	}
	m, err := cost.GetMachine(f.Profile)
	if err != nil {
		return err
	}
	if err := driver.Load(); err != nil {
		return err
	}
	if f.sweep.Sizes, err = f.Sizes.Sizes(cmd); err != nil {
		return err
	}
	if f.sweep.Collectives, err = cli.ParseAll(f.Collectives, collective.Parse); err != nil {
		return err
	}
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	rows := strings.TrimSuffix(f.Profile, ".yaml") + "-methods.csv"
	if err := f.measure(cmd, t.NumRanks(), rows); err != nil {
		return err
	}
	return f.writeProfile(cmd, m, rows)
}

// measure sweeps all numbers of GPUs.
func (f *tuneFlags) measure(cmd *cobra.Command, most int, rows string) error {
	if most < 2 || most > block.MaxRanks {
		return fmt.Errorf("%d GPUs: ways are compared on 2 to %d", most, block.MaxRanks)
	}
	s := &f.sweep
	s.DTypes, s.Op = []collective.DType{collective.Float32}, collective.Sum
	s.Iterations, s.Replays, s.Checks, s.PerCase, s.Deadline, s.Specialise = 20, 20, 3, f.PerCase, 5*time.Second, true
	s.Load = func(gpus int) (*topology.Topology, error) {
		part := f.Topo
		part.Gpus = gpus
		return part.load()
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	s.Log = cmd.ErrOrStderr()
	var gpus []int
	for n := 2; n <= most; n++ {
		gpus = append(gpus, n)
	}
	return cli.StreamTo(cmd, rows, func(w io.Writer) error { return s.Write(ctx, w, gpus, f.Budget) })
}

// writeProfile reads the rows back and writes the profile.
func (f *tuneFlags) writeProfile(cmd *cobra.Command, m *cost.Machine, rows string) error {
	all, err := tuning.ReadRows(rows)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Wrong > 0 {
			return fmt.Errorf("%s: %v of %v made wrong elements: the profile is left as it was", rows, s.Variant, s.Key.Kind)
		}
	}
	fastest := tuning.Fastest(cuda.GPU(), "railyard tune: "+filepath.Base(rows), time.Now().UTC().Format(time.DateOnly), all)
	if len(fastest.Methods) == 0 {
		return fmt.Errorf("%s: nothing ran: the profile is left as it was", rows)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d thresholds for %s from %d rows (%s)\n", f.Profile, len(fastest.Methods), fastest.GPU, len(all),
		rows)
	return cli.WriteMachine(f.Profile, m.WithFastest(fastest))
}
