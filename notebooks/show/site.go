package show

import (
	"fmt"
	"image/color"
	"strings"

	"railyard/capacity/step"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report/chart"
	"railyard/study"
)

// Site is a machine that is asked about: a shipped topology with so many nodes and GPUs of
// each (0: as the file says), values of its file changed, and parts that have failed or
// are slow, written as --set, --fail and --slow take them.
type Site struct {
	Name        string
	Nodes, GPUs int
	Set         []string
	Faults      []string
}

// study is the same as questions take it.
func (s Site) study() (study.Site, error) {
	out := study.Site{Name: s.Name, Nodes: s.Nodes, GPUs: s.GPUs, Set: s.Set}
	for _, text := range s.Faults {
		f, err := topology.ParseFault(text)
		if err != nil {
			return out, err
		}
		out.Faults = append(out.Faults, f)
	}
	return out, nil
}

// Topology loads the machine.
func (s Site) Topology() (*topology.Topology, error) {
	x, err := s.study()
	if err != nil {
		return nil, err
	}
	return x.Load()
}

// Ask answers for a collective on the machine under its default costs.
func (s Site) Ask(kind collective.Kind, search study.Search, detail study.Detail, sizes ...units.Bytes) (*study.Answer, error) {
	t, err := s.Topology()
	if err != nil {
		return nil, err
	}
	return ask(t, kind, search, detail, sizes)
}

func ask(t *topology.Topology, kind collective.Kind, search study.Search, detail study.Detail, sizes []units.Bytes) (*study.Answer, error) {
	machine, err := cost.MachineFor(t)
	if err != nil {
		return nil, err
	}
	return study.Ask(study.Asked{Topology: t, Collective: study.Collective{Kind: kind}, Sizes: sizes, Machine: machine, Search: search,
		Detail: detail}, nil)
}

// Step predicts a training step of a shipped workload in a layout, with NCCL as the
// library.
func (s Site) Step(work, layout string) (*step.Result, error) {
	x, err := s.study()
	if err != nil {
		return nil, err
	}
	t, err := x.Load()
	if err != nil {
		return nil, err
	}
	p, err := step.OnNCCL(t, nil, nil, x.Part)
	if err != nil {
		return nil, err
	}
	w, err := workload.Get(work)
	if err != nil {
		return nil, err
	}
	l, err := step.ParseLayout(layout)
	if err != nil {
		return nil, err
	}
	return step.Run(p, w, l, step.Options{})
}

// StepBars are where the time of steps goes, a bar for each of the names.
func StepBars(names []string, steps ...*step.Result) (*chart.Bars, error) {
	if len(names) != len(steps) || len(steps) == 0 {
		return nil, fmt.Errorf("%d names for %d steps", len(names), len(steps))
	}
	r := steps[0]
	b := &chart.Bars{Frame: chart.Frame{Title: "A training step of " + r.Workload.Name, X: "time (ms)", Y: "machine",
		Source: fmt.Sprintf("%d × %s, layout %s, communication by %s", r.Layout.Ranks(), r.GPU(), &r.Layout, r.Runtime)}}
	for i, r := range steps {
		bar := chart.Bar{Name: names[i]}
		for _, p := range r.Parts() {
			bar.Parts = append(bar.Parts, chart.Part{Name: p.Name, Value: p.Time.Seconds() * 1e3, Colour: partColour(p)})
		}
		b.Bars = append(b.Bars, bar)
	}
	return b, nil
}

// partColour is the colour of a part of a step: of exposed communication, another for
// each axis.
func partColour(p step.Part) color.RGBA {
	switch {
	case p.Axis == workload.Data:
		return chart.Exposed
	case p.Axis != "":
		return chart.NCCL
	case strings.Contains(p.Name, "compute"):
		return chart.Compute
	}
	return chart.Other
}
