package main

import (
	"errors"

	"railyard/capacity/step"
	"railyard/model/price"
	"railyard/report"
)

// gpt3Tokens is what GPT-3 175B was trained on (Brown et al., "Language Models are Few-Shot
// Learners", arXiv 2005.14165, table D.1).
const gpt3Tokens = 300e9

// optionsFor175B are the ways to train of the source documents, on clusters that need about
// as many days as they say.
var optionsFor175B = []struct {
	label, says string
	run         workedRun
}{
	{"PCIe server", "45 days, $162,000", workedRun{machine: onMachine("pcie4-server", 128, 8, "a100"), workload: "gpt-3-175b",
		layout: "dp128 tp8 pp1 zero3 mb2 gb1536 sp"}},
	{"DGX A100, bought", "18 days, $254,800", workedRun{machine: onMachine("dgx-a100", 128, 8, ""), workload: "gpt-3-175b",
		layout: "dp32 tp4 pp8 vpp12 zero1 mb2 gb1536 sp selective"}},
	{"DGX A100, cloud", "18 days, $125,960", workedRun{machine: onMachine("dgx-a100", 128, 8, ""), workload: "gpt-3-175b",
		layout: "dp32 tp4 pp8 vpp12 zero1 mb2 gb1536 sp selective"}},
}

// addOptions adds the table of the three options.
func addOptions(d *report.Scenarios) error {
	book, err := price.Default()
	if err != nil {
		return err
	}
	for _, o := range optionsFor175B {
		t, err := o.run.machine.load()
		if err != nil {
			return err
		}
		r, err := o.run.run(step.Options{})
		if err != nil {
			return err
		}
		row := report.TrainingOption{Label: o.label, Says: o.says, Command: o.run.command(false), Nodes: t.NumNodes(), GPUs: t.NumRanks(),
			UnitsPerSecond: r.UnitsPerSecond(), Prices: book.Name + " of " + book.Date}
		row.Days = gpt3Tokens / row.UnitsPerSecond / 86400
		row.NodeHours = row.Days * 24 * float64(row.Nodes)
		node, err := book.Node(t.NodeTemplate(0))
		var missing *price.Missing
		switch {
		case err == nil:
			row.Bought = node.Price * float64(row.Nodes)
		case !errors.As(err, &missing):
			return err
		}
		if offers := book.Rent(t.NodeTemplate(0)); len(offers) > 0 {
			row.Rented = offers[0].Hour * row.NodeHours
		}
		d.Options = append(d.Options, row)
	}
	return nil
}
