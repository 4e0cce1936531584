package step

import (
	"fmt"

	"railyard/model/trace"
	"railyard/model/units"
)

// Channels of a trace: what a GPU computes, what its blocks communicate, and what goes on
// beside them between replicas.
const (
	computeChannel = iota
	blockChannel
	dataChannel
)

// Trace is the step's timeline, one rank for each pipeline stage; nil without
// Options.Timeline. Passes that transfers on the same links slow down are stretched
// evenly.
func (r *Result) Trace() *trace.Trace {
	if r.timeline == nil {
		return nil
	}
	t := &trace.Trace{Name: fmt.Sprintf("%s, %s", r.Workload.Name, r.Layout.String()), Source: "predicted, " + r.Runtime,
		Ranks: len(r.timeline)}
	for s := range r.timeline {
		l := &r.timeline[s]
		for i := range l.tasks {
			t.Events = l.tasks[i].events(t.Events, s, l.started[i], l.ended[i])
		}
		for _, m := range l.moved {
			t.Events = append(t.Events, trace.Event{Rank: int32(s), Peer: -1, Channel: dataChannel, Op: m.name, Start: m.start, End: m.end})
		}
		t.Events = append(t.Events, trace.Event{Rank: int32(s), Peer: -1, Op: "optimizer", Start: r.Time - r.Optimizer, End: r.Time})
	}
	return t
}

// events appends what a task does between two moments.
func (t *task) events(out []trace.Event, stage int, start, end units.Time) []trace.Event {
	stretch := 1.0
	if t.length() > 0 {
		stretch = float64(end-start) / float64(t.length())
	}
	at := func(x units.Time) units.Time { return start + units.Time(float64(x)*stretch) }
	var offset units.Time
	for _, p := range t.parts {
		for _, s := range p.spans {
			e := trace.Event{Rank: int32(stage), Peer: -1, Channel: computeChannel, Slice: int32(t.slot.micro), Op: s.name,
				Start: at(offset + s.start), End: at(offset + s.end)}
			if s.axis != "" {
				e.Channel = blockChannel
			}
			out = append(out, e)
		}
		offset += p.time
	}
	if t.convert > 0 {
		out = append(out, trace.Event{Rank: int32(stage), Peer: -1, Op: "pack gradients", Start: at(offset), End: end})
	}
	return out
}
