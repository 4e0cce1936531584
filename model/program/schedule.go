package program

import (
	"railyard/model/schedule"
)

// Schedule is the schedule with one channel whose phase holds every rank's operations.
func (l *Linear) Schedule() *schedule.Schedule {
	l.settle()
	number := l.packing()
	ops := make([][]schedule.Op, len(l.ranks))
	for r := range l.ranks {
		for i := range l.ranks[r].events {
			ops[r] = l.append(ops[r], r, &l.ranks[r].events[i], number[r])
		}
	}
	return &schedule.Schedule{Spec: l.spec, Protocol: schedule.Simple, Channels: []schedule.Channel{{
		Share: 1, Slices: 1, Chunks: l.unit * l.spec.Blocks(), Phases: []schedule.Phase{{
			Gen: schedule.GenOps, Op: l.spec.Kind, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output, Ops: ops}}}}}
}

// append adds the operations of an event; both ends of a message are cut alike.
func (l *Linear) append(ops []schedule.Op, rank int, e *event, number func(int) int) []schedule.Op {
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
		fill(&op, lists, func(list int) schedule.Loc { return l.loc(rank, lists[list][from], n, number) })
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

// fill sets an operation's locations of the lists that it runs along.
func fill(op *schedule.Op, lists [][]Place, loc func(list int) schedule.Loc) {
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

// loc is a place as the schedule numbers chunks: block by block, scratch by number.
func (l *Linear) loc(rank int, p Place, n int, number func(int) int) schedule.Loc {
	at := p.At
	if p.Buf == schedule.Scratch {
		at = number(at)
	} else if only := Only(l.spec, rank, p.Buf); only >= 0 {
		at += only * l.unit
	}
	return schedule.Loc{Buf: p.Buf, Set: schedule.Range(int32(at), int32(n))}
}
