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
	"railyard/internal/outfile"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/report"
	"railyard/report/fit"
	"railyard/report/table"
	"railyard/study/measured"
)

// validateFlags say what is fitted first, and what is written.
type validateFlags struct {
	Format    cli.FormatFlag
	Out       string `flag:"output,o"`
	Refit     string `flag:"refit"`
	Residuals string `flag:"residuals"`
	Unseen    bool   `flag:"unseen"`
}

// Run judges predictions by the shipped measurements.
func (f *validateFlags) Run(cmd *cobra.Command, _ []string) error {
	v, err := newValidator()
	if err != nil {
		return err
	}
	if f.Refit != "" {
		if err := v.refit(cmd.OutOrStdout(), f.Refit); err != nil {
			return err
		}
	}
	d, err := v.compare()
	if err != nil {
		return err
	}
	if f.Unseen {
		d.Unseen = v.unseen()
	}
	if f.Residuals != "" {
		if err := v.writeResiduals(d, f.Residuals); err != nil {
			return err
		}
	}
	if f.Out != "" {
		if err := writeValidation(cmd, d, f.Out); err != nil {
			return err
		}
	}
	return f.Format.Emit(cmd, d.Document())
}

// writeResiduals writes each row as predicted without its system.
func (v *validator) writeResiduals(d *report.Validation, file string) error {
	var left *report.Comparison
	if len(d.Unseen) > 0 { // the first is without its system
		left = d.Unseen[0].Comparison
	} else {
		left = v.systemsLeftOut()
	}
	return outfile.Write(file, func(w io.Writer) error { return table.Emit(w, table.CSV, left.Residuals()) })
}

func writeValidation(cmd *cobra.Command, d *report.Validation, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "img"), 0o755); err != nil {
		return err
	}
	if err := fillPage(cmd, filepath.Join(dir, "validation.md"), d.Blocks()); err != nil {
		return err
	}
	if err := outfile.Write(filepath.Join(dir, "validation.csv"),
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

// validator predicts the shipped measurements.
type validator struct{ *measured.Fleet }

func newValidator() (*validator, error) {
	f, err := measured.ShippedFleet()
	return &validator{f}, err
}

// compare predicts all rows, one comparison a profile.
func (v *validator) compare() (*report.Validation, error) {
	byProfile := map[string]*report.Comparison{}
	for _, set := range v.Sets {
		for _, m := range set.Rows {
			s, err := v.Systems.Of(m.ID)
			if err != nil {
				return nil, err
			}
			name := s.Profile
			if s.Excluded != "" {
				name = "left out"
			}
			if byProfile[name] == nil {
				byProfile[name] = &report.Comparison{}
			}
			one := &measurement.Set{File: set.File, Header: set.Header, Rows: []measurement.Row{m}}
			byProfile[name].Append(report.Compare(one, v.Predict))
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
	for _, set := range v.Sets {
		for _, m := range set.Rows {
			if s, err := v.Systems.Of(m.ID); err == nil && s.Excluded == "" && v.Fitted[s.Profile] == nil {
				v.Fitted[s.Profile] = startFrom(s.Profile)
			}
		}
	}
	general := startFrom(cost.General)
	v.Fitted[cost.General] = general
	rows := map[string][]fit.KernelCase{}
	var everything []fit.KernelCase
	for name, list := range v.learnt() {
		for _, x := range list {
			if x.fits {
				rows[name] = append(rows[name], x.fit)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		everything = append(everything, rows[name]...)
	}
	general.Bands = fit.Bands(misses(v.leftOut(systemOf), ""))
	v.Reset()
	general.Kernels, general.Estimates = fit.General(everything), fit.Estimates(everything)
	for _, name := range slices.Sorted(maps.Keys(v.Fitted)) {
		p := v.Fitted[name]
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
func startFrom(name string) *cost.Profile {
	if m, err := cost.GetMachine(name); err == nil && m.NCCL() != nil {
		return m.NCCL()
	}
	return &cost.Profile{Name: name, Origin: cost.Origin{Kind: cost.Fitted,
		Source: "kernels fitted by `lab validate --refit` from the directory validation", Date: "2026-11-21"}}
}
