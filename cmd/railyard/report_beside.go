package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

// besides is the section that puts other machines beside the first one.
func (f *reportFlags) besides(cmd *cobra.Command, b *builder, first *report.StepDocument) error {
	if len(f.beside) == 0 {
		return nil
	}
	list := []*report.StepDocument{first}
	for _, text := range f.beside {
		x := f.training
		name, nodes, some := strings.Cut(text, ":")
		x.topo = topoFlags{name: name}
		if n, err := strconv.Atoi(nodes); err == nil && n > 0 {
			x.topo.nodes = n
		} else if some {
			return cli.Usagef("--beside %s: write TOPOLOGY or TOPOLOGY:NODES", text)
		}
		x.profile, x.gpu = profileFlag{}, ""
		x.layout = layoutFlags{zero: -1, global: f.training.layout.global, sequence: true}
		p, w, err := x.load()
		if err != nil {
			return fmt.Errorf("--beside %s: %w", text, err)
		}
		l, n, err := (&capacityStepFlags{training: x}).layout(cmd, p, w)
		if err != nil {
			return fmt.Errorf("--beside %s: %w", text, err)
		}
		r, err := step.Run(p, w, l, step.Options{})
		if err != nil {
			return err
		}
		list = append(list, stepDocument(p, r, n))
	}
	rows := make([]report.BesideRow, len(list))
	for i, d := range list {
		rows[i] = report.BesideRow{Machine: d.Topology, GPUs: d.GPUs, GPU: d.GPU, Layout: d.Layout, StepMS: d.StepMS,
			UnitsPerSecond: d.UnitsPerSecond,
			Each:           d.UnitsPerSecond / float64(d.GPUs), MFU: d.MFU, ExposedMS: d.ExposedMS, Bottleneck: d.Bottleneck}
	}
	return b.section("Beside other machines", nil, []figure{{name: "beside", chart: figures.Beside(first.Workload, first.Unit, list)}},
		[]page.Table{table.Of(rows).Page("Machines side by side, " + first.Workload + ", " + first.Unit)}, nil)
}
