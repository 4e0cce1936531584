package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/fit"
	"railyard/report/table"
	"railyard/study/measured"
	"railyard/topologies"
)

func newValidate() *cobra.Command {
	var format cli.FormatFlag
	var out, refit string
	var unseen bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Predict every measurement that railyard ships, show the errors, fit the profiles again",
		Long: `Predicts all measurements of the directory validation with the profiles that
railyard ships, beside NCCL's own model: rows in, errors out, the worst shown.
With -o it also writes the tables and a figure for each system into a directory.
With --refit it first fits the profiles again from these measurements alone.`,
		Example: `  lab validate --unseen
  lab validate -o docs
  lab validate --refit model/cost/machines -o docs`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			return runValidate(cmd, format, out, refit, unseen)
		},
	}
	format.Add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "directory for validation.md, validation.csv and figures in img/")
	cmd.Flags().StringVar(&refit, "refit", "", "fit the profiles again and write them into this directory first")
	cmd.Flags().BoolVar(&unseen, "unseen", false, "also predict each series, and each number of GPUs, with kernels fitted without it "+
		"(half a minute)")
	return cmd
}

func runValidate(cmd *cobra.Command, format cli.FormatFlag, out, refit string, unseen bool) error {
	v, err := newValidator()
	if err != nil {
		return err
	}
	if refit != "" {
		if err := v.refit(cmd.OutOrStdout(), refit); err != nil {
			return err
		}
	}
	d, err := v.compare()
	if err != nil {
		return err
	}
	if unseen {
		if d.Unseen, err = v.unseen(); err != nil {
			return err
		}
	}
	if out != "" {
		if err := writeValidation(d, out); err != nil {
			return err
		}
	}
	return format.Emit(cmd, d.Document())
}

func writeValidation(d *report.Validation, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "img"), 0o755); err != nil {
		return err
	}
	if err := fillPage(filepath.Join(dir, "validation.md"), d.Blocks()); err != nil {
		return err
	}
	if err := cli.WriteFile(filepath.Join(dir, "validation.csv"),
		func(w io.Writer) error { return table.Emit(w, table.CSV, d.Document()) }); err != nil {
		return err
	}
	for _, s := range d.Systems {
		if len(s.Rows) == 0 {
			continue
		}
		c, err := s.Figure().Chart()
		if err != nil {
			return err
		}
		if err := cli.WriteChart(filepath.Join(dir, "img", "validation-"+s.Profile+".png"), c); err != nil {
			return err
		}
	}
	return nil
}

// validator holds the measurements with the systems that they were made on.
type validator struct {
	sets    []*measurement.Set
	systems []measured.System
	byName  map[string]*measured.Cases // by system
	fitted  map[string]*cost.Profile
}

func newValidator() (*validator, error) {
	v := &validator{byName: map[string]*measured.Cases{}, fitted: map[string]*cost.Profile{}}
	var err error
	if v.systems, err = measured.Systems(); err != nil {
		return nil, err
	}
	v.sets, err = measured.Shipped()
	return v, err
}

// cases of a system predict its rows; their launch floors come from all rows of a file.
func (v *validator) cases(s *measured.System, set *measurement.Set) (*measured.Cases, error) {
	if c, ok := v.byName[s.Series]; ok {
		return c, nil
	}
	p := v.fitted[s.Profile]
	if p == nil {
		m, err := cost.GetMachine(s.Profile)
		if err != nil {
			return nil, err
		}
		p = m.NCCL()
	}
	c := measured.NewCases(func(nodes, gpus int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, s.Topology, topology.Options{Nodes: nodes, GPUs: gpus / max(nodes, 1), Set: s.Set})
	}, p)
	c.Options = s.Options
	if g := v.fitted[cost.General]; g != nil {
		c.General = g
	}
	c.Floors = measured.LaunchFloors(set.Rows, func(m measurement.Row) bool {
		return measured.Streamed(m) || s.Single
	})
	v.byName[s.Series] = c
	return c, nil
}

// compare predicts all rows, one comparison a profile.
func (v *validator) compare() (*report.Validation, error) {
	byProfile := map[string]*report.Comparison{}
	for _, set := range v.sets {
		for _, m := range set.Rows {
			s, err := measured.SystemOf(v.systems, m.ID)
			if err != nil {
				return nil, err
			}
			one := &measurement.Set{File: set.File, Header: set.Header, Rows: []measurement.Row{m}}
			name, predict := s.Profile, func(measurement.Row) (report.Predicted, error) {
				return report.Predicted{}, fmt.Errorf("%s", s.Excluded)
			}
			if s.Excluded == "" {
				c, err := v.cases(s, set)
				if err != nil {
					return nil, err
				}
				predict = c.Predict
			} else {
				name = "left out"
			}
			all := byProfile[name]
			if all == nil {
				all = &report.Comparison{}
				byProfile[name] = all
			}
			x := report.Compare(one, predict)
			all.Rows, all.Skipped = append(all.Rows, x.Rows...), append(all.Skipped, x.Skipped...)
		}
	}
	d := &report.Validation{}
	for _, name := range slices.Sorted(maps.Keys(byProfile)) {
		d.Add(name, byProfile[name])
	}
	return d, nil
}

// refit fits the kernels of every profile from the measurements.
func (v *validator) refit(w io.Writer, dir string) error {
	rows := map[string][]fit.KernelCase{}
	for _, set := range v.sets {
		for _, m := range set.Rows {
			s, err := measured.SystemOf(v.systems, m.ID)
			if err != nil {
				return err
			}
			if s.Excluded != "" || m.Time <= 0 || m.Size <= 0 {
				continue
			}
			v.fitted[s.Profile] = v.startFrom(s.Profile)
			c, err := v.cases(s, set)
			if err != nil {
				return err
			}
			if x, err := c.KernelCase(m); err == nil {
				rows[s.Profile] = append(rows[s.Profile], x)
			}
		}
	}
	v.byName = map[string]*measured.Cases{}
	var everything []fit.KernelCase
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		everything = append(everything, rows[name]...)
	}
	general := v.startFrom(cost.General)
	v.fitted[cost.General], general.Kernels = general, fit.General(everything, true)
	for _, name := range slices.Sorted(maps.Keys(v.fitted)) {
		p := v.fitted[name]
		if name != cost.General {
			p.Kernels, _ = fit.Kernels(rows[name], general, true)
		}
		p.Error = cost.KernelErrors(p.Kernels)
		fmt.Fprintf(w, "%s: %d kernels: %s\n", name, len(p.Kernels), p.Error)
		file := filepath.Join(dir, name+".yaml")
		m, err := cli.MachineAt(file, name)
		if err != nil {
			return err
		}
		if err := cli.WriteMachine(file, m.WithNCCL(p)); err != nil {
			return err
		}
	}
	return nil
}

// startFrom is the shipped profile, or a new one without curves.
func (v *validator) startFrom(name string) *cost.Profile {
	if p := v.fitted[name]; p != nil {
		return p
	}
	if m, err := cost.GetMachine(name); err == nil && m.NCCL() != nil {
		return m.NCCL()
	}
	return &cost.Profile{Name: name, Origin: cost.Origin{Kind: cost.Fitted,
		Source: "kernels fitted by `lab validate --refit` from the directory validation", Date: "2026-11-21"}}
}
