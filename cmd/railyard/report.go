package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

type reportFlags struct {
	training  trainingFlags
	coll      collFlags
	size      string
	prices    priceFlags
	guard     guardFlags
	baselines []string
	out, dir  string
	title     string
}

func newReport() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:  "report",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.training.add(cmd)
	cli.Must(cmd.Flags().SetAnnotation("workload", cobra.BashCompOneRequiredFlag, []string{"false"}))
	f.coll.add(cmd)
	f.prices.add(cmd)
	f.guard.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.size, "size", "s", "256M", "size of the collective whose links are shown")
	cli.OutputFlag(cmd, &f.out, "HTML file to write")
	fl.StringVar(&f.dir, "dir", "", "also write each figure as SVG, PNG and CSV into this directory")
	fl.StringVar(&f.title, "title", "", "title of the report")
	fl.StringArrayVar(&f.baselines, "beside", nil, "put another machine beside, TOPOLOGY or TOPOLOGY:NODES (needs -w; repeatable)")
	cli.Must(cmd.MarkFlagRequired("output"))
	return cmd
}

func (f *reportFlags) run(cmd *cobra.Command) error {
	if filepath.Ext(f.out) != ".html" {
		return cli.Usagef("-o %s: the name must end in .html", f.out)
	}
	if err := errors.Join(f.prices.check(), f.guard.check(cmd)); err != nil {
		return err
	}
	if f.training.workload == "" && (len(f.baselines) > 0 || f.guard.checkpoint > 0 || f.training.layout.text != "") {
		return cli.Usagef("--beside, --goodput and --layout are about a workload: name one with -w")
	}
	if goodput := cli.OptionsOf(cmd, "goodput"); goodput.Changed("run-on") || goodput.Changed("interval") {
		return cli.Usagef("--goodput run-on and interval have no effect on a report: ask `railyard capacity what-if`")
	}
	t, err := f.training.topo.load()
	if err != nil {
		return err
	}
	b := &page.Page{Title: f.title, Footer: fmt.Sprintf("railyard %s; topology %s, %s", version, t.Name(), t.Hash()[:16])}
	if f.training.workload != "" {
		if err := f.step(cmd, b); err != nil {
			return err
		}
	} else if b.Title == "" {
		b.Title = fmt.Sprintf("%s on %s, %d GPUs", f.coll.name, t.Name(), t.NumRanks())
	}
	for _, section := range []func() (page.Section, error){
		func() (page.Section, error) { return f.network(cmd, t) },
		func() (page.Section, error) { return f.cost(t) },
	} {
		s, err := section()
		if err != nil {
			return err
		}
		b.Sections = append(b.Sections, s)
	}
	if f.dir != "" {
		if err := writeFigures(b, f.dir); err != nil {
			return err
		}
	}
	return outfile.Write(f.out, b.Write)
}

// step is the sections about the workload.
func (f *reportFlags) step(cmd *cobra.Command, b *page.Page) error {
	p, r, searched, err := f.training.step(cmd, step.Options{Timeline: true})
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
	for i := range b.Sections {
		for k := range b.Sections[i].Figures {
			x := &b.Sections[i].Figures[k]
			for _, ext := range []string{".svg", ".png", ".csv"} {
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
