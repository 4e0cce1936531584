package sim

// processor is what does a rank's work where a profile is serial: one lane at a time
// fetches a message or combines, the others queue in the order in which they came.
type processor struct {
	busy  bool
	lane  int32 // that has it
	ended bool  // the operation that it was held for
	queue []int32
}

// serial reports whether ranks are processors in this run; to count messages they are not.
func (e *engine) serial() bool { return e.profile.Serial && !e.opts.countSteps }

// hold gives a lane its rank's processor; false where it has to queue for it.
func (e *engine) hold(l int32) bool {
	p := &e.processors[e.Plan.lanes[l].rank]
	if p.busy && p.lane != l {
		p.queue = append(p.queue, l)
		return false
	}
	p.busy, p.lane, p.ended = true, l, false
	return true
}

// done marks the operation for which a lane has the processor as its last: the lane gives
// it back when it goes on, which is when the operation's work has ended.
func (e *engine) done(l int32) { e.processors[e.Plan.lanes[l].rank].ended = true }

// release gives the processor of a lane whose operation has ended to the next in the queue.
func (e *engine) release(l int32) {
	p := &e.processors[e.Plan.lanes[l].rank]
	if !p.busy || p.lane != l || !p.ended {
		return
	}
	if p.busy = len(p.queue) > 0; !p.busy {
		return
	}
	p.lane, p.ended = p.queue[0], false
	p.queue = p.queue[1:]
	e.q.push(e.now, newEvent(wake, p.lane, 0))
}

// fetch is a receive where ranks are processors: the receiver takes a message that has
// been sent out of the sender's memory. False until it is there. Each connection has one
// inbox, since such plans are not folded.
func (e *engine) fetch(l int32, c int32) bool {
	k, box := &e.conns[c], &e.boxes[c]
	switch {
	case box.ready > 0:
		box.ready--
		return true
	case k.unsent == 0:
		box.waiter = l
	case e.hold(l):
		k.unsent--
		box.waiter = l
		e.begin(c, e.now)
	}
	return false
}

// offer is a send where ranks are processors.
func (e *engine) offer(c int32) {
	k := &e.conns[c]
	k.unsent++
	if box := &e.boxes[c]; box.waiter >= 0 && !k.busy {
		l := box.waiter
		box.waiter = -1
		e.advance(l)
	}
}
