// Package figures draws documents: each figure takes what a command answered, and says
// where that comes from.
package figures

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"railyard/model/trace"
	"railyard/report"
	"railyard/report/chart"
)

// Waterfall is where a step's time goes.
func Waterfall(d *report.StepDocument) chart.Chart {
	var parts []chart.Part
	for _, p := range d.Parts {
		parts = append(parts, chart.Part{Name: p.Name, Value: p.TimeMS, Colour: partColour(p.Name)})
	}
	return chart.Waterfall(chart.Frame{Title: fmt.Sprintf("Where a step of %s goes, %d GPUs", d.Workload, d.GPUs), X: "time (ms)",
		Y: "part", Source: predicted(d)}, parts, "step")
}

func predicted(d *report.StepDocument) string {
	return fmt.Sprintf("Predicted by railyard: %s on %s, layout %s, communication by %s", d.Workload, d.Topology, d.Layout, d.Runtime)
}

// partColour is that of a role: computing, waiting for communication, or neither.
func partColour(name string) color.RGBA {
	switch {
	case strings.HasPrefix(name, "exposed"):
		return chart.Exposed
	case name == "compute" || name == "recompute":
		return chart.Compute
	}
	return chart.Other
}

// Memory is what the fullest GPU holds.
func Memory(d *report.StepDocument) chart.Chart {
	m := &d.Memory
	bar := chart.Bar{Name: "GPU"}
	for i, p := range []struct {
		name string
		v    float64
	}{{"parameters", m.Parameters}, {"gradients", m.Gradients}, {"optimizer", m.Optimizer}, {"activations", m.Activations},
		{"gathered", m.Gathered}, {"reserve", m.Reserve}, {"free", max(m.Capacity-m.Total, 0)}} {
		colour := chart.Free
		if p.name != "free" {
			colour = chart.Available[i%len(chart.Available)]
		}
		bar.Parts = append(bar.Parts, chart.Part{Name: p.name, Value: p.v, Colour: colour})
	}
	return &chart.Bars{Frame: chart.Frame{Title: "Memory of the fullest GPU", X: "GiB", Y: "stage " + fmt.Sprint(m.Stage),
		Source: predicted(d)}, Bars: []chart.Bar{bar}}
}

// Lanes of a stage's trace (capacity/step's channels), and how they are drawn.
var lanes = []struct {
	name, kind string
	colour     color.RGBA
}{{"compute", "compute", chart.Compute}, {"in blocks", "communication in blocks", chart.Exposed},
	{"replicas", "communication between replicas", chart.Hidden}}

// What a timeline holds: so many stages and spans.
const (
	maxStages = 8
	maxSpans  = 3000
)

// Timeline is a whole step, pipeline stage by stage: when a GPU of each computes and when
// replicas communicate. Neighbours of one kind are joined; what blocks communicate inside
// is too fine to be seen and left out.
func Timeline(d *report.StepDocument, t *trace.Trace) chart.Chart {
	var out []chart.Span
	for _, list := range spans(t, func(e *trace.Event) bool { return e.Channel != 1 }) {
		out = append(out, join(list, d.StepMS/400)...)
	}
	return timeline("Timeline of a step", d, t, out)
}

// TimelineEnd is the end of a step in detail, as far as there is room for its spans.
func TimelineEnd(d *report.StepDocument, t *trace.Trace) chart.Chart {
	var all []chart.Span
	for _, list := range spans(t, func(*trace.Event) bool { return true }) {
		all = append(all, list...)
	}
	ends := make([]float64, len(all))
	for i, s := range all {
		ends[i] = s.To
	}
	slices.Sort(ends)
	from := max(0, d.StepMS*0.97)
	if n := len(ends) - maxSpans; n > 0 {
		from = max(from, ends[n])
	}
	var out []chart.Span
	for _, s := range all {
		if s.To > from {
			s.From = max(s.From, from)
			out = append(out, s)
		}
	}
	return timeline("The end of the step", d, t, out)
}

func timeline(title string, d *report.StepDocument, t *trace.Trace, list []chart.Span) chart.Chart {
	if t.Ranks > maxStages {
		title += fmt.Sprintf(" (%d of %d stages)", maxStages, t.Ranks)
	}
	return &chart.Timeline{Frame: chart.Frame{Title: title, X: "time (ms)", Source: predicted(d)}, Spans: list}
}

// spans are the events of each lane, in the order of stages.
func spans(t *trace.Trace, want func(*trace.Event) bool) [][]chart.Span {
	out := make([][]chart.Span, len(lanes)*min(t.Ranks, maxStages))
	for i := range t.Events {
		e := &t.Events[i]
		at := int(e.Rank)*len(lanes) + int(e.Channel)
		if at >= len(out) || !want(e) {
			continue
		}
		l := lanes[e.Channel]
		s := chart.Span{Lane: fmt.Sprintf("stage %d %s", e.Rank, l.name), Kind: l.kind, From: e.Start.Seconds() * 1e3,
			To: e.End.Seconds() * 1e3, Colour: l.colour}
		if e.Op == "optimizer" || e.Op == "pack gradients" {
			s.Kind, s.Colour = e.Op, chart.Other
		}
		out[at] = append(out[at], s)
	}
	return out
}

// join merges spans of a kind with less than gap between them.
func join(spans []chart.Span, gap float64) []chart.Span {
	var out []chart.Span
	for _, s := range spans {
		if n := len(out); n > 0 && out[n-1].Kind == s.Kind && s.From-out[n-1].To < gap && s.From >= out[n-1].From {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
