package sim

import (
	"railyard/model/schedule"
	"railyard/model/trace"
	"railyard/model/units"
)

// traceMessage records the message that has just arrived.
func (e *engine) traceMessage(c int32) {
	if e.trace == nil {
		return
	}
	k, s := &e.Plan.conns[c], &e.conns[c]
	r := &e.routes[k.route]
	e.trace.Events = append(e.trace.Events, trace.Event{Rank: r.src, Peer: r.dst, Channel: k.channel, Phase: k.phase,
		Slice: (s.arrived - 1) / k.per, Op: schedule.Send.String(), Bytes: s.bytes,
		Start: units.Time(s.started), End: units.Time(e.now), Route: r.full.Kind.String()})
}

// traceWork records local work that takes time.
func (e *engine) traceWork(l int32, o *op, work units.Time) {
	if e.trace == nil || work == 0 {
		return
	}
	x := &e.Plan.lanes[l]
	peer := int32(-1)
	if o.conn >= 0 {
		peer = e.routes[e.Plan.conns[o.conn].route].src
	}
	e.trace.Events = append(e.trace.Events, trace.Event{Rank: x.rank, Peer: peer, Channel: x.channel, Phase: x.phase,
		Slice: e.lanes[l].slice, Op: o.kind.String(), Bytes: e.localBytes(l, o),
		Start: units.Time(e.now), End: units.Time(e.now) + work})
}
