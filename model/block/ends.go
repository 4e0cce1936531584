package block

import (
	"railyard/model/schedule"
)

// grant tells the peers that will write this rank's output that its kernel has begun,
// unless a message to them says so anyway, and waits for packet buffers to be read.
func (e *emission) grant(steps []step) {
	slots := otherEnds(steps, false, e.slotsAwaited)
	if e.c.o.Mechanism.Flagged() {
		e.once(&e.before, Wait, otherEnds(steps, false, e.packetsAwaited), Taken, 1, Earlier|Relaxed)
		e.once(&e.before, Wait, slots, Taken, 1, Earlier|Relaxed)
		return
	}
	var peers uint32
	for _, s := range steps {
		if receives(s.op) && s.msg.pushed && !e.impliedStart(s.msg) {
			peers |= 1 << s.msg.from
		}
	}
	e.once(&e.before, Signal, peers, Taken, 1, Relaxed)
	e.once(&e.before, Wait, slots, Taken, 1, Earlier|Relaxed)
}

// impliedStart: the sender gets a message from this rank before it pushes.
func (e *emission) impliedStart(m *message) bool {
	for _, s := range e.st.steps[m.from] {
		if s.msg == m {
			return false
		}
		if receives(s.op) && s.msg.from == e.rank {
			return true
		}
	}
	return false
}

// finish keeps the kernel running until nobody reads this rank's memory any more. A
// message that comes back after the data were read says so as well.
//
// Packet buffers, and slots, are free when they have been read. What packets hold has been looked at by then, so
// who says that needs no fence, which takes as long as a flag: only its block's other threads.
func (e *emission) finish(steps []step) {
	slots := otherEnds(steps, true, e.slotsAwaited)
	if e.c.o.Mechanism.Flagged() {
		e.once(&e.after, Signal, slots|otherEnds(steps, true, e.packetsAwaited), Taken, 1, Barrier|Relaxed)
		return
	}
	e.once(&e.after, Signal, slots, Taken, 1, Barrier|Relaxed)
	// Step 2: step 1 of the line says that a kernel has begun.
	var tell, hear uint32
	for r := range e.st.steps {
		if r == e.rank {
			continue
		}
		if readsAfterLastMessage(e.st, e.rank, r) {
			tell |= 1 << r
		}
		if readsAfterLastMessage(e.st, r, e.rank) {
			hear |= 1 << r
		}
	}
	e.once(&e.after, Signal, tell, Taken, 2, 0)
	e.once(&e.after, Wait, hear, Taken, 2, 0)
}

// readsAfterLastMessage reports whether reader pulls from owner and sends nothing to it
// afterwards.
func readsAfterLastMessage(st *strand, reader, owner int) bool {
	open := false
	for _, s := range st.steps[reader] {
		switch {
		case s.msg == nil:
		case receives(s.op) && s.msg.from == owner && !s.msg.pushed && !s.msg.crosses && s.op.Dst.Set.Len() > 0:
			open = true
		case s.op.Kind == schedule.Send && s.msg.to == owner && !s.msg.relaxed:
			open = false
		}
	}
	return open
}

// once appends an operation that runs once a launch.
func (e *emission) once(list *[]Op, k Kind, peers uint32, line uint8, value int, flags uint8) {
	if peers != 0 {
		op := Op{Kind: k, Flags: flags, Line: line, Peers: peers, Lane: e.st.lane, Value: value}
		if flags&Earlier != 0 {
			op.PerSlice = packetTurns // of slots more, once their number is known
		}
		*list = append(*list, op)
	}
}

// packetsAwaited: the sender waits until the packets of this message have been read.
func (e *emission) packetsAwaited(m *message) bool {
	return !m.crosses && !dependsOnAll(e.c.s.Spec.Kind)
}

// slotsAwaited is the same for slots.
func (e *emission) slotsAwaited(m *message) bool { return e.c.slotsAwaited(e.st, m) }

// otherEnds is the set of ranks that this one receives from, or sends to, in some messages.
func otherEnds(steps []step, from bool, some func(*message) bool) (peers uint32) {
	for _, s := range steps {
		switch {
		case s.msg == nil || !some(s.msg):
		case from && receives(s.op):
			peers |= 1 << s.msg.from
		case !from && s.op.Kind == schedule.Send:
			peers |= 1 << s.msg.to
		}
	}
	return peers
}
