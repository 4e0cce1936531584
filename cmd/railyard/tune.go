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
	sweep       tuning.Sweep
	collectives []string
	sizes       cli.SizeFlags
	budget      time.Duration
	topo        topoFlags
	profile     string
}

func newTune() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:  "tune",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	f.topo.addLive(cmd)
	fl.StringVar(&f.profile, "profile", "", "profile, a YAML file, that is read and written")
	cli.Must(cmd.MarkFlagRequired("profile"))
	fl.StringSliceVarP(&f.collectives, "collective", "c", []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all"},
		"collectives")
	f.sizes.Add(cmd, "1K", "1G")
	fl.DurationVar(&f.sweep.PerCase, "per-case", 40*time.Millisecond, "about how long a way is timed")
	fl.DurationVar(&f.budget, "budget", 15*time.Minute, "no way is timed after this")
	return cmd
}

func (f *tuneFlags) run(cmd *cobra.Command) error {
	if !strings.HasSuffix(f.profile, ".yaml") {
		return cli.Usagef("--profile %s: a file that is written must end in .yaml", f.profile)
	}
	m, err := cost.GetMachine(f.profile)
	if err != nil {
		return err
	}
	if err := driver.Load(); err != nil {
		return err
	}
	if f.sweep.Sizes, err = f.sizes.Sizes(cmd); err != nil {
		return err
	}
	if f.sweep.Collectives, err = cli.ParseAll(f.collectives, collective.Parse); err != nil {
		return err
	}
	t, err := f.topo.load()
	if err != nil {
		return err
	}
	rows := strings.TrimSuffix(f.profile, ".yaml") + "-methods.csv"
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
	s.Iterations, s.Replays, s.Checks, s.Deadline, s.Specialise = 20, 20, 3, 5*time.Second, true
	s.Load = func(gpus int) (*topology.Topology, error) {
		part := f.topo
		part.gpus = gpus
		return part.load()
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	s.Log = cmd.ErrOrStderr()
	var gpus []int
	for n := 2; n <= most; n++ {
		gpus = append(gpus, n)
	}
	return cli.StreamTo(cmd, rows, func(w io.Writer) error { return s.Write(ctx, w, gpus, f.budget) })
}

// writeProfile reads the rows back and writes the profile.
func (f *tuneFlags) writeProfile(cmd *cobra.Command, m *cost.Machine, rows string) error {
	all, err := tuning.ReadRows(rows)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Wrong > 0 {
			return fmt.Errorf("%s: %v of %v made wrong elements: the profile is left as it was", rows, s.Way, s.Key.Kind)
		}
	}
	fastest := tuning.Fastest(cuda.GPU(), "railyard tune: "+filepath.Base(rows), time.Now().UTC().Format(time.DateOnly), all)
	if len(fastest.Methods) == 0 {
		return fmt.Errorf("%s: nothing ran: the profile is left as it was", rows)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d thresholds for %s from %d rows (%s)\n", f.profile, len(fastest.Methods), fastest.GPU, len(all),
		rows)
	return cli.WriteMachine(f.profile, m.WithFastest(fastest))
}
