package program

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Linear makes a schedule of a foreign program whose thread blocks run side by side: the
// caller plays it in some order that its synchronisation allows and tells each operation
// as it happens. Every rank does its operations in that order, those of strands that have
// nothing to do with one another side by side (see strand), and over slices in stages, each
// of which goes its own way through them (see stager).
type Linear struct {
	w   *writer
	ops []*operation
}

// operation is what a thread block of a rank does.
type operation struct {
	kind  schedule.OpKind
	lazy  bool // a receive that its rank does not wait for before it uses the data
	rank  int
	block int
	srcs  []Place
	dst   Place
	n     int
	msg   *Message // Send, Recv, RecvReduce
	stage int
}

// Message is data under way.
type Message struct {
	to   int
	send *operation
	sent *message // once it is written
}

// Len is the number of chunks of a message.
func (m *Message) Len() int { return m.send.n }

// NewLinear starts a program; scratch is the number of scratch chunks that it names, by
// rank. inPlace says that it keeps input and output in the same memory.
func NewLinear(spec collective.Spec, unit int, inPlace bool, scratch []int) *Linear {
	return &Linear{w: newWriter(spec, unit, inPlace, scratch)}
}

// Spare is room for n chunks in a rank's scratch that nothing else uses.
func (l *Linear) Spare(rank, n int) Place { return l.w.spare(rank, n) }

// Thread is a thread block of a rank.
type Thread struct{ Rank, Block int }

// Copy copies n chunks.
func (l *Linear) Copy(t Thread, src, dst Place, n int) {
	l.add(&operation{kind: schedule.Copy, rank: t.Rank, block: t.Block, srcs: []Place{src}, dst: dst, n: n})
}

// Reduce combines n chunks of several places.
func (l *Linear) Reduce(t Thread, srcs []Place, dst Place, n int) {
	l.add(&operation{kind: schedule.Reduce, rank: t.Rank, block: t.Block, srcs: srcs, dst: dst, n: n})
}

// Send issues n chunks.
func (l *Linear) Send(t Thread, to int, src Place, n int) *Message {
	m := &Message{to: to, send: &operation{kind: schedule.Send, rank: t.Rank, block: t.Block, srcs: []Place{src}, n: n}}
	m.send.msg = m
	l.add(m.send)
	return m
}

// Recv receives a message into dst.
func (l *Linear) Recv(m *Message, block int, dst Place) {
	l.add(&operation{kind: schedule.Recv, rank: m.to, block: block, dst: dst, n: m.Len(), msg: m})
}

// RecvReduce receives a message, combines it with src and writes dst.
func (l *Linear) RecvReduce(m *Message, block int, src, dst Place) {
	l.add(&operation{kind: schedule.RecvReduce, rank: m.to, block: block, srcs: []Place{src}, dst: dst, n: m.Len(), msg: m})
}

// Deliver puts a message into dst, which the receiver does not wait for now: it receives
// it when it uses dst again, or at the end.
func (l *Linear) Deliver(m *Message, block int, dst Place) {
	l.add(&operation{kind: schedule.Recv, lazy: true, rank: m.to, block: block, dst: dst, n: m.Len(), msg: m})
}

func (l *Linear) add(o *operation) { l.ops = append(l.ops, o) }

// Schedule is the schedule with a channel for each part of the blocks that has thread
// blocks of its own.
func (l *Linear) Schedule() *schedule.Schedule { return l.Sliced(1) }

// Sliced is the same for buffers that are gone through in slices, one behind the other: a
// pipeline of stages, each of them a phase.
func (l *Linear) Sliced(slices int) *schedule.Schedule {
	st := newStager(l.w, l.ops)
	s := &schedule.Schedule{Spec: l.w.spec, Protocol: schedule.Simple}
	for _, x := range st.strands(l.ops) {
		stages := 1
		if slices > 1 {
			stages = l.inStages(st, x)
		}
		ch := l.written(x, stages)
		ch.Slices = slices
		s.Channels = append(s.Channels, ch)
	}
	return s
}

// mostStages is how many there may be.
const mostStages = 64

// inStages puts a strand's operations in the order of stages, and says how many these are.
func (l *Linear) inStages(st *stager, x strand) int {
	stages := st.setStages(x.ops)
	slices.SortStableFunc(x.ops, func(a, b *operation) int { return cmp.Compare(a.stage, b.stage) })
	for _, o := range x.ops {
		o.lazy = false // its stage has a lane of its own
		if stages > mostStages {
			o.stage = o.stage * mostStages / stages
		}
	}
	return min(stages, mostStages)
}

// written is the channel of a strand's operations in their order.
func (l *Linear) written(x strand, stages int) schedule.Channel {
	w := l.w.part(x.to-x.from, stages)
	for _, o := range x.ops {
		w.stage = o.stage
		src, dst := x.places(o.srcs, l.w.unit), x.place(o.dst, l.w.unit)
		switch {
		case o.kind == schedule.Copy:
			w.copy(o.rank, src[0], dst, o.n)
		case o.kind == schedule.Reduce:
			w.reduce(o.rank, src, dst, o.n)
		case o.kind == schedule.Send:
			o.msg.sent = w.send(o.rank, o.msg.to, src[0], o.n)
		case o.kind == schedule.RecvReduce:
			w.recvReduce(o.msg.sent, src[0], dst)
		case o.lazy:
			w.deliver(o.msg.sent, dst)
		default:
			w.recv(o.msg.sent, dst)
		}
	}
	return w.channel()
}
