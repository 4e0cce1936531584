package program

import (
	"railyard/model/schedule"
)

// Schedule is the schedule with one channel whose phase holds every rank's operations.
func (l *Linear) Schedule() *schedule.Schedule {
	l.keepInput()
	ops := make([][]schedule.Op, len(l.ranks))
	for r := range l.ranks {
		for i := range l.ranks[r].events {
			ops[r] = l.append(ops[r], r, &l.ranks[r].events[i])
		}
	}
	return &schedule.Schedule{Spec: l.spec, Protocol: schedule.Simple, Channels: []schedule.Channel{{
		Share: 1, Slices: 1, Chunks: l.unit * l.spec.Blocks(), Phases: []schedule.Phase{{
			Gen: schedule.GenOps, Op: l.spec.Kind, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output, Ops: ops}}}}}
}

// keepInput copies what an in-place program leaves where it is.
func (l *Linear) keepInput() {
	if !l.inPlace {
		return
	}
	for r := range l.ranks {
		for at := range l.unit * l.spec.Blocks() {
			p := Place{schedule.Output, at}
			if block := at / l.unit; l.spec.Wants(r, block) && l.spec.Holds(r, block) && !l.ranks[r].written[p] {
				l.ranks[r].events = append(l.ranks[r].events, event{kind: schedule.Copy, lists: [][]Place{{l.current(r, p)}, {l.target(r, p)}}})
			}
		}
	}
}

// append adds the operations of an event; both ends of a message are cut alike.
func (l *Linear) append(ops []schedule.Op, rank int, e *event) []schedule.Op {
	lists, kind, peer := e.lists, e.kind, -1
	switch {
	case e.issued != nil && e.issued.staged == nil:
		return ops
	case e.issued != nil:
		lists, kind = [][]Place{e.issued.src, e.issued.staged}, schedule.Copy
	case e.msg != nil:
		lists, peer = e.msg.ends(), e.msg.to
		if kind != schedule.Send {
			peer = e.msg.from
		}
	}
	Runs(lists, maxChunks, func(from, n int) {
		op := schedule.Op{Kind: kind, Peer: int32(peer)}
		l.fill(&op, rank, lists, from, n)
		ops = append(ops, op)
	})
	return ops
}

// ends are the places of both ends of a message: the sender's first.
func (m *Message) ends() [][]Place {
	src := m.src
	if m.staged != nil {
		src = m.staged
	}
	return append([][]Place{src}, m.lists...)
}

// fill sets an operation's places to the piece of n chunks at from.
func (l *Linear) fill(op *schedule.Op, rank int, lists [][]Place, from, n int) {
	loc := func(i int) schedule.Loc { return l.loc(rank, lists[i][from], n) }
	last := len(lists) - 1
	switch op.Kind {
	case schedule.Send:
		op.Src = loc(0)
	case schedule.Recv:
		op.Dst = loc(last)
	case schedule.RecvReduce:
		op.Src, op.Dst = loc(1), loc(last)
	case schedule.Copy:
		op.Src, op.Dst = loc(0), loc(last)
	case schedule.Reduce:
		op.Dst = loc(last)
		for i := range last {
			op.Srcs = append(op.Srcs, loc(i))
		}
	}
}

// loc is a place as the schedule numbers chunks: block by block.
func (l *Linear) loc(rank int, p Place, n int) schedule.Loc {
	at := p.At
	if only := Only(l.spec, rank, p.Buf); only >= 0 {
		at += only * l.unit
	}
	return schedule.Loc{Buf: p.Buf, Set: schedule.Range(int32(at), int32(n))}
}
