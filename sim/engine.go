package sim

import (
	"fmt"
	"math"

	"railyard/model/schedule"
	"railyard/model/trace"
	"railyard/model/units"
)

// engine is one run's state, dense by connection, lane and resource.
type engine struct {
	*Plan
	opts   Options
	chunk  []units.Bytes // by channel
	slices []int32       // by channel
	now    int64
	q      queue
	conns  []connState
	lanes  []laneState
	share  sharing
	sends  int64
	events int64
	last   int64 // when the last lane ended
	trace  *trace.Trace
	cost   costCache
}

// connState counts a connection's messages: sent by the program, begun, arrived and
// taken by the receiver; sent ≥ begun ≥ arrived ≥ taken.
type connState struct {
	sent, begun, arrived, taken int32
	waiter                      int32 // lane that waits for the next arrival, −1
	version                     uint32
	bytes                       units.Bytes // of the message under way
	started                     int64
}

type laneState struct {
	pc      int32
	slice   int32 // slice being worked on = slices completed
	waiting bool  // for the phase before
	done    bool
}

// Options of a run.
type Options struct {
	Trace        bool // record every operation
	NoContention bool // every transfer gets its route to itself
	NoTransfer   bool // bytes take no time: what remains is latency
}

// costCache holds the last cost looked up by route medium and size.
type costCache struct {
	bytes map[costKey]costEntry
}

type costKey struct {
	route int32
	bytes units.Bytes
}

type costEntry struct {
	alpha      int64
	rate       float64 // cap
	efficiency float64
}

func (p *Plan) newEngine() *engine {
	if p.eng == nil {
		p.eng = &engine{Plan: p, conns: make([]connState, len(p.conns)), lanes: make([]laneState, len(p.lanes)),
			chunk: make([]units.Bytes, p.channels), slices: make([]int32, p.channels)}
		p.eng.cost.bytes = map[costKey]costEntry{}
		p.eng.share.init(p)
	}
	return p.eng
}

func (e *engine) reset(size units.Bytes, o Options) {
	e.opts, e.now, e.sends, e.events, e.last = o, 0, 0, 0, 0
	for c := range e.chunk {
		e.chunk[c] = e.sched.ChunkBytes(c, size)
		e.slices[c] = int32(e.sched.Channels[c].Slices)
	}
	for i := range e.conns {
		e.conns[i] = connState{waiter: -1}
	}
	for l := range e.lanes {
		e.lanes[l] = laneState{waiting: e.Plan.lanes[l].before >= 0}
	}
	e.q.reset()
	e.share.reset()
	e.trace = nil
	if o.Trace {
		e.trace = &trace.Trace{Name: e.sched.Algorithm, Source: "predicted (profile " + e.profile.Name + ")", Ranks: e.sched.Spec.Ranks}
	}
}

// play runs all events; it fails where lanes still wait at the end, which Check proves
// cannot happen.
func (e *engine) play() error {
	e.now = int64(e.profile.Launch)
	e.last = e.now
	for l := range e.lanes {
		if e.Plan.lanes[l].before < 0 {
			e.advance(int32(l))
		}
	}
	e.share.settle(e)
	for len(e.q.heap) > 0 {
		e.now = e.q.heap[0].at
		for len(e.q.heap) > 0 && e.q.heap[0].at == e.now {
			e.handle(e.q.pop())
		}
		e.share.settle(e)
	}
	for l := range e.lanes {
		if !e.lanes[l].done {
			x := e.Plan.lanes[l]
			return fmt.Errorf("the schedule hangs: rank %d waits for ever on channel %d, phase %d", x.rank, x.channel, x.phase)
		}
	}
	return nil
}

func (e *engine) handle(ev event) {
	switch ev.what {
	case startFlow:
		e.events++
		e.share.add(e, ev.id)
	case endFlow:
		if e.conns[ev.id].version != ev.version {
			return // its rate has changed since
		}
		e.events++
		e.arrive(ev.id)
	case wakeLane:
		e.events++
		e.advance(ev.id)
	}
}

// arrive hands a message to its receiver and begins the next one.
func (e *engine) arrive(c int32) {
	s := &e.conns[c]
	e.share.remove(e, c)
	s.arrived++
	s.version++
	e.traceMessage(c)
	if s.begun < s.sent {
		e.begin(c)
	}
	if l := s.waiter; l >= 0 {
		s.waiter = -1
		e.advance(l)
	}
}

// begin starts the next message of a connection: first its α.
func (e *engine) begin(c int32) {
	s, k := &e.conns[c], &e.Plan.conns[c]
	s.bytes = e.msgs[k.first+s.begun%k.per].bytes(e.chunk[k.channel])
	s.begun++
	s.started = e.now
	alpha := e.costOf(k.route, s.bytes).alpha
	if alpha == 0 {
		e.share.add(e, c)
		return
	}
	e.q.push(event{at: e.now + alpha, what: startFlow, id: c})
}

// costOf is the profile's cost of a message on a route.
func (e *engine) costOf(r int32, bytes units.Bytes) costEntry {
	k := costKey{r, bytes}
	if c, ok := e.cost.bytes[k]; ok {
		return c
	}
	full := &e.routes[r].full
	t := e.profile.Transfer(full.Medium, string(e.sched.Protocol), bytes)
	c := costEntry{alpha: int64(t.Alpha), rate: math.Inf(1), efficiency: t.Efficiency}
	if e.profile.Latencies {
		c.alpha += int64(full.Latency)
	}
	if t.Cap > 0 {
		c.rate = float64(t.Cap)
	}
	if len(e.cost.bytes) > 1<<16 {
		clear(e.cost.bytes)
	}
	e.cost.bytes[k] = c
	return c
}

// advance runs a lane until it waits, works or ends.
func (e *engine) advance(l int32) {
	x, s := &e.Plan.lanes[l], &e.lanes[l]
	if s.done {
		return
	}
	for {
		if s.pc == 0 && x.before >= 0 && e.lanes[x.before].slice <= s.slice {
			s.waiting = true
			return
		}
		s.waiting = false
		for s.pc < x.end-x.first {
			if !e.step(l, &e.ops[x.first+s.pc]) {
				return
			}
		}
		s.pc = 0
		s.slice++
		ended := s.slice == e.slices[x.channel]
		if ended {
			s.done = true
			e.last = max(e.last, e.now)
		}
		if x.after >= 0 && e.lanes[x.after].waiting {
			e.advance(x.after)
		}
		if ended {
			return
		}
	}
}

// step runs one operation; false where the lane has to wait before the next one.
func (e *engine) step(l int32, o *op) bool {
	s := &e.lanes[l]
	var work units.Time
	switch o.kind {
	case schedule.Send:
		c := &e.conns[o.conn]
		c.sent++
		e.sends++
		s.pc++
		if c.begun == c.arrived {
			e.begin(o.conn)
		}
		return true
	case schedule.Recv, schedule.RecvReduce:
		c := &e.conns[o.conn]
		if c.arrived == c.taken {
			c.waiter = l
			return false
		}
		k := &e.Plan.conns[o.conn]
		bytes := e.msgs[k.first+c.taken%k.per].bytes(e.chunk[k.channel])
		c.taken++
		if o.kind == schedule.RecvReduce {
			work = over(bytes, e.profile.Reduce)
		}
	case schedule.Copy:
		work = over(e.localBytes(l, o), e.profile.Copy)
	case schedule.Reduce:
		work = over(e.localBytes(l, o)*units.Bytes(max(o.fan-1, 1)), e.profile.Reduce)
	}
	s.pc++
	e.traceWork(l, o, work)
	if work == 0 {
		return true
	}
	e.q.push(event{at: e.now + int64(work), what: wakeLane, id: l})
	return false
}

func (e *engine) localBytes(l int32, o *op) units.Bytes {
	return units.Bytes(o.chunks) * e.chunk[e.Plan.lanes[l].channel]
}

func over(b units.Bytes, r units.Rate) units.Time {
	if r == 0 {
		return 0
	}
	return b.Over(r)
}
