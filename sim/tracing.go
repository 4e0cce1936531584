package sim

import (
	"slices"
	"strings"

	"railyard/model/schedule"
	"railyard/model/trace"
	"railyard/model/units"
)

// tracer records a run: every message from its α to its arrival, and every receive and
// every piece of local work that takes time, waiting included. Of a folded plan, representatives'
// events say for how many they stand.
type tracer struct {
	out     *trace.Trace
	begun   []int64 // by connection: when the message under way began
	arrives []int32 // by connection: messages that have arrived
	waiting []int64 // by lane: since when it waits, −1
}

func newTracer(e *engine) *tracer {
	return &tracer{begun: make([]int64, len(e.conns)), arrives: make([]int32, len(e.conns)),
		waiting: slices.Repeat([]int64{-1}, len(e.lanes)),
		out:     &trace.Trace{Name: e.algorithms(), Source: "predicted (profile " + e.profile.Name + ")", Ranks: e.topo.NumRanks()}}
}

// algorithms names what the jobs run.
func (p *Plan) algorithms() string {
	names := make([]string, len(p.jobs))
	for i := range p.jobs {
		names[i] = p.jobs[i].Schedule.Algorithm
	}
	return strings.Join(names, " with ")
}

func (t *tracer) begin(c int32, now int64) { t.begun[c] = now }

func (t *tracer) arrived(e *engine, c int32) {
	k := &e.Plan.conns[c]
	r := &e.routes[k.route]
	t.out.Events = append(t.out.Events, trace.Event{Rank: r.src, Peer: r.dst, Channel: k.channel, Phase: k.phase,
		Slice: int32(int64(t.arrives[c]) / k.messages.total()), Op: schedule.Send.String(), Bytes: e.table.bytes[e.conns[c].size],
		Start: units.Time(t.begun[c]), End: units.Time(e.now), Route: r.full.Kind.String(), Times: k.times})
	t.arrives[c]++
}

// waits notes that a lane has begun to wait for a message.
func (t *tracer) waits(l int32, now int64) {
	if t.waiting[l] < 0 {
		t.waiting[l] = now
	}
}

// work records an operation other than a send, unless it takes no time at all.
func (t *tracer) work(e *engine, l int32, o *op, work int64) {
	since := e.now
	if t.waiting[l] >= 0 {
		since = t.waiting[l]
		t.waiting[l] = -1
	}
	if since == e.now+work {
		return
	}
	x := &e.Plan.lanes[l]
	peer, route := int32(-1), ""
	if o.conn >= 0 {
		from := e.laneConns[x.conns+o.conn]
		if e.inboxes != nil {
			from = e.inboxes[from]
		}
		r := &e.routes[e.Plan.conns[from].route]
		peer, route = r.src, r.full.Kind.String()
	}
	t.out.Events = append(t.out.Events, trace.Event{Rank: x.rank, Peer: peer, Channel: x.channel, Phase: x.phase,
		Slice: e.lanes[l].slice, Op: o.kind.String(), Bytes: e.table.bytes[o.size],
		Start: units.Time(since), End: units.Time(e.now + work), Route: route, Times: x.times})
}
