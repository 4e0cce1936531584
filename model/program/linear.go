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
	taken bool // a copy of packets, which is how they are received
	rank  int
	block int
	srcs  []Place
	dst   Place
	n     int
	msgs  []*Message // of a Send, Recv or RecvReduce one, of operations of switches one for each peer
	stage int
	done  bool // stage is known
}

// Message is data under way.
type Message struct {
	to         int
	send, recv *operation
	sent       *message // once it is written
}

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

// Unpack copies n chunks that arrive as packets in scratch.
func (l *Linear) Unpack(t Thread, src, dst Place, n int) {
	l.add(&operation{kind: schedule.Copy, taken: true, rank: t.Rank, block: t.Block, srcs: []Place{src}, dst: dst, n: n})
}

// Reduce combines n chunks of several places.
func (l *Linear) Reduce(t Thread, srcs []Place, dst Place, n int) {
	l.add(&operation{kind: schedule.Reduce, rank: t.Rank, block: t.Block, srcs: srcs, dst: dst, n: n})
}

// Send issues n chunks.
func (l *Linear) Send(t Thread, to int, src Place, n int) *Message {
	return l.sends(schedule.Send, t, []int{to}, src, n)[0]
}

// sends are the messages of an operation to one peer or, by a switch, to several.
func (l *Linear) sends(kind schedule.OpKind, t Thread, to []int, src Place, n int) []*Message {
	o := &operation{kind: kind, rank: t.Rank, block: t.Block, srcs: []Place{src}, n: n}
	for _, peer := range to {
		o.msgs = append(o.msgs, &Message{to: peer, send: o})
	}
	l.add(o)
	return o.msgs
}

// Recv receives a message into dst.
func (l *Linear) Recv(m *Message, block int, dst Place) {
	l.receive(&operation{kind: schedule.Recv, block: block, dst: dst}, m)
}

// RecvReduce receives a message, combines it with src and writes dst.
func (l *Linear) RecvReduce(m *Message, block int, src, dst Place) {
	l.receive(&operation{kind: schedule.RecvReduce, block: block, srcs: []Place{src}, dst: dst}, m)
}

// Deliver puts a message into dst, which the receiver does not wait for now: it receives
// it when it uses dst again, or at the end.
func (l *Linear) Deliver(m *Message, block int, dst Place) {
	l.receive(&operation{kind: schedule.Recv, lazy: true, block: block, dst: dst}, m)
}

// Multicast sends n chunks to several peers' dst; switches make the copies.
func (l *Linear) Multicast(t Thread, to []int, src, dst Place, n int) {
	for _, m := range l.sends(schedule.Multicast, t, to, src, n) {
		l.Recv(m, t.Block, dst)
	}
}

// SwitchReduce combines the n chunks that lie at src in a rank's memory and in its peers'; switches add up the peers'.
func (l *Linear) SwitchReduce(t Thread, peers []int, src, dst Place, n int) {
	var msgs []*Message
	for _, p := range peers {
		msgs = append(msgs, l.Send(Thread{p, t.Block}, t.Rank, src, n))
	}
	l.receive(&operation{kind: schedule.SwitchReduce, block: t.Block, srcs: []Place{src}, dst: dst}, msgs...)
}

// receive adds the receiving end of messages.
func (l *Linear) receive(o *operation, msgs ...*Message) {
	o.rank, o.n, o.msgs = msgs[0].to, msgs[0].send.n, msgs
	for _, m := range msgs {
		m.recv = o
	}
	l.add(o)
}

func (l *Linear) add(o *operation) { l.ops = append(l.ops, o) }

// Schedule is the schedule with a channel for each part of the blocks that has thread
// blocks of its own.
func (l *Linear) Schedule() *schedule.Schedule { return l.Sliced(1) }

// Sliced is the same for buffers that are gone through in slices, one behind the other: a
// pipeline of stages, each of them a phase. What switches do has phases of its own.
func (l *Linear) Sliced(slices int) *schedule.Schedule {
	st := newStager(l.w, l.ops)
	s := &schedule.Schedule{Spec: l.w.spec, Protocol: schedule.Simple}
	for _, x := range st.strands(l.ops) {
		stages := 1
		switch {
		case x.bySwitches():
			stages = st.setPhases(x.ops)
		case slices > 1:
			stages = st.setStages(x.ops)
		}
		if stages > 1 {
			x.inOrder()
		}
		x.simplify(l.w)
		ch := l.written(x, stages)
		ch.Slices = slices
		s.Channels = append(s.Channels, ch)
	}
	s.Needs = s.Uses()
	return s
}

// inOrder puts a strand's operations in the order of stages.
func (x *strand) inOrder() {
	slices.SortStableFunc(x.ops, func(a, b *operation) int { return cmp.Compare(a.stage, b.stage) })
	for _, o := range x.ops {
		o.lazy = false // its stage has a lane of its own
	}
}

// written is the channel of a strand's operations in their order.
func (l *Linear) written(x strand, stages int) schedule.Channel {
	w := l.w.part(x.to-x.from, stages)
	for _, o := range x.ops {
		w.stage = o.stage
		src, dst := x.places(o.srcs, l.w.unit), x.place(o.dst, l.w.unit)
		switch o.kind {
		case schedule.Copy, schedule.Reduce:
			w.local(o.rank, o.kind, src, dst, o.n)
		case schedule.Send, schedule.Multicast:
			var to []int
			for _, m := range o.msgs {
				to = append(to, m.to)
			}
			for i, m := range w.send(o.kind, o.rank, to, src[0], o.n) {
				o.msgs[i].sent = m
			}
		default:
			var msgs []*message
			for _, m := range o.msgs {
				msgs = append(msgs, m.sent)
			}
			w.take(msgs, o.kind, src, dst, o.lazy)
		}
	}
	return w.channel()
}
