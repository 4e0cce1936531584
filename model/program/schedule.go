package program

import (
	"railyard/model/schedule"
)

// channel has a phase for each stage with every rank's operations.
func (w *writer) channel() schedule.Channel {
	w.stage = w.stages - 1
	w.settle()
	number := w.packing()
	ch := schedule.Channel{Share: int64(w.unit), Slices: 1, Chunks: w.unit * w.spec.Blocks()}
	for range w.stages {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenOps, Op: w.spec.Kind, Src: schedule.Input, Acc: schedule.Scratch,
			Dst: schedule.Output,
			Ops: make([]schedule.Program, len(w.ranks))})
	}
	for r := range w.ranks {
		for i := range w.ranks[r].events {
			e := &w.ranks[r].events[i]
			ops := ch.Phases[e.stage].Ops
			ops[r] = w.append(ops[r], r, e, number[r])
		}
	}
	return ch
}

// append adds the operations of an event.
func (w *writer) append(ops []schedule.Op, rank int, e *event, number func(int) int) []schedule.Op {
	add := func(kind schedule.OpKind, peers []int, lists [][]Place) {
		Runs(lists, maxChunks, func(from, n int) {
			op := schedule.Op{Kind: kind, Peer: -1}
			for _, p := range peers {
				if kind == schedule.Multicast || kind == schedule.SwitchReduce {
					op.Peers = append(op.Peers, int32(p))
				} else {
					op.Peer = int32(p)
				}
			}
			fill(&op, lists, func(list int) schedule.Loc { return w.loc(rank, lists[list][from], n, number) })
			ops = append(ops, op)
		})
	}
	switch {
	case e.issued == nil && e.msgs == nil:
		add(e.kind, nil, e.lists)
	case e.msgs != nil:
		var from []int
		for _, m := range e.msgs {
			from = append(from, m.from)
		}
		add(e.kind, from, e.msgs[0].ends())
	case e.issued.staged != nil:
		add(schedule.Copy, nil, [][]Place{e.issued.at, e.issued.staged})
	}
	for _, m := range e.sent {
		add(m.source.kind, m.source.to, m.ends())
	}
	return ops
}

// ends are the places of both ends of a message, which are cut alike: the sender's first.
func (m *message) ends() [][]Place {
	src := m.at
	if m.staged != nil {
		src = m.staged
	}
	return append([][]Place{src}, m.lists...)
}

// fill sets an operation's locations of the lists that it runs along.
func fill(op *schedule.Op, lists [][]Place, loc func(list int) schedule.Loc) {
	last := len(lists) - 1
	switch op.Kind {
	case schedule.Send, schedule.Multicast:
		op.Src = loc(0)
	case schedule.Recv:
		op.Dst = loc(last)
	case schedule.RecvReduce, schedule.SwitchReduce:
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
func (w *writer) loc(rank int, p Place, n int, number func(int) int) schedule.Loc {
	at := p.At
	if p.Buf == schedule.Scratch {
		at = number(at)
	} else if only := schedule.OnlyBlock(w.spec, rank, p.Buf); only >= 0 {
		at += only * w.unit
	}
	return schedule.Loc{Buf: p.Buf, Set: schedule.Range(int32(at), int32(n))}
}
