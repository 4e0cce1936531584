package sim

// begin starts the next message of a connection. One that shares nothing is a single
// event; of the others the α comes first.
func (e *engine) begin(c int32) {
	s := &e.conns[c]
	s.size = e.seqs[s.first+s.messages.next()]
	s.busy = true
	if e.trace != nil {
		e.trace.begin(c, e.now)
	}
	k := e.charge(s.class, s.size)
	switch {
	case !s.shared || k.empty:
		e.q.push(e.now+k.direct, newEvent(arrive, c, 0))
	case k.alpha == 0:
		e.share.add(e, c)
	default:
		e.q.push(e.now+k.alpha, newEvent(start, c, 0))
	}
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
		s.unsent--
		e.begin(c)
	}
	for b := s.box; b < s.boxEnd; b++ {
		if l := e.boxes[b].waiter; l >= 0 {
			e.boxes[b].waiter = -1
			e.advance(l)
		}
	}
	e.sent(c)
}
