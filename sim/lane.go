package sim

import "railyard/model/schedule"

// advance runs a lane until it waits, works or ends.
func (e *engine) advance(l int32) {
	s := &e.lanes[l]
	for s.slice < s.slices {
		if s.at == s.first && s.before >= 0 && e.lanes[s.before].slice <= s.slice {
			s.waiting = true
			return
		}
		s.waiting = false
		if !e.program(l, s) {
			return
		}
		s.at = s.first
		s.slice++
		if s.slice == s.slices {
			e.finished(l)
		}
		if s.after >= 0 && e.lanes[s.after].waiting {
			e.advance(s.after)
		}
	}
}

// program runs operations up to the end of the slice; false where the lane has to wait.
func (e *engine) program(l int32, s *laneState) bool {
	for s.at < s.end {
		o := &e.ops[s.at]
		switch o.kind {
		case schedule.Send:
			e.send(e.laneConns[s.conns+o.conn])
			s.at++
			continue
		case schedule.Recv, schedule.RecvReduce:
			k := &e.conns[e.laneConns[s.conns+o.conn]]
			if k.ready == 0 {
				k.waiter = l
				if e.trace != nil {
					e.trace.waits(l, e.now)
				}
				return false
			}
			k.ready--
		}
		work := e.table.local(o.kind, o.size)
		if e.trace != nil {
			e.trace.work(e, l, o, work)
		}
		s.at++
		if work > 0 {
			e.q.push(e.now+work, newEvent(wake, l, 0))
			return false
		}
	}
	return true
}

// send queues a message, or moves it where the connection is idle.
func (e *engine) send(c int32) {
	k := &e.conns[c]
	e.sends += int64(k.times)
	if k.busy {
		k.unsent++
	} else {
		e.begin(c)
	}
}
