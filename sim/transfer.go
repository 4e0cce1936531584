package sim

// begin starts the next message of a connection. One that shares nothing is a single
// event; of the others the α comes first, or what is left of it since the message was sent.
func (e *engine) begin(c int32, sent int64) {
	s := &e.conns[c]
	s.size = e.seqs[s.first+s.messages.next()]
	s.busy = true
	if e.trace != nil {
		e.trace.begin(c, e.now)
	}
	if e.begun != nil {
		e.begun[c] = min(e.begun[c], e.now)
	}
	k := e.charge(s.class, s.size)
	passed := int64(0)
	if k.ahead {
		passed = min(e.now-sent, k.alpha)
	}
	switch {
	case !s.shared || k.empty:
		s.moved++
		e.q.push(e.now+k.direct-passed, newEvent(arrive, c, 0))
	case k.alpha == passed:
		e.share.add(e, c)
	default:
		e.q.push(e.now+k.alpha-passed, newEvent(start, c, 0))
	}
}

// wait has a message wait for those before it on its connection.
func (e *engine) wait(c int32) {
	e.conns[c].unsent++
	if e.sentAt != nil {
		e.sentAt[c] = append(e.sentAt[c], e.now)
	}
}

// waited takes the first message that waits, and says when it was sent.
func (e *engine) waited(c int32) (sent int64) {
	e.conns[c].unsent--
	if e.sentAt == nil {
		return e.now
	}
	sent = e.sentAt[c][0]
	e.sentAt[c] = e.sentAt[c][1:]
	return sent
}

// arrived hands a message to its receivers and begins the next one.
func (e *engine) arrived(c int32) {
	s := &e.conns[c]
	for b := s.box; b < s.boxEnd; b++ {
		e.boxes[b].ready++
	}
	s.busy = false
	e.brought++
	if e.trace != nil {
		e.trace.arrived(e, c)
	}
	if s.unsent > 0 && !e.serial() {
		e.begin(c, e.waited(c))
	}
	for b := s.box; b < s.boxEnd; b++ {
		if l := e.boxes[b].waiter; l >= 0 {
			e.boxes[b].waiter = -1
			e.lanes[l].since = e.now
			e.advance(l)
		}
	}
	e.sent(c)
}
