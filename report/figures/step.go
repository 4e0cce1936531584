// Package figures draws documents: each figure takes what a command answered, and says
// where that comes from.
package figures

import (
	"fmt"
	"image/color"
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
	return chart.Waterfall(chart.Frame{Title: fmt.Sprintf("Where a step of %s goes, %d GPUs", d.Workload, d.GPUs), X: "time (ms)", Y: "part", Source: predicted(d)}, parts, "step")
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
	}{{"parameters", m.Parameters}, {"gradients", m.Gradients}, {"optimizer", m.Optimizer}, {"activations", m.Activations}, {"gathered", m.Gathered}, {"reserve", m.Reserve}, {"free", max(m.Capacity-m.Total, 0)}} {
		colour := chart.Free
		if p.name != "free" {
			colour = chart.Available[i%len(chart.Available)]
		}
		bar.Parts = append(bar.Parts, chart.Part{Name: p.name, Value: p.v, Colour: colour})
	}
	return &chart.Bars{Frame: chart.Frame{Title: "Memory of the fullest GPU", X: "GiB", Y: "stage " + fmt.Sprint(m.Stage), Source: predicted(d)}, Bars: []chart.Bar{bar}}
}

// maxSpans is how many spans a timeline keeps; the shortest are left out.
const maxSpans = 3000

// Timeline is the beginning of a step, lane by lane: what a GPU of each pipeline stage
// computes, and what it communicates meanwhile. Neighbours of one kind are joined.
func Timeline(d *report.StepDocument, t *trace.Trace) chart.Chart {
	lanes := map[int32]map[int32][]chart.Span{}
	for _, e := range t.Events {
		kind, colour := "compute", chart.Compute
		switch {
		case e.Channel == 1:
			kind, colour = "communication in blocks", chart.Exposed
		case e.Channel == 2:
			kind, colour = "communication between replicas", chart.Hidden
		case e.Op == "optimizer" || e.Op == "pack gradients":
			kind, colour = e.Op, chart.Other
		}
		if lanes[e.Rank] == nil {
			lanes[e.Rank] = map[int32][]chart.Span{}
		}
		name := fmt.Sprintf("stage %d", e.Rank)
		if e.Channel == 2 {
			name += " network"
		}
		s := chart.Span{Lane: name, Kind: kind, From: e.Start.Seconds() * 1e3, To: e.End.Seconds() * 1e3, Colour: colour}
		lanes[e.Rank][e.Channel] = append(lanes[e.Rank][e.Channel], s)
	}
	total := d.StepMS
	var out []chart.Span
	stages := min(t.Ranks, 8)
	for r := range stages {
		for ch := range int32(3) {
			out = append(out, join(lanes[int32(r)][ch], total/float64(maxSpans)*float64(stages))...)
		}
	}
	title := "Timeline of a step"
	if t.Ranks > stages {
		title += fmt.Sprintf(" (%d of %d stages)", stages, t.Ranks)
	}
	return &chart.Timeline{Frame: chart.Frame{Title: title, X: "time (ms)", Source: predicted(d)}, Spans: out}
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
