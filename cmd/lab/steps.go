package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report"
	"railyard/study"
	"railyard/study/measured"
	"railyard/validation"
)

// stepsFlags name published steps.
type stepsFlags struct {
	Format cli.FormatFlag
	Out    string `flag:"output,o"`
	Rows   string `flag:"rows"`
	Refit  string `flag:"refit"`
}

// Run judges predictions by them.
func (f *stepsFlags) Run(cmd *cobra.Command, _ []string) error {
	if f.Refit != "" {
		if err := f.refit(cmd); err != nil {
			return err
		}
	}
	d, err := newStepFiles(f.Rows).validate(cmd)
	if err != nil {
		return err
	}
	if f.Out != "" {
		if err := fillPage(cmd, filepath.Join(f.Out, "capacity-validation.md"), d.Blocks()); err != nil {
			return err
		}
	}
	return f.Format.Emit(cmd, d)
}

// stepFiles are published steps, and the files that they name.
type stepFiles struct {
	fs.FS
	name     string
	machines map[machine]*step.Predictor
}

// machine is what rows were measured on.
type machine struct {
	topology, gpu string // gpu "": as the topology says
	nodes, gpus   int
}

// newStepFiles are those of a file, or of validation/steps.csv.
func newStepFiles(path string) *stepFiles {
	f := &stepFiles{validation.Files, "steps.csv", map[machine]*step.Predictor{}}
	if path != "" {
		f.FS, f.name = os.DirFS(filepath.Dir(path)), filepath.Base(path)
	}
	return f
}

func (f *stepFiles) validate(cmd *cobra.Command) (*report.StepValidation, error) {
	rows, err := measured.PublishedSteps(f, f.name)
	if err != nil {
		return nil, err
	}
	d := &report.StepValidation{Schema: "railyard.step-validation/v1"}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "steps")
	for i := range rows {
		r, err := f.predict(&rows[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].ID, err)
		}
		d.Rows = append(d.Rows, r)
		bar.Set(i+1, len(rows))
	}
	bar.Finish()
	d.Finish()
	return d, cmd.Context().Err()
}

// workload is a shipped one, or a file beside the rows.
func (f *stepFiles) workload(s *measured.PublishedStep) (*workload.Workload, error) {
	if !strings.HasSuffix(s.Workload, ".yaml") {
		return workload.Get(s.Workload, s.Set...)
	}
	data, err := fs.ReadFile(f, s.Workload)
	if err != nil {
		return nil, err
	}
	return workload.Parse(s.Workload, data, s.Set...)
}

// predictor is one for all rows on a machine.
func (f *stepFiles) predictor(m machine) (*step.Predictor, error) {
	if p := f.machines[m]; p != nil {
		return p, nil
	}
	site := study.Site{Name: m.topology, Nodes: m.nodes, GPUs: m.gpus}
	t, err := site.Load()
	if err != nil {
		return nil, err
	}
	g, err := f.gpu(m.gpu)
	if err != nil {
		return nil, err
	}
	f.machines[m], err = step.OnNCCL(t, g, nil, site.Part)
	return f.machines[m], err
}

// gpu is a shipped one, or a file beside the rows; nil for the topology's own.
func (f *stepFiles) gpu(name string) (*gpu.GPU, error) {
	switch {
	case name == "":
		return nil, nil
	case !strings.HasSuffix(name, ".yaml"):
		return gpu.Get(name)
	}
	data, err := fs.ReadFile(f, name)
	if err != nil {
		return nil, err
	}
	return gpu.ParseOne(name, data)
}

// predict is a row with its prediction, or with why there is none.
func (f *stepFiles) predict(s *measured.PublishedStep) (report.StepValidationRow, error) {
	out := report.StepValidationRow{ID: s.ID, Source: s.Source, Topology: s.Topology, Workload: s.Workload, Layout: s.Layout,
		Published: s.Seconds, Note: s.Note}
	p, err := f.predictor(machine{s.Topology, s.GPU, s.Options.Nodes, s.Options.GPUs})
	if err != nil {
		return out, err
	}
	w, err := f.workload(s)
	if err != nil {
		return out, err
	}
	out.GPU, out.GPUs = p.Machine().GPU.Name, p.Machine().Topology.NumRanks()
	best, err := fastest(s, p, w)
	if err != nil {
		out.Note = err.Error()
		return out, nil
	}
	out.Predicted, out.MFU, out.MemoryGiB = best.Time.Seconds(), best.MFU(), best.Memory.Total()/float64(units.GiB)
	low, high := best.Band()
	out.Low, out.High, out.Adds = low.Seconds(), high.Seconds(), best.Framework.Seconds()
	by, class := w.RunBy(best.Layout.Zero), step.ClassOf(w, &best.Layout)
	out.Class, out.Framework, out.Stepped = string(class), by.Name, p.Machine().GPU.Stepped
	out.Share = by.ShareOn(p.Machine().GPU, w.Precision).String()
	out.Hidden = class == step.Experts && len(by.ExpertLaunch) > 0
	if strings.Contains(s.Layout, "*") {
		out.Note += fmt.Sprintf(" mb%d vpp%d taken", best.Layout.MicroBatch, best.Layout.Virtual)
	}
	out.PublishedGiB = s.MemoryGiB
	out.Refused = !best.Memory.CanFit()
	switch {
	case s.MemoryGiB > 0:
		out.Note += fmt.Sprintf(" memory %.0f GiB, published %.0f", out.MemoryGiB, s.MemoryGiB)
	case !best.Memory.Fits():
		out.Note += fmt.Sprintf(" predicted memory %.0f GiB, of %.0f", out.MemoryGiB, float64(best.Memory.Capacity)/float64(units.GiB))
	}
	return out, nil
}

// fastest tries the numbers that were not published. What is published with its
// micro-batch has run, so that it is predicted even if our count of its memory is too
// high: frameworks free what we count (Llama 3, section 3.3.2). Of unknown numbers those that
// may fit come first.
func fastest(s *measured.PublishedStep, p *step.Predictor, w *workload.Workload) (*step.Result, error) {
	var best *step.Result
	var why error
	for _, text := range expandStars(s.Layout) {
		l, err := step.ParseLayout(text)
		if err != nil {
			return nil, err
		}
		r, err := step.Run(p, w, l, step.Options{AllowOverflow: !strings.Contains(s.Layout, "mb*")})
		if err != nil {
			why = err
		} else if fits := r.Memory.CanFit(); best == nil || fits && !best.Memory.CanFit() ||
			fits == best.Memory.CanFit() && r.Time < best.Time {
			best = r
		}
	}
	if best == nil {
		return nil, why
	}
	return best, nil
}

// expandStars replaces mb* and vpp* by the numbers that are tried.
func expandStars(layout string) []string {
	out := []string{layout}
	for _, name := range []string{"mb", "vpp"} {
		var next []string
		for _, text := range out {
			if !slices.Contains(strings.Fields(text), name+"*") {
				next = append(next, text)
				continue
			}
			for _, n := range []int{1, 2, 3, 4, 5, 6, 8, 16} {
				next = append(next, strings.Replace(text, name+"*", fmt.Sprintf("%s%d", name, n), 1))
			}
		}
		out = next
	}
	return out
}
