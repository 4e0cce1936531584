package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/nccltests"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/fit"
	"railyard/study"
	"railyard/study/measured"
)

// measuredFlags say where measurements come from.
type measuredFlags struct {
	files      []string
	collective string
	only       []string
}

func (f *measuredFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "measured", nil, "measurements: CSV, or text or JSON output of nccl-tests")
	cli.Must(cmd.MarkFlagRequired("measured"))
	cmd.Flags().StringVarP(&f.collective, "collective", "c", "",
		"collective, where an nccl-tests log does not say it; of a log of several tests, only this one")
	cmd.Flags().StringArrayVar(&f.only, "only", nil, "use only rows with this value, e.g. launch=graph")
}

// read reads all files into one set with the first file's header.
func (f *measuredFlags) read(gpus int) ([]*measurement.Set, error) {
	var out []*measurement.Set
	for _, path := range f.files {
		set, err := f.readOne(path, gpus)
		if err != nil {
			return nil, err
		}
		if err := f.filter(set); err != nil {
			return nil, err
		}
		out = append(out, set)
	}
	return out, nil
}

func (f *measuredFlags) readOne(path string, gpus int) (*measurement.Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch trimmed := bytes.TrimSpace(data); {
	case bytes.HasPrefix(trimmed, []byte("{")):
		return nccltests.ParseJSON(bytes.NewReader(data), path, f.collective, gpus)
	case isCSV(path):
		return measurement.ReadCSV(bytes.NewReader(data), path)
	}
	return nccltests.ParseText(bytes.NewReader(data), path, f.collective)
}

func isCSV(path string) bool { return strings.HasSuffix(path, ".csv") }

func (f *measuredFlags) filter(set *measurement.Set) error {
	for _, o := range f.only {
		column, want, ok := strings.Cut(o, "=")
		at := slices.Index(set.Header, column)
		if !ok || at < 0 {
			return cli.Usagef("--only %s: write column=value with a column of %s", o, set.File)
		}
		set.Rows = slices.DeleteFunc(set.Rows, func(r measurement.Row) bool { return r.Columns[at] != want })
		if len(set.Rows) == 0 {
			return fmt.Errorf("%s: no row has %s", set.File, o)
		}
	}
	return nil
}

// compareFlags say what is compared, and how.
type compareFlags struct {
	topo        topoFlags
	profile     profileFlag
	format      cli.FormatFlag
	rows        measuredFlags
	library     libraryFlags
	plot, floor string
	strict      bool
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:  "compare",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.topo.add(cmd)
	f.profile.add(cmd)
	f.format.Add(cmd)
	f.rows.add(cmd)
	f.library.add(cli.AddOptions(cmd, "how", "how NCCL ran, such as no-nvls:").FlagSet)
	cmd.Flags().StringVar(&f.floor, "launch-floor", "auto", "least time that a launch costs, a parameter of the run: auto (from its "+
		"smallest sizes), none, or e.g. 25us")
	cli.OutputFlag(cmd, &f.plot, "draw time over size, with the error below, into this .svg or .png (one case: narrow it with --only)")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "end with exit code 1 where a row is outside what is normal, and say what to check "+
		"next")
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command) error {
	t, err := f.topo.load()
	if err != nil {
		return err
	}
	if f.profile.name == "" && !study.HasGPUs(t) {
		return cli.Usagef("%s has no GPUs, so that no library's kernels are known: give the --profile of the run, such as "+
			"railyard-run-1/profile.yaml", t.Name())
	}
	profile, err := f.profile.ran(t)
	if err != nil {
		return err
	}
	sets, err := f.rows.read(t.NumRanks())
	if err != nil {
		return err
	}
	all := &report.Comparison{Header: sets[0].Header, EachRow: !slices.ContainsFunc(f.rows.files, isCSV)}
	c := measured.NewCases(f.topo.measured, profile)
	c.Options = f.library.options()
	for _, set := range sets {
		if c.Floors, err = floorsOf(c, set.Rows, f.floor); err != nil {
			return err
		}
		if !slices.Equal(set.Header, all.Header) {
			return fmt.Errorf("%s has other columns than %s: compare them one at a time", set.File, sets[0].File)
		}
		all.Append(report.Compare(set, c.Predict))
	}
	if f.plot != "" {
		figure, err := all.Figure(t.Name(), profile.Name)
		if err != nil {
			return err
		}
		c, err := figure.Chart()
		if err != nil {
			return err
		}
		if err := cli.WriteChart(f.plot, c); err != nil {
			return err
		}
	}
	if err := f.format.Emit(cmd, all.Document(t.Name(), profile.Name)); err != nil {
		return err
	}
	if len(all.Rows) == 0 {
		return fmt.Errorf("none of the %d rows could be compared with %s: %s", len(all.Skipped), t.Name(), all.Skipped[0].Reason)
	}
	if f.strict {
		return all.Outside(t.Name())
	}
	return nil
}

// floorsOf are the floors of a file's runs as --launch-floor says.
func floorsOf(c *measured.Cases, rows []measurement.Row, flag string) (measured.Floors, error) {
	switch flag {
	case "none":
		return nil, nil
	case "auto":
		return c.AutoFloors(rows), nil
	}
	t, err := units.ParseTime(flag)
	if err != nil {
		return nil, cli.Usagef("--launch-floor %s: must be auto, none or a time such as 25us", flag)
	}
	return measured.SameFloor(rows, t), nil
}

func newFit() *cobra.Command {
	var topo topoFlags
	var rows measuredFlags
	var name, source, date, out string
	cmd := &cobra.Command{
		Use:  "fit",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if source == "" || date == "" {
				return cli.Usagef("--about: give source, where the measurements come from, and date, when they were made")
			}
			if name == "" {
				name = strings.TrimSuffix(filepath.Base(out), ".yaml")
			}
			data, err := fitRows(topo, rows)
			if err != nil {
				return err
			}
			r, err := fit.Fit(name, source, date, data.schedules)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s: schedules: %s; %d rows left out because their algorithm or protocol is not known\n", name, r.Profile.Error,
				data.skipped)
			var left map[cost.KernelKey]int
			r.Profile.Kernels, left = fit.Kernels(data.kernels, cost.GeneralNCCL(), true)
			fmt.Fprintf(w, "%s: library: %s; %d kernels have too few rows\n", name, cost.KernelErrors(r.Profile.Kernels), len(left))
			m, err := cli.MachineAt(out, name)
			if err != nil {
				return err
			}
			return cli.WriteMachine(out, m.WithNCCL(r.Profile))
		},
	}
	topo.add(cmd)
	rows.add(cmd)
	about := cli.AddOptions(cmd, "about", "what the profile says of itself, such as source=nccl-tests on four H200,date=2026-11-21:")
	about.StringVar(&name, "name", "", "its name (default: the file's)")
	about.StringVar(&source, "source", "", "where the measurements come from")
	about.StringVar(&date, "date", "", "when they were made, YYYY-MM-DD")
	cli.OutputFlag(cmd, &out, "profile to write, a YAML file")
	for _, f := range []string{"about", "output"} {
		cli.Must(cmd.MarkFlagRequired(f))
	}
	return cmd
}

// fitData are measured rows as the fits see them: as schedules of ours, where the
// algorithm is known, and as kernels of the library, which may have chosen it itself.
type fitData struct {
	schedules []fit.Features
	kernels   []fit.KernelCase
	skipped   int // rows that are no schedule
}

func fitRows(tf topoFlags, mf measuredFlags) (*fitData, error) {
	t, err := tf.load()
	if err != nil {
		return nil, err
	}
	sets, err := mf.read(t.NumRanks())
	if err != nil {
		return nil, err
	}
	c := measured.NewCases(tf.measured, cost.Ideal)
	d := &fitData{}
	for _, set := range sets {
		c.Floors = measured.LaunchFloors(set.Rows, measured.Streamed)
		for _, m := range set.Rows {
			if m.Time <= 0 || m.Size <= 0 {
				d.skipped++
				continue
			}
			if x, err := c.Features(m); err == nil {
				d.schedules = append(d.schedules, x)
			} else {
				d.skipped++
			}
			if x, err := c.KernelCase(m); err == nil {
				d.kernels = append(d.kernels, x)
			}
		}
	}
	if len(d.schedules) == 0 && d.skipped > 0 {
		return nil, fmt.Errorf("none of the %d rows says which algorithm and protocol ran, as logs of nccl-tests do not: measure named "+
			"ones, such as `railyard baseline "+
			"--setting ring/simple,ring/ll,tree/simple -o nccl.csv`, and fit those (columns algo and proto)", d.skipped)
	}
	return d, nil
}
