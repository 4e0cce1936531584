package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/report"
	"railyard/report/chart"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

type reportFlags struct {
	training trainingFlags
	coll     collFlags
	size     string
	prices   priceFlags
	guard    guardFlags
	beside   []string
	out, dir string
	title    string
}

func newReport() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report TOPOLOGY [-w WORKLOAD] -o FILE.html",
		Short: "Everything about a cluster and a workload in one HTML file, with figures",
		Long: `Writes one self-contained HTML file (no network, prints, dark and light): where a step
goes, its timeline, memory and scaling; a collective's time and bandwidth against size
with measurements where this topology has some, the best schedule by size and GPUs, the
load of every link; cost over time. --figures also writes every figure as SVG, PNG and
CSV. Without -w only the network and the cost are reported.`,
		Example: `  railyard report -t superpod-h100 --nodes 32 -w llama-3-70b -o report.html
  railyard report -t hgx-h200-4 -c all_reduce -o h200.html --figures figures`,
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
	fl.StringVar(&f.dir, "figures", "", "also write each figure as SVG, PNG and CSV into this directory")
	fl.StringVar(&f.title, "title", "", "title of the report")
	fl.StringArrayVar(&f.beside, "beside", nil, "put another machine beside, TOPOLOGY or TOPOLOGY:NODES (needs -w; repeatable)")
	cli.Must(cmd.MarkFlagRequired("output"))
	return cmd
}

// figure is a chart with the name of its files.
type figure struct {
	name    string
	chart   chart.Chart
	svg     func(file string) (func(io.Writer) error, error) // instead of a chart
	caption string
}

// builder collects sections and figures.
type builder struct {
	page    page.Page
	figures []figure
}

func (b *builder) section(heading string, text []string, list []figure, tables []page.Table, notes []string) error {
	s := page.Section{Heading: heading, Text: text, Tables: tables, Notes: notes}
	for _, x := range list {
		f := page.Figure{Chart: x.chart, Caption: x.caption}
		if x.svg != nil {
			svg, err := drawn(x)
			if err != nil {
				return err
			}
			f.SVG = svg
		}
		s.Figures = append(s.Figures, f)
	}
	b.figures = append(b.figures, list...)
	b.page.Sections = append(b.page.Sections, s)
	return nil
}

func (f *reportFlags) run(cmd *cobra.Command) error {
	if filepath.Ext(f.out) != ".html" {
		return cli.Usagef("-o %s: the name must end in .html", f.out)
	}
	if err := errors.Join(f.prices.check(), f.guard.check(cmd)); err != nil {
		return err
	}
	if f.training.workload == "" && (len(f.beside) > 0 || f.guard.checkpoint > 0 || f.training.layout.text != "") {
		return cli.Usagef("--beside, --goodput and --layout are about a workload: name one with -w")
	}
	if goodput := cli.OptionsOf(cmd, "goodput"); goodput.Changed("run-on") || goodput.Changed("interval") {
		return cli.Usagef("--goodput run-on and interval have no effect on a report: ask `railyard capacity what-if`")
	}
	t, err := f.training.topo.load()
	if err != nil {
		return err
	}
	b := &builder{page: page.Page{Title: f.title, Footer: fmt.Sprintf("railyard %s; topology %s, %s", version, t.Name(), t.Hash()[:16])}}
	if f.training.workload != "" {
		if err := f.step(cmd, b); err != nil {
			return err
		}
	} else if b.page.Title == "" {
		b.page.Title = fmt.Sprintf("%s on %s, %d GPUs", f.coll.name, t.Name(), t.NumRanks())
	}
	if err := f.network(cmd, b, t); err != nil {
		return err
	}
	if err := f.cost(b, t); err != nil {
		return err
	}
	if f.dir != "" {
		if err := b.files(f.dir); err != nil {
			return err
		}
	}
	return cli.WriteFile(f.out, b.page.Write)
}

// step is the section about the workload.
func (f *reportFlags) step(cmd *cobra.Command, b *builder) error {
	p, w, err := f.training.load()
	if err != nil {
		return err
	}
	l, searched, err := (&capacityStepFlags{training: f.training}).layout(cmd, p, w)
	if err != nil {
		return err
	}
	r, err := step.Run(p, w, l, step.Options{Timeline: true})
	if err != nil {
		return err
	}
	d := stepDocument(p, r, searched)
	if b.page.Title == "" {
		b.page.Title = fmt.Sprintf("%s on %s, %d GPUs", d.Workload, d.Topology, d.GPUs)
	}
	b.page.Lede = fmt.Sprintf("A step takes %s (%s %s/s); its bottleneck is %s.", table.Milliseconds(d.StepMS),
		table.Rate(d.UnitsPerSecond), d.Unit, d.Bottleneck)
	b.page.Facts = []page.Fact{{Name: "step", Value: table.Milliseconds(d.StepMS), Note: table.Milliseconds(d.ExposedMS) +
		" exposed communication"}, {Name: d.Unit + "/s", Value: table.Rate(d.UnitsPerSecond)},
		{Name: "MFU", Value: fmt.Sprintf("%.1f %%", 100*d.MFU)}, {Name: "scaling efficiency", Value: fmt.Sprintf("%.1f %%",
			100*d.ScalingEfficiency)}, {Name: "memory", Value: fmt.Sprintf("%.1f GiB", d.Memory.Total), Note: fmt.Sprintf("of %.0f",
			d.Memory.Capacity)}}
	err = b.section("Where a step goes", []string{fmt.Sprintf("Layout %s, the best of %d looked at: %s. All times add up to the step.",
		d.Layout, max(searched, 1), report.LayoutWords(d.Layout))}, []figure{
		{name: "waterfall", chart: figures.Waterfall(d),
			caption: "Each part begins where the one before it ends; exposed communication is what GPUs wait for."},
		{name: "timeline", chart: figures.Timeline(d, r.Trace()), caption: "Neighbouring spans of a kind are drawn as one."},
		{name: "timeline-end", chart: figures.TimelineEnd(d, r.Trace()),
			caption: "The last backward passes, the reduction of gradients and the update."},
		{name: "memory", chart: figures.Memory(d)}}, []page.Table{table.Of(d.Collectives).Page("Collectives of one GPU in a step")},
		d.Notes)
	if err != nil {
		return err
	}
	if err := f.besides(cmd, b, d); err != nil {
		return err
	}
	if err := f.failures(b, p, r); err != nil {
		return err
	}
	return f.scaling(cmd, b, d)
}

// files writes every figure in each format.
func (b *builder) files(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, x := range b.figures {
		for _, ext := range []string{".svg", ".png", ".csv"} {
			file := filepath.Join(dir, x.name+ext)
			draw := func(file string) (func(io.Writer) error, error) { return chart.Draw(x.chart, file) }
			if x.svg != nil {
				if draw = x.svg; ext == ".csv" {
					continue
				}
			}
			write, err := draw(file)
			if err != nil {
				return err
			}
			if err := cli.WriteFile(file, write); err != nil {
				return err
			}
		}
	}
	return nil
}
