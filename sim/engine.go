package sim

import (
	"errors"
	"fmt"
	"slices"

	"railyard/model/cost"
	"railyard/model/units"
)

// engine is one run's state, dense by connection, lane and resource.
type engine struct {
	*Plan
	opts           Options
	chunk          []units.Bytes // by strand
	now            int64
	q              queue
	conns          []connState
	siblings       []int32 // by connection: as in conn; nil: there are none
	boxes          []boxState
	lanes          []laneState
	share          sharing
	table          table
	sends          int64
	events         int64
	last           int64         // when the last lane ended
	over           int           // lanes that have ended
	ends           []int64       // by job: the same for its lanes
	handled        int64         // events, those of flows that changed meanwhile as well
	brought, total int64         // messages, of how many (see messages)
	slice          int64         // messages of one
	pace           pace          // of sharing (see tooLong)
	played         []units.Bytes // the sizes of the last run if it was one without options, by job
	trace          *tracer
	most           int64 // the run is given up where it cannot end by then (see within.go); 0: never
	until          within
	begun          []int64 // by connection: when its first message began; nil: nobody asks
	row            row
	takes          bool // messages take time of their receivers' programs

	processors []processor // by rank, where the profile is serial
	senders    [][]int32   // by connection: lanes that wait for messages of theirs, where the profile is blocking
	sentAt     [][]int64   // by connection: when messages were sent that wait for others, where α passes meanwhile (see cost.Curve)
}

// connState is a connection in a run: messages go out, move one at a time, wait for
// their receivers in inboxes and are taken, in order.
type connState struct {
	first       int32  // where its sizes are listed
	messages    cursor // in them: the next message to move
	class       int32  // of cost
	size        int32  // of the message under way
	unsent      int32  // messages that the program has sent and that do not move yet
	box, boxEnd int32  // its inboxes
	times       int32  // how many connections it stands for
	route       int32
	moved       int64 // messages that have begun to move
	busy        bool  // a message is under way
	shared      bool  // it shares resources
}

// boxState is an inbox in a run.
type boxState struct {
	ready  int32 // messages there and not taken
	waiter int32 // lane that waits for the next one, −1
}

// laneState is a program in a run: it stands before ops[first+at].
type laneState struct {
	cursor
	first         int32
	conns         int32
	slice, slices int32 // slices completed, of how many
	before, after int32
	sibling       int32 // as in lane
	since         int64 // when it could begin to take what it receives next, or what came with that
	waiting       bool  // for the phase before
}

// Options of a run.
type Options struct {
	Trace        bool // record every operation
	NoContention bool // every transfer gets its route to itself
	NoTransfer   bool // bytes take no time: what remains is latency
	// Delays says by rank (the topology's) how long after the launch its programs begin;
	// nil: none. Messages may reach a rank that has not begun, and wait there.
	Delays     []units.Time
	countSteps bool // every message takes 1, all else nothing
}

// ErrTooLong says that a run was given up: see Limited.
var ErrTooLong = errors.New("the simulation takes too long")

// plain reports whether there are none.
func (o *Options) plain() bool {
	return !o.Trace && !o.NoContention && !o.NoTransfer && !o.countSteps && o.Delays == nil
}

func (p *Plan) newEngine() *engine {
	if p.eng != nil {
		return p.eng
	}
	e := &engine{Plan: p, conns: make([]connState, len(p.conns)), lanes: make([]laneState, len(p.lanes)),
		chunk: make([]units.Bytes, len(p.strands)), ends: make([]int64, len(p.jobs))}
	for i := range p.conns {
		k := &p.conns[i]
		e.conns[i] = connState{first: k.messages.first, messages: newCursor(k.messages.loop, k.messages.n), class: p.routes[k.route].class,
			times: k.times, route: k.route, box: int32(i), boxEnd: int32(i) + 1}
	}
	if slices.ContainsFunc(p.conns, func(k conn) bool { return k.sibling >= 0 }) {
		for i := range p.conns {
			e.siblings = append(e.siblings, p.conns[i].sibling)
		}
	}
	e.boxes = make([]boxState, len(p.conns))
	if p.inboxes != nil {
		e.boxes = make([]boxState, len(p.inboxes))
		e.shareInboxes()
	}
	for i := range p.lanes {
		l := &p.lanes[i]
		e.lanes[i] = laneState{cursor: newCursor(l.loop, l.end-l.first), first: l.first, conns: l.conns, before: l.before, after: l.after,
			sibling: l.sibling}
	}
	p.eng = e
	return e
}

// shareInboxes gives connections their inboxes, which lie in the order of connections.
func (e *engine) shareInboxes() {
	for i := range e.conns {
		e.conns[i].box, e.conns[i].boxEnd = 0, 0
	}
	for b, c := range e.inboxes {
		k := &e.conns[c]
		if k.boxEnd == 0 {
			k.box = int32(b)
		}
		k.boxEnd = int32(b) + 1
	}
}

// reset prepares a run with a size for each job.
func (e *engine) reset(sizes []units.Bytes, o Options) {
	e.played, e.begun, e.brought, e.over = nil, nil, 0, 0
	_, slice := e.messages()
	e.until = within{}
	e.pace = pace{look: e.limit / looksAtPace, ends: max(1, slice)}
	e.opts, e.now, e.sends, e.events, e.handled, e.last, e.trace = o, 0, 0, 0, 0, 0, nil
	for c, s := range e.strands {
		e.chunk[c] = e.jobs[s.job].Schedule.ChunkBytes(int(s.channel), sizes[s.job])
	}
	if len(e.profile.Memory) > 0 {
		var buffers units.Bytes
		for j := range e.jobs {
			buffers += e.jobs[j].Schedule.BufferBytes(sizes[j], e.scratch[j])
		}
		e.table.level, e.table.levels = e.profile.Level(buffers)
	}
	e.table.fill(e.Plan, e.chunk, o.countSteps)
	e.table.carried = e.carried()
	alone := o.NoContention || o.NoTransfer || o.countSteps
	for i := range e.conns {
		s := &e.conns[i]
		s.messages.rewind()
		s.unsent, s.busy, s.moved = 0, false, 0
		s.shared = !alone && len(e.routes[s.route].use) > 0
	}
	for i := range e.boxes {
		e.boxes[i] = boxState{waiter: -1}
	}
	for i := range e.lanes {
		s := &e.lanes[i]
		s.rewind()
		s.slice, s.slices, s.waiting = 0, e.strand(e.Plan.lanes[i].channel).slices, s.before >= 0
	}
	if e.serial() {
		e.processors = make([]processor, e.topo.NumRanks())
	}
	if e.blocking() {
		e.senders = make([][]int32, len(e.conns))
	}
	if slices.ContainsFunc(e.profile.Curves, func(c cost.Curve) bool { return c.Ahead }) {
		e.sentAt = make([][]int64, len(e.conns))
	}
	e.takes = !o.countSteps && slices.ContainsFunc(e.profile.Curves, func(c cost.Curve) bool { return c.Receive > 0 })
	e.row.reset(e)
	e.q.reset()
	e.share.reset(e.Plan, alone)
	if o.Trace {
		e.trace = newTracer(e)
	}
}

// begins launches all programs.
func (e *engine) begins() {
	if !e.opts.countSteps {
		e.now = int64(e.launched())
	}
	e.last = e.now
	for j := range e.ends {
		e.ends[j] = e.now
	}
	for i := range e.lanes {
		if e.lanes[i].before < 0 {
			e.launch(int32(i))
		}
	}
	e.share.settle(e)
}

// play runs all events; it fails where lanes still wait at the end, which Check proves
// cannot happen.
func (e *engine) play() error {
	e.begins()
	for len(e.q.heap) > 0 && !e.row.over {
		if e.tooLong() {
			return ErrTooLong
		}
		if e.tooLate() {
			return errTooLate
		}
		if e.q.heap[0].at >= forever {
			return fmt.Errorf("the collective takes longer than 26 days: check the size and the rates")
		}
		e.next()
	}
	if e.row.over {
		e.row.one(e)
		return nil
	}
	return e.deadlocked()
}

// next plays the next events, and settles what a moment has changed once all of its have been seen.
func (e *engine) next() {
	m := e.q.heap[0]
	e.now = m.at
	i := 0
	for ; i < len(e.q.buckets[m.bucket]); i++ { // it may grow
		e.handle(e.q.buckets[m.bucket][i])
	}
	e.handled += int64(i)
	e.q.done()
	if len(e.q.heap) == 0 || e.q.heap[0].at != e.now {
		e.share.settle(e)
	}
}

// launch begins a lane of a first phase, after its rank's delay.
func (e *engine) launch(l int32) {
	if d := e.opts.Delays; d != nil && d[e.Plan.lanes[l].rank] > 0 {
		e.q.push(e.now+int64(d[e.Plan.lanes[l].rank]), newEvent(wake, l, 0))
		return
	}
	e.advance(l)
}

// finished notes that a lane has ended.
func (e *engine) finished(l int32) {
	e.last = e.now
	e.over++
	e.ends[e.strand(e.Plan.lanes[l].channel).job] = e.now
	e.row.end(e, l)
}

func (e *engine) deadlocked() error {
	for i := range e.lanes {
		if s := &e.lanes[i]; s.slice < s.slices {
			x := &e.Plan.lanes[i]
			return fmt.Errorf("deadlock: rank %d waits on channel %d, phase %d, for a message that never comes: check the schedule",
				x.rank, x.channel, x.phase)
		}
	}
	return nil
}

func (e *engine) handle(ev event) {
	id := ev.id()
	switch ev.kind() {
	case arrive:
		e.events += int64(e.conns[id].times)
		e.arrived(id)
	case start:
		e.events += int64(e.conns[id].times)
		e.share.add(e, id)
	case ending:
		e.share.ending(e, id, ev.version())
	case drained:
		e.share.drained(e, id, ev.version())
	case wake:
		e.events += int64(e.Plan.lanes[id].times)
		if s := &e.lanes[id]; s.slice == s.slices {
			e.row.again(e, id)
			return
		}
		e.advance(id)
	}
}
