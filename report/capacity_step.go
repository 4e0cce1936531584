package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// StepDocument is a predicted training step.
type StepDocument struct {
	Schema   string `json:"schema"`
	Topology string `json:"topology"`
	GPU      string `json:"gpu"`
	GPUs     int    `json:"gpus"`
	Workload string `json:"workload"`
	Layout   string `json:"layout"`
	Runtime  string `json:"runtime"`
	Searched int    `json:"layouts_searched,omitempty"`

	StepMS            float64 `json:"step_ms"`
	ComputeMS         float64 `json:"compute_ms"`
	CommunicationMS   float64 `json:"communication_ms"`
	ExposedMS         float64 `json:"exposed_ms"`
	BubbleMS          float64 `json:"bubble_ms"`
	MFU               float64 `json:"mfu"`
	TFLOPS            float64 `json:"tflops_per_gpu"`
	Unit              string  `json:"unit"`
	UnitsPerSecond    float64 `json:"units_per_second"`
	ScalingEfficiency float64 `json:"scaling_efficiency"`
	Bottleneck        string  `json:"bottleneck"`
	LimitingLink      string  `json:"limiting_link"`

	Parts       []StepPart       `json:"parts"`
	Collectives []StepCollective `json:"collectives"`
	Memory      StepMemory       `json:"memory"`
	Notes       []string         `json:"notes"`
}

// StepPart is a share of the step's time; all add up to it.
type StepPart struct {
	Name   string  `json:"name"`
	TimeMS float64 `json:"time_ms"`
	Share  float64 `json:"share"`
}

// StepCollective is what one GPU's collectives of a kind and size add up to.
type StepCollective struct {
	Axis       string  `json:"axis"`
	Collective string  `json:"collective"`
	What       string  `json:"what"`
	SizeBytes  int64   `json:"size_bytes"`
	Ranks      int     `json:"ranks"`
	Network    bool    `json:"network"`
	Schedule   string  `json:"schedule"`
	Limit      string  `json:"limit"`
	TimeUS     float64 `json:"time_us"`
	Count      float64 `json:"count"`
	TotalMS    float64 `json:"total_ms"`
	ExposedMS  float64 `json:"exposed_ms"`
}

// StepMemory is what the fullest GPU holds, GiB.
type StepMemory struct {
	Stage       int     `json:"stage"`
	Parameters  float64 `json:"parameters_gib"`
	Gradients   float64 `json:"gradients_gib"`
	Optimizer   float64 `json:"optimizer_gib"`
	Activations float64 `json:"activations_gib"`
	Gathered    float64 `json:"gathered_gib"`
	Reserve     float64 `json:"reserve_gib"`
	Total       float64 `json:"total_gib"`
	Capacity    float64 `json:"capacity_gib"`
}

// WriteText writes the step for people.
func (d *StepDocument) WriteText(w io.Writer) error {
	l := &lines{w: w}
	l.printf("%s on %s: %d × %s\n", d.Workload, d.Topology, d.GPUs, d.GPU)
	l.printf("layout %s", d.Layout)
	if d.Searched > 0 {
		l.printf(" (best of %d)", d.Searched)
	}
	l.printf("\ncommunication by %s\n\n", d.Runtime)
	l.printf("step %.1f ms, %.4g %s/s, %.0f TFLOP/s a GPU, MFU %.1f %%, scaling efficiency %.1f %%\n", d.StepMS, d.UnitsPerSecond, d.Unit, d.TFLOPS, 100*d.MFU, 100*d.ScalingEfficiency)
	l.printf("bottleneck: %s\n\n", d.Bottleneck)
	t := newTable(l)
	t.AppendRow([]any{"where the time goes", "ms", "%"})
	for _, p := range d.Parts {
		t.AppendRow([]any{p.Name, fmt.Sprintf("%.2f", p.TimeMS), fmt.Sprintf("%.1f", 100*p.Share)})
	}
	alignRight(t, 2, 3)
	t.Render()
	if len(d.Collectives) > 0 {
		l.printf("\n")
		d.collectiveTable(l)
	}
	m := d.Memory
	l.printf("\nmemory of stage %d: %.1f of %.0f GiB: parameters %.1f, gradients %.1f, optimizer %.1f, activations %.1f, gathered %.1f, reserve %.1f\n",
		m.Stage, m.Total, m.Capacity, m.Parameters, m.Gradients, m.Optimizer, m.Activations, m.Gathered, m.Reserve)
	for _, n := range d.Notes {
		l.printf("note: %s\n", n)
	}
	return l.err
}

func (d *StepDocument) collectiveTable(l *lines) {
	t := newTable(l)
	t.AppendRow([]any{"axis", "collective", "for", "bytes", "GPUs", "schedule", "limit", "us", "times", "total ms", "exposed ms"})
	for _, c := range d.Collectives {
		t.AppendRow([]any{c.Axis, c.Collective, c.What, c.SizeBytes, c.Ranks, c.Schedule, c.Limit, fmt.Sprintf("%.1f", c.TimeUS), fmt.Sprintf("%.0f", c.Count),
			fmt.Sprintf("%.1f", c.TotalMS), fmt.Sprintf("%.1f", c.ExposedMS)})
	}
	alignRight(t, 4, 5, 8, 9, 10, 11)
	t.Render()
}

// WriteCSV writes one line a collective, and the step's parts before them.
func (d *StepDocument) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	rows := [][]string{{"kind", "name", "axis", "size_bytes", "ranks", "schedule", "limit", "time_us", "count", "total_ms", "exposed_ms"},
		{"step", d.Layout, "", "", strconv.Itoa(d.GPUs), "", d.LimitingLink, "", "1", number(d.StepMS), number(d.ExposedMS)}}
	for _, p := range d.Parts {
		rows = append(rows, []string{"part", p.Name, "", "", "", "", "", "", "", number(p.TimeMS), ""})
	}
	for _, c := range d.Collectives {
		rows = append(rows, []string{"collective", c.Collective, c.Axis, strconv.FormatInt(c.SizeBytes, 10), strconv.Itoa(c.Ranks), c.Schedule, c.Limit, number(c.TimeUS), number(c.Count), number(c.TotalMS), number(c.ExposedMS)})
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}
