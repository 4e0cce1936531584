package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

// others are the machines that the first is compared with.
func (f *reportFlags) others() (out []topoFlags, err error) {
	for _, text := range f.Baselines {
		name, nodes, err := cutNodes(text)
		if err != nil {
			return nil, cli.Usagef("--against %s: write TOPOLOGY or TOPOLOGY:NODES: %v", text, err)
		}
		out = append(out, topoFlags{Name: name, Nodes: nodes})
	}
	return out, nil
}

// machines is the section that compares the first machine with others.
func (f *reportFlags) machines(cmd *cobra.Command, first *report.StepDocument) (s page.Section, err error) {
	if len(f.Baselines) == 0 {
		return s, nil
	}
	list := []*report.StepDocument{first}
	others, err := f.others()
	if err != nil {
		return s, err
	}
	for i, text := range f.Baselines {
		x := f.Training
		x.Topo = others[i]
		x.Profile, x.Gpu = profileFlag{}, ""
		x.Layout = layoutFlags{Given: search.Space{Zero: -1, GlobalBatch: f.Training.Layout.Given.GlobalBatch}, Sequence: true}
		p, r, n, err := x.step(cmd, step.Options{})
		if err != nil {
			return s, fmt.Errorf("--against %s: %w", text, err)
		}
		list = append(list, stepDocument(p.Machine(), r, n))
	}
	rows := make([]report.MachineRow, len(list))
	for i, d := range list {
		rows[i] = report.MachineRow{Machine: d.Topology, GPUs: d.GPUs, GPU: d.GPU, Layout: d.Layout, StepMS: d.StepMS,
			UnitsPerSecond: d.UnitsPerSecond,
			Each:           d.UnitsPerSecond / float64(d.GPUs), MFU: d.MFU, ExposedMS: d.ExposedMS, Bottleneck: d.Bottleneck}
	}
	return page.Section{Heading: "Compared with other machines",
		Figures: []page.Figure{{Name: "against", Chart: figures.Machines(first.Workload, first.Unit, list)}},
		Tables:  []page.Table{table.Of(rows).Page("Machines side by side, " + first.Workload + ", " + first.Unit)}}, nil
}
