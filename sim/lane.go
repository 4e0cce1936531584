package sim

import "railyard/model/schedule"

// advance runs a lane until it waits, works or ends.
func (e *engine) advance(l int32) {
	s := &e.lanes[l]
	for s.slice < s.slices {
		if s.at == 0 && s.before >= 0 && e.lanes[s.before].slice <= s.slice {
			s.waiting = true
			return
		}
		s.waiting = false
		if s.at == 0 {
			s.since = e.now
		}
		if !e.program(l, s) {
			return
		}
		s.slice++
		if s.slice == s.slices {
			e.finished(l)
		}
		for a := s.after; a >= 0; a = e.lanes[a].sibling {
			if e.lanes[a].waiting {
				e.advance(a)
			}
		}
	}
}

// program runs operations up to the end of the slice; false where the lane has to wait.
func (e *engine) program(l int32, s *laneState) bool {
	serial := e.serial()
	for s.at < s.stop || s.turn() {
		o := &e.ops[s.first+s.at]
		size := o.size
		if serial {
			e.release(l)
		}
		switch {
		case o.kind == schedule.Send:
			c := e.laneConns[s.conns+o.conn]
			s.at++
			if e.blocking() {
				e.senders[c] = append(e.senders[c], l)
				e.send(c)
				return false
			}
			e.row.sends(e, l, c, size)
			e.send(c)
			continue
		case o.conn >= 0:
			c := e.laneConns[s.conns+o.conn]
			if !e.receive(l, c) {
				return false
			}
			if serial {
				size = e.conns[c].size // as the sender has it
			}
		default:
			if serial && !e.hold(l) {
				return false
			}
		}
		work := e.table.local(o.kind, size)
		if e.takes && o.conn >= 0 {
			work += max(s.since+e.taken(e.laneConns[s.conns+o.conn], size)-e.now, 0)
		}
		if o.kind != schedule.Recv {
			s.since = e.now + work
		}
		if e.trace != nil {
			e.trace.work(e, l, o, work)
		}
		s.at++
		if serial {
			e.done(l)
		}
		if work > 0 {
			e.q.push(e.now+work, newEvent(wake, l, 0))
			return false
		}
	}
	if serial {
		e.release(l)
	}
	return true
}

// taken is what a message takes of its receiver's program, in ps.
func (e *engine) taken(box, size int32) int64 {
	c := box
	if e.inboxes != nil {
		c = e.inboxes[box]
	}
	return e.charge(e.conns[c].class, size).taken
}

// receive takes the next message of an inbox; false where it has not come.
func (e *engine) receive(l, box int32) bool {
	k := &e.boxes[box]
	switch {
	case e.serial():
		if e.fetch(l, box) {
			return true
		}
	case k.ready > 0:
		k.ready--
		return true
	default:
		k.waiter = l
	}
	if e.trace != nil {
		e.trace.waits(l, e.now)
	}
	return false
}

// blocking reports whether lanes wait for what they send in this run; to count messages they do not.
func (e *engine) blocking() bool { return e.profile.Blocking && !e.opts.countSteps }

// sent has the lane go on whose message has come.
func (e *engine) sent(c int32) {
	if !e.blocking() {
		return
	}
	l := e.senders[c][0]
	e.senders[c] = e.senders[c][1:]
	e.advance(l)
}

// send queues a message, or moves it where the connection is idle; on all connections that
// are meant.
func (e *engine) send(c int32) {
	for serial := e.serial(); c >= 0; c = e.siblings[c] {
		k := &e.conns[c]
		switch {
		case serial:
			e.offer(c)
		case k.busy:
			e.wait(c)
		default:
			e.begin(c, e.now)
		}
		e.sends += int64(k.times)
		if e.siblings == nil {
			return
		}
	}
}
