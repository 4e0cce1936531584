package program

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// writer makes a schedule of operations that it is told in the order in which every rank
// does them.
//
// A foreign send has read its source when it ends, a schedule's send not before the
// matching receive has. Where the source is overwritten and no chain of messages says
// that the receive has ended, the data are staged: copied to scratch first.
//
// A rank of a schedule waits in its receives and does nothing else meanwhile. So sends
// stand where they were issued, and deliveries are received when their data are used.
type writer struct {
	spec    collective.Spec
	unit    int
	inPlace bool
	stage   int // of what is told next
	stages  int // that there are
	ranks   []lane
}

// lane is what one rank does.
type lane struct {
	events  []event
	known   []int // by rank: events of it known to have happened
	reads   map[Place][]*message
	at      map[Place]Place     // where the program's chunks are that were written
	pending map[Place]*delivery // by the program's place
	last    map[[2]int]*message // by peer and stage: the last message that it has received
	scratch int                 // places that the program names, and spare ones
}

// event is an operation, or where messages are sent.
type event struct {
	stage  int
	kind   schedule.OpKind
	lists  [][]Place  // Copy, Reduce: sources, then the destination
	msgs   []*message // received, by a switch several
	issued *source    // where its data are staged, if they must be
	sent   []*message // with issued: what is sent here
}

// source is where the data of messages are read.
type source struct {
	kind   schedule.OpKind // Send or Multicast
	at     []Place
	staged []Place
	to     []int // peers: of a multicast several
}

// message is data under way.
type message struct {
	from, to int
	*source
	lists    [][]Place // received: the receiver's sources and destination
	received int       // the receiver's event, counted from 1; 0 before
	slot     int       // the sender's event with which it is sent
	clock    []int     // what the sender knows there
}

// delivery is a message that its receiver does not wait for before it uses the data.
type delivery struct {
	m   *message
	dst Place
}

// newWriter starts a schedule; scratch is the number of scratch chunks that it names, by
// rank. inPlace says that it keeps input and output in the same memory.
func newWriter(spec collective.Spec, unit int, inPlace bool, scratch []int) *writer {
	w := &writer{spec: spec, unit: unit, inPlace: inPlace, stages: 1, ranks: make([]lane, spec.Ranks)}
	for r := range w.ranks {
		w.ranks[r] = lane{known: make([]int, spec.Ranks), reads: map[Place][]*message{}, at: map[Place]Place{},
			pending: map[Place]*delivery{}, last: map[[2]int]*message{}, scratch: scratch[r]}
	}
	return w
}

// part starts the schedule of a part of each block.
func (w *writer) part(unit, stages int) *writer {
	scratch := make([]int, len(w.ranks))
	for r := range scratch {
		scratch[r] = w.ranks[r].scratch
	}
	out := newWriter(w.spec, unit, w.inPlace, scratch)
	out.stages = stages
	return out
}

// local copies n chunks, or combines those of several places.
func (w *writer) local(rank int, kind schedule.OpKind, srcs []Place, dst Place, n int) {
	e := event{stage: w.stage, kind: kind}
	for _, s := range srcs {
		e.lists = append(e.lists, w.read(rank, s, n))
	}
	w.arrive(rank, dst, n)
	e.lists = append(e.lists, w.write(rank, dst, e.lists[0]))
	w.ranks[rank].events = append(w.ranks[rank].events, e)
}

// send issues n chunks to a peer, or to several by a switch.
func (w *writer) send(kind schedule.OpKind, from int, to []int, src Place, n int) (out []*message) {
	ln := &w.ranks[from]
	data := &source{kind: kind, at: w.read(from, src, n), to: to}
	for _, peer := range to {
		m := &message{from: from, to: peer, source: data, slot: len(ln.events), clock: slices.Clone(ln.known)}
		for _, p := range data.at {
			ln.reads[p] = append(ln.reads[p], m)
		}
		out = append(out, m)
	}
	ln.events = append(ln.events, event{stage: w.stage, issued: data})
	return out
}

// len is the number of chunks of a message.
func (m *message) len() int { return len(m.at) }

// take receives messages into dst, combined with src where there is one. Lazily, the receiver does not wait
// for the message now: it receives it when it uses dst again, or at the end.
func (w *writer) take(msgs []*message, kind schedule.OpKind, src []Place, dst Place, lazy bool) {
	if !lazy {
		w.receive(msgs, kind, src, dst)
		return
	}
	m := msgs[0]
	d := &delivery{m, dst}
	w.arrive(m.to, dst, m.len())
	for i := range m.len() {
		w.ranks[m.to].pending[w.named(m.to, dst.plus(i))] = d
	}
}

// arrive receives what was delivered to n chunks.
func (w *writer) arrive(rank int, p Place, n int) {
	for i := range n {
		if d := w.ranks[rank].pending[w.named(rank, p.plus(i))]; d != nil {
			for j := range d.m.len() {
				delete(w.ranks[rank].pending, w.named(rank, d.dst.plus(j)))
			}
			w.receive([]*message{d.m}, schedule.Recv, nil, d.dst)
		}
	}
}

func (w *writer) receive(msgs []*message, kind schedule.OpKind, srcs []Place, dst Place) {
	rank, n := msgs[0].to, msgs[0].len()
	b := &w.ranks[rank]
	var lists [][]Place
	for _, s := range srcs {
		lists = append(lists, w.read(rank, s, n))
	}
	w.arrive(rank, dst, n)
	for _, m := range msgs {
		w.depart(m)
		for r, n := range m.clock {
			b.known[r] = max(b.known[r], n)
		}
		b.known[m.from] = max(b.known[m.from], m.slot+1)
	}
	lists = append(lists, w.write(rank, dst, msgs[0].at))
	for _, m := range msgs {
		m.received, m.lists = len(b.events)+1, lists
	}
	b.events = append(b.events, event{stage: w.stage, kind: kind, msgs: msgs})
}

// depart sends a message where it was issued, or later: messages between two ranks are
// received in the order in which they are sent.
func (w *writer) depart(m *message) {
	a := &w.ranks[m.from]
	key := [2]int{m.to, w.stage}
	if last := a.last[key]; last != nil && last.slot > m.slot {
		m.slot, m.clock = last.slot, last.clock
	}
	a.last[key] = m
	if e := &a.events[m.slot]; len(e.sent) == 0 || e.sent[0].source != m.source { // a multicast is one operation
		e.sent = append(e.sent, m)
	}
}

// spare is room for n chunks in a rank's scratch that nothing else uses.
func (w *writer) spare(rank, n int) Place {
	at := w.ranks[rank].scratch
	w.ranks[rank].scratch += n
	return Place{schedule.Scratch, at}
}

// read is where the data of n chunks are.
func (w *writer) read(rank int, p Place, n int) []Place {
	w.arrive(rank, p, n)
	out := make([]Place, n)
	for i := range out {
		out[i] = w.current(rank, w.named(rank, p.plus(i)))
	}
	return out
}

// write is where chunks go that come from src; messages that may still read what was
// there are staged.
func (w *writer) write(rank int, p Place, src []Place) []Place {
	ln := &w.ranks[rank]
	out := make([]Place, len(src))
	for i := range out {
		name := w.named(rank, p.plus(i))
		out[i] = w.target(rank, name, src[i].At%w.unit)
		ln.at[name] = out[i]
		for _, m := range ln.reads[out[i]] {
			if m.received == 0 || ln.known[m.to] < m.received {
				w.keep(m)
			}
		}
		delete(ln.reads, out[i])
	}
	return out
}

func (w *writer) keep(m *message) {
	if m.staged != nil {
		return
	}
	room := w.spare(m.from, m.len())
	for i, p := range m.at {
		m.staged = append(m.staged, w.scratch(room.At+i, p.At%w.unit))
	}
}
