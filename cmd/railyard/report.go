package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

// reportFlags say what a report is about.
type reportFlags struct {
	Training  trainingFlags `optional:"workload"`
	Coll      collFlags     `without:"counts counts-of"`
	Size      string        `flag:"size,s,default=256M"`
	Prices    priceFlags
	Guard     guardFlags
	Baselines []string `flag:"against"`
	Out       string   `flag:"output,o,need,writes"`
	Dir       string   `flag:"dir"`
	Title     string   `flag:"title"`

	studied *networkStudy // the collective on the whole machine
}

// Run writes the report.
func (f *reportFlags) Run(cmd *cobra.Command, _ []string) error {
	if filepath.Ext(f.Out) != ".html" {
		return cli.Usagef("-o %s: the name must end in .html", f.Out)
	}
	_, wrong := f.others()
	if err := errors.Join(wrong, f.Prices.check(), f.Guard.check(cmd)); err != nil {
		return err
	}
	if f.Training.Workload == "" && (len(f.Baselines) > 0 || f.Guard.Checkpoint > 0 || f.Training.Layout.Text != "") {
		return cli.Usagef("--against, --goodput and --layout are about a workload: name one with -w")
	}
	if goodput := cli.OptionsOf(cmd, "goodput"); goodput.Changed("run-on") || goodput.Changed("interval") {
		return cli.Usagef("--goodput run-on and interval have no effect on a report: ask `railyard capacity what-if`")
	}
	if err := mayDraw(cmd, f.Dir); err != nil {
		return err
	}
	t, err := f.Training.Topo.load()
	if err != nil {
		return err
	}
	b := &page.Page{Title: f.Title, Footer: fmt.Sprintf("railyard %s; topology %s, %s", version, t.Name(), t.Hash()[:16])}
	if f.Training.Workload != "" {
		if err := f.step(cmd, b); err != nil {
			return err
		}
	} else if b.Title == "" {
		b.Title = fmt.Sprintf("%s on %s, %d GPUs", f.Coll.Name, t.Name(), t.NumRanks())
	}
	for _, section := range []func() (page.Section, error){
		func() (page.Section, error) { return f.network(cmd, t) },
		func() (page.Section, error) { return f.played(cmd) },
		func() (page.Section, error) { return f.cost(t) },
	} {
		s, err := section()
		if err != nil {
			return err
		}
		b.Sections = append(b.Sections, s)
	}
	if f.Dir != "" {
		if err := writeFigures(b, f.Dir); err != nil {
			return err
		}
	}
	return outfile.Write(f.Out, b.Write)
}

// step is the sections about the workload.
func (f *reportFlags) step(cmd *cobra.Command, b *page.Page) error {
	p, r, searched, err := f.Training.step(cmd, step.Options{Timeline: true})
	if err != nil {
		return err
	}
	d := stepDocument(p.Machine(), r, searched)
	if b.Title == "" {
		b.Title = fmt.Sprintf("%s on %s, %d GPUs", d.Workload, d.Topology, d.GPUs)
	}
	b.Lede = fmt.Sprintf("A step takes %s (%s %s/s); its bottleneck is %s.", table.Milliseconds(d.StepMS),
		table.Rate(d.UnitsPerSecond), d.Unit, d.Bottleneck)
	b.Facts = []page.Fact{
		{Name: "step", Value: table.Milliseconds(d.StepMS), Note: table.Milliseconds(d.ExposedMS) + " exposed communication"},
		{Name: d.Unit + "/s", Value: table.Rate(d.UnitsPerSecond)},
		{Name: "MFU", Value: table.Percent(d.MFU)},
		{Name: "scaling efficiency", Value: table.Percent(d.ScalingEfficiency)},
		{Name: "memory", Value: fmt.Sprintf("%.1f GiB", d.Memory.Total), Note: fmt.Sprintf("of %.0f", d.Memory.Capacity)}}
	b.Sections = append(b.Sections, page.Section{Heading: "Where a step goes",
		Text: []string{fmt.Sprintf("Layout %s, the best of %d looked at: %s. All times add up to the step.", d.Layout, max(searched, 1),
			report.LayoutWords(d.Layout))},
		Figures: []page.Figure{
			{Name: "waterfall", Chart: figures.Waterfall(d),
				Caption: "Each part begins where the one before it ends; exposed communication is what GPUs wait for."},
			{Name: "timeline", Chart: figures.Timeline(d, r.Trace()), Caption: "Neighbouring spans of a kind are drawn as one."},
			{Name: "timeline-end", Chart: figures.TimelineEnd(d, r.Trace()),
				Caption: "The last backward passes, the reduction of gradients and the update."},
			{Name: "memory", Chart: figures.Memory(d)}},
		Tables: []page.Table{table.Of(d.Collectives).Page("Collectives of one GPU in a step")}, Notes: d.Notes})
	for _, section := range []func() (page.Section, error){
		func() (page.Section, error) { return f.machines(cmd, d) },
		func() (page.Section, error) { return f.failures(p, r) },
		func() (page.Section, error) { return f.scaling(cmd, d) },
	} {
		s, err := section()
		if err != nil {
			return err
		}
		if s.Heading != "" {
			b.Sections = append(b.Sections, s)
		}
	}
	return nil
}

// writeFigures writes every figure in each format; pictures that are no charts have no numbers.
func writeFigures(b *page.Page, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, section := range b.Sections {
		for _, x := range section.Figures {
			for _, ext := range drawn {
				if x.Chart == nil && ext == ".csv" {
					continue
				}
				file := filepath.Join(dir, x.Name+ext)
				write, err := x.Draw(file)
				if err != nil {
					return err
				}
				if err := outfile.Write(file, write); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// drawn are the extensions of a figure's files.
var drawn = []string{".svg", ".png", ".csv"}

// mayDraw is the error of a directory that has figures, before any work: which of them a report has is known only after it.
func mayDraw(cmd *cobra.Command, dir string) error {
	if dir == "" {
		return nil
	}
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, x := range files {
		if slices.Contains(drawn, filepath.Ext(x.Name())) {
			if err := cli.MayWrite(cmd, filepath.Join(dir, x.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
