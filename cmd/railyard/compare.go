package main

import (
	"bytes"
	"cmp"
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
	Files      []string `flag:"measured,need"`
	Collective string   `flag:"collective,c"`
	Only       []string `flag:"only"`
}

// read reads all files into one set with the first file's header.
func (f *measuredFlags) read(gpus int) ([]*measurement.Set, error) {
	var out []*measurement.Set
	for _, path := range f.Files {
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
		return nccltests.ParseJSON(bytes.NewReader(data), path, f.Collective, gpus)
	case isCSV(path):
		return measurement.ReadCSV(bytes.NewReader(data), path)
	}
	return nccltests.ParseText(bytes.NewReader(data), path, f.Collective)
}

func isCSV(path string) bool { return strings.HasSuffix(path, ".csv") }

func (f *measuredFlags) filter(set *measurement.Set) error {
	for _, o := range f.Only {
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
	Topo    topoFlags `without:"load"`
	Profile profileFlag
	Format  cli.FormatFlag
	Rows    measuredFlags
	Library libraryFlags
	Plot    string `flag:"output,o,writes"`
	Floor   string `flag:"launch-floor,default=auto"`
	Strict  bool   `flag:"strict"`
}

// Run compares rows with predictions of them.
func (f *compareFlags) Run(cmd *cobra.Command, _ []string) error {
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	if f.Profile.Name == "" && !study.HasGPUs(t) {
		return cli.Usagef("%s has no GPUs, so that no library's kernels are known: give the --profile of the run, such as "+
			"railyard-run-1/profile.yaml", t.Name())
	}
	profile, err := f.Profile.ran(t)
	if err != nil {
		return err
	}
	sets, err := f.Rows.read(t.NumRanks())
	if err != nil {
		return err
	}
	all := &report.Comparison{Header: sets[0].Header, EachRow: !slices.ContainsFunc(f.Rows.Files, isCSV)}
	c := measured.NewCases(f.Topo.measured, profile)
	c.Options = f.Library.options()
	for _, set := range sets {
		if c.Floors, err = floorsOf(c, set.Rows, f.Floor); err != nil {
			return err
		}
		if !slices.Equal(set.Header, all.Header) {
			return fmt.Errorf("%s has other columns than %s: compare them one at a time", set.File, sets[0].File)
		}
		all.Append(report.Compare(set, c.Predict))
	}
	if f.Plot != "" {
		figure, err := all.Figure(t.Name(), profile.Name)
		if err != nil {
			return err
		}
		c, err := figure.Chart()
		if err != nil {
			return err
		}
		if err := cli.WriteChart(f.Plot, c); err != nil {
			return err
		}
	}
	if err := f.Format.Emit(cmd, all.Document(t.Name(), profile.Name)); err != nil {
		return err
	}
	if len(all.Rows) == 0 {
		return fmt.Errorf("none of the %d rows could be compared with %s: %s", len(all.Skipped), t.Name(), all.Skipped[0].Reason)
	}
	for _, set := range sets {
		for _, x := range set.Failures {
			return fmt.Errorf("%s:%d: the test failed there, and what follows is missing: %s", set.File, x.Line, x.Says)
		}
	}
	if f.Strict {
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

// fitFlags say what is fitted, and what the profile says of itself.
type fitFlags struct {
	Topo  topoFlags `without:"load"`
	Rows  measuredFlags
	About aboutFlags
	Out   string `flag:"output,o,need,writes"`
}

// aboutFlags are what a profile says of itself.
type aboutFlags struct {
	Name   string `flag:"about name"`
	Source string `flag:"about source"`
	Date   string `flag:"about date"`
}

// Run fits a profile to measured rows.
func (f *fitFlags) Run(cmd *cobra.Command, _ []string) error {
	x := &f.About
	if x.Source == "" || x.Date == "" {
		return cli.Usagef("--about: give source, where the measurements come from, and date, when they were made")
	}
	name := cmp.Or(x.Name, strings.TrimSuffix(filepath.Base(f.Out), ".yaml"))
	data, err := fitRows(f.Topo, f.Rows)
	if err != nil {
		return err
	}
	r, err := fit.Fit(name, x.Source, x.Date, data.schedules)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s: schedules: %s; %d rows left out because their algorithm or protocol is not known\n", name, r.Profile.Error,
		data.skipped)
	var left map[cost.KernelKey]int
	r.Profile.Kernels, left = fit.Kernels(data.kernels, cost.GeneralNCCL(), true)
	fmt.Fprintf(w, "%s: library: %s; %d kernels have too few rows\n", name, cost.KernelErrors(r.Profile.Kernels), len(left))
	m, err := cli.MachineAt(f.Out, name)
	if err != nil {
		return err
	}
	return cli.WriteMachine(f.Out, m.WithNCCL(r.Profile))
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
