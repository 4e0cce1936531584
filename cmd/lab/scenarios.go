package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report"
	"railyard/report/table"
)

// workedNumber is a worked number of the documents that railyard was asked for with, and the
// steps that answer it.
type workedNumber struct {
	question string
	runs     []workedRun
}

// workedRun is a training step.
type workedRun struct {
	label    string
	machine  machine
	workload string
	set      []string // of the workload
	layout   string
	measured units.Time
}

func onMachine(name string, nodes, gpus int, gpu string, set ...string) machine {
	return machine{topology: name, options: topology.Options{Nodes: nodes, GPUs: gpus, Set: set}, gpu: gpu}
}

// workedNumbers are the questions about steps.
var workedNumbers = []workedNumber{
	{"ResNet-50 gradients (100 MB, FP32), ring over 8 GPUs: PCIe 3 against NVLink 3",
		[]workedRun{
			{"PCIe 3", onMachine("pcie3-server", 1, 8, "v100"), "resnet-50", []string{"gradients=fp32"}, "dp8 zero0 mb32 gb256", 0},
			{"NVLink 3", onMachine("dgx-a100", 1, 8, ""), "resnet-50", []string{"gradients=fp32"}, "dp8 zero0 mb32 gb256", 0}}},
	{"7B parameters in FP32 over 16 GB/s, 0.5 s compute",
		[]workedRun{{"2 GPUs, PCIe 3", onMachine("pcie3-server", 1, 2, "v100"), "llama-2-7b", []string{"precision=fp32", "gradients=fp32"},
			"dp2 zero0 mb1 gb2", 0}}},
	{"ResNet-50 on 4 GPUs over PCIe: 0.25 s compute",
		[]workedRun{{"4 GPUs, PCIe 3", onMachine("pcie3-server", 1, 4, "v100"), "resnet-50", []string{"gradients=fp32"},
			"dp4 zero0 mb64 gb256", 250 * units.Millisecond}}},
	{"ResNet-50, 8 GPUs: PCIe 3 / NVLink 1",
		[]workedRun{
			{"PCIe 3, P100", onMachine("pcie3-server", 1, 8, "p100"), "resnet-50", []string{"precision=fp32", "gradients=fp32"},
				"dp8 zero0 mb32 gb256", 0},
			{"DGX-1 P100", onMachine("dgx1-p100", 1, 8, ""), "resnet-50", []string{"precision=fp32", "gradients=fp32"},
				"dp8 zero0 mb32 gb256", 0}}},
	{"BERT-Large, 16 GPUs: two DGX-1 V100 / one DGX-2",
		[]workedRun{
			{"2 × DGX-1", onMachine("dgx1-v100", 2, 8, ""), "bert-large", nil, "dp16 zero0 mb4 gb64", 0},
			{"DGX-2", onMachine("dgx2", 1, 16, ""), "bert-large", nil, "dp16 zero0 mb4 gb64", 0}}},
	{"13B model, 8 GPUs, data parallel: PCIe / NVLink, 180 ms compute",
		[]workedRun{
			{"PCIe 4", onMachine("pcie4-server", 1, 8, "a100"), "gpt-3-13b", nil, "dp8 zero0 mb1 gb8", 0},
			{"DGX A100", onMachine("dgx-a100", 1, 8, ""), "gpt-3-13b", nil, "dp8 zero0 mb1 gb8", 0}}},
	{"Gradient accumulation ×4, buckets of 25 MB, overlap with the backward pass",
		[]workedRun{
			{"×1", onMachine("dgx1-v100", 1, 8, ""), "bert-large", nil, "dp8 zero0 mb8 gb64", 0},
			{"×4", onMachine("dgx1-v100", 1, 8, ""), "bert-large", nil, "dp8 zero0 mb8 gb256", 0}}},
	{"FP32→FP8 compression of gradients, 4 nodes of 8 H100 with 25 Gb/s a GPU",
		[]workedRun{
			{"FP32", onMachine("dgx-h100", 4, 8, "", "classes.ndr400.rate=25Gb/s"), "gpt-2-1.5b", []string{"gradients=fp32"},
				"dp32 zero0 mb4 gb128 full", 0},
			{"FP8", onMachine("dgx-h100", 4, 8, "", "classes.ndr400.rate=25Gb/s"), "gpt-2-1.5b", []string{"gradients=fp32"},
				"dp32 zero0 mb4 gb128 full fp8", 0},
			{"FP32, 400 Gb/s", onMachine("dgx-h100", 4, 8, ""), "gpt-2-1.5b", []string{"gradients=fp32"}, "dp32 zero0 mb4 gb128 full", 0},
			{"FP8, 400 Gb/s", onMachine("dgx-h100", 4, 8, ""), "gpt-2-1.5b", []string{"gradients=fp32"}, "dp32 zero0 mb4 gb128 full fp8",
				0}}},
}

func newScenarios() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "scenarios",
		Short:   "Recompute worked numbers of documents about GPU interconnects",
		Example: "  lab scenarios -o docs",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := scenarioDocument()
			if err != nil {
				return err
			}
			if out != "" {
				return fillPage(filepath.Join(out, "scenarios.md"), d.Blocks())
			}
			page, err := table.Fill(nil, d.Blocks())
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(page)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "directory for scenarios.md")
	return cmd
}

func scenarioDocument() (*report.Scenarios, error) {
	d := &report.Scenarios{}
	if err := addTransfers(d); err != nil {
		return nil, err
	}
	for _, s := range workedNumbers {
		x := report.Scenario{Question: s.question}
		for _, r := range s.runs {
			row, err := r.row()
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.question, r.label, err)
			}
			x.Rows = append(x.Rows, row)
		}
		d.Scenarios = append(d.Scenarios, x)
	}
	return d, addOptions(d)
}

// row plays a scenario's step. What does not fit into memory is played all the same: the
// documents' questions do not ask.
func (s *workedRun) row() (report.ScenarioRow, error) {
	r, err := s.run(step.Options{Measured: s.measured, AllowOverflow: true})
	if err != nil {
		return report.ScenarioRow{}, err
	}
	return report.ScenarioRow{Label: s.label, Command: s.command(!r.Memory.Fits()), StepMS: ms(r.Time), ComputeMS: ms(r.Compute),
		CommunicationMS: ms(r.Communication),
		ExposedMS:       ms(r.ExposedTotal()), ScalingEfficiency: r.ScalingEfficiency(), Fits: r.Memory.Fits()}, nil
}

func (s *workedRun) run(o step.Options) (*step.Result, error) {
	p, err := s.machine.predictor(nil)
	if err != nil {
		return nil, err
	}
	w, err := workload.Get(s.workload, s.set...)
	if err != nil {
		return nil, err
	}
	l, err := step.ParseLayout(s.layout)
	if err != nil {
		return nil, err
	}
	return step.Run(p, w, l, o)
}

// command is what a user types for the same.
func (s *workedRun) command(overflow bool) string {
	var b strings.Builder
	word := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	word("railyard capacity step -t %s", s.machine.topology)
	if n := s.machine.options.Nodes; n > 1 {
		word(" --nodes %d", n)
	}
	word(" --gpus %d", s.machine.options.GPUs)
	for _, x := range s.machine.options.Set {
		word(" --set %s", x)
	}
	if s.machine.gpu != "" {
		word(" --gpu %s", s.machine.gpu)
	}
	word(" -w %s", s.workload)
	for _, x := range s.set {
		word(" --workload-set %s", x)
	}
	word(" --layout %q", s.layout)
	var how []string
	if s.measured > 0 {
		how = append(how, fmt.Sprintf("measured-step=%v", s.measured))
	}
	if overflow {
		how = append(how, "ignore-memory")
	}
	if len(how) > 0 {
		word(" --how %s", strings.Join(how, ","))
	}
	return b.String()
}

func ms(t units.Time) float64 { return t.Microseconds() / 1e3 }
