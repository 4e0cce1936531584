package program

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Linear makes a schedule of a foreign program whose thread blocks run side by side:
// the caller plays it in some order that its synchronisation allows and tells each
// operation as it happens; every rank gets its operations in that order.
//
// A foreign send has read its source when it ends, a schedule's send not before the
// matching receive has. Where the source is overwritten and no chain of messages says
// that the receive has ended, the data are staged: copied to scratch first.
//
// A rank of a schedule waits in its receives and does nothing else meanwhile. So sends
// stand where they were issued, and deliveries are received when their data are used.
type Linear struct {
	spec    collective.Spec
	unit    int
	inPlace bool
	ranks   []lane
}

// lane is what one rank does.
type lane struct {
	events  []event
	known   []int // by rank: events of it known to have happened
	reads   map[Place][]*Message
	at      map[Place]Place     // where the program's chunks are that were written
	pending map[Place]*delivery // by the program's place
	last    map[int]*Message    // by peer: the last message that it has received
	scratch int                 // places that the program names, and spare ones
}

// event is an operation, or where messages are sent.
type event struct {
	kind   schedule.OpKind
	lists  [][]Place  // Copy, Reduce: sources, then the destination
	msg    *Message   // Recv, RecvReduce
	issued *Message   // where its data are staged, if they must be
	sent   []*Message // with issued: what is sent here
}

// Message is data under way.
type Message struct {
	from, to int
	src      []Place
	staged   []Place
	lists    [][]Place // received: the receiver's sources and destination
	at       int       // received: the receiver's event
	slot     int       // the sender's event with which it is sent
	clock    []int     // what the sender knows there
}

// delivery is a message that its receiver does not wait for before it uses the data.
type delivery struct {
	m   *Message
	dst Place
}

// NewLinear starts a program; scratch is the number of scratch chunks that it names, by
// rank. inPlace says that it keeps input and output in the same memory.
func NewLinear(spec collective.Spec, unit int, inPlace bool, scratch []int) *Linear {
	l := &Linear{spec: spec, unit: unit, inPlace: inPlace, ranks: make([]lane, spec.Ranks)}
	for r := range l.ranks {
		l.ranks[r] = lane{known: make([]int, spec.Ranks), reads: map[Place][]*Message{}, at: map[Place]Place{},
			pending: map[Place]*delivery{}, last: map[int]*Message{}, scratch: scratch[r]}
	}
	return l
}

// Copy copies n chunks.
func (l *Linear) Copy(rank int, src, dst Place, n int) {
	l.local(rank, schedule.Copy, []Place{src}, dst, n)
}

// Reduce combines n chunks of several places.
func (l *Linear) Reduce(rank int, srcs []Place, dst Place, n int) {
	l.local(rank, schedule.Reduce, srcs, dst, n)
}

func (l *Linear) local(rank int, kind schedule.OpKind, srcs []Place, dst Place, n int) {
	e := event{kind: kind}
	for _, s := range srcs {
		e.lists = append(e.lists, l.read(rank, s, n))
	}
	l.arrive(rank, dst, n)
	e.lists = append(e.lists, l.write(rank, dst, e.lists[0]))
	l.ranks[rank].events = append(l.ranks[rank].events, e)
}

// Send issues n chunks.
func (l *Linear) Send(from, to int, src Place, n int) *Message {
	ln := &l.ranks[from]
	m := &Message{from: from, to: to, src: l.read(from, src, n), slot: len(ln.events), clock: slices.Clone(ln.known)}
	for _, p := range m.src {
		ln.reads[p] = append(ln.reads[p], m)
	}
	ln.events = append(ln.events, event{issued: m})
	return m
}

// Len is the number of chunks of a message.
func (m *Message) Len() int { return len(m.src) }

// Recv receives a message into dst.
func (l *Linear) Recv(m *Message, dst Place) { l.receive(m, schedule.Recv, nil, dst) }

// RecvReduce receives a message, combines it with src and writes dst.
func (l *Linear) RecvReduce(m *Message, src, dst Place) {
	l.receive(m, schedule.RecvReduce, []Place{src}, dst)
}

// Deliver puts a message into dst, which the receiver does not wait for now: it receives
// it when it uses dst again, or at the end.
func (l *Linear) Deliver(m *Message, dst Place) {
	d := &delivery{m, dst}
	l.arrive(m.to, dst, m.Len())
	for i := range m.Len() {
		l.ranks[m.to].pending[l.named(m.to, dst.plus(i))] = d
	}
}

// arrive receives what was delivered to n chunks.
func (l *Linear) arrive(rank int, p Place, n int) {
	for i := range n {
		if d := l.ranks[rank].pending[l.named(rank, p.plus(i))]; d != nil {
			for j := range d.m.Len() {
				delete(l.ranks[rank].pending, l.named(rank, d.dst.plus(j)))
			}
			l.Recv(d.m, d.dst)
		}
	}
}

func (l *Linear) receive(m *Message, kind schedule.OpKind, srcs []Place, dst Place) {
	b := &l.ranks[m.to]
	for _, s := range srcs {
		m.lists = append(m.lists, l.read(m.to, s, m.Len()))
	}
	l.arrive(m.to, dst, m.Len())
	l.depart(m)
	for r, n := range m.clock {
		b.known[r] = max(b.known[r], n)
	}
	b.known[m.from] = max(b.known[m.from], m.slot+1)
	m.at = len(b.events) + 1
	m.lists = append(m.lists, l.write(m.to, dst, m.src))
	b.events = append(b.events, event{kind: kind, msg: m})
}

// depart sends a message where it was issued, or later: messages between two ranks are
// received in the order in which they are sent.
func (l *Linear) depart(m *Message) {
	a := &l.ranks[m.from]
	if last := a.last[m.to]; last != nil && last.slot > m.slot {
		m.slot, m.clock = last.slot, last.clock
	}
	a.last[m.to] = m
	a.events[m.slot].sent = append(a.events[m.slot].sent, m)
}

// Spare is room for n chunks in a rank's scratch that nothing else uses.
func (l *Linear) Spare(rank, n int) Place {
	at := l.ranks[rank].scratch
	l.ranks[rank].scratch += n
	return Place{schedule.Scratch, at}
}

// read is where the data of n chunks are.
func (l *Linear) read(rank int, p Place, n int) []Place {
	l.arrive(rank, p, n)
	out := make([]Place, n)
	for i := range out {
		out[i] = l.current(rank, l.named(rank, p.plus(i)))
	}
	return out
}

// write is where chunks go that come from src; messages that may still read what was
// there are staged.
func (l *Linear) write(rank int, p Place, src []Place) []Place {
	ln := &l.ranks[rank]
	out := make([]Place, len(src))
	for i := range out {
		name := l.named(rank, p.plus(i))
		out[i] = l.target(rank, name, src[i].At%l.unit)
		ln.at[name] = out[i]
		for _, m := range ln.reads[out[i]] {
			if m.at == 0 || ln.known[m.to] < m.at {
				l.stage(m)
			}
		}
		delete(ln.reads, out[i])
	}
	return out
}

func (l *Linear) stage(m *Message) {
	if m.staged != nil {
		return
	}
	room := l.Spare(m.from, m.Len())
	for i, p := range m.src {
		m.staged = append(m.staged, l.scratch(room.At+i, p.At%l.unit))
	}
}
