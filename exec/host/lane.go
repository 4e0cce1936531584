package host

import (
	"cmp"
	"slices"

	"railyard/model/schedule"
)

// lane is the program of a rank in a phase of a channel, and how far it has come.
type lane[T element] struct {
	r                    *runner[T]
	rank, channel, phase int32
	ops                  []boundOp[T]
	before               *lane[T]
	slice, slices        int          // slices completed in this iteration, of how many
	at                   int          // next operation
	sources              []message[T] // these four are used again and again
	views                [][]T
	targets              []int32   // by pairs
	places               [][]int32 // by reduce
}

// boundOp is an operation with its connections, by peer.
type boundOp[T element] struct {
	schedule.Op
	conns []*conn[T]
}

func (l *lane[T]) ended() bool { return l.slice == l.slices }

// behind reports whether the phase before has not completed the slice that is next.
func (l *lane[T]) behind() bool { return l.before != nil && l.before.slice <= l.slice }

// advance runs operations up to the end of the slice, or up to one that has to wait;
// moved: whether it ran any.
func (l *lane[T]) advance(iteration int64) (moved bool) {
	if l.behind() {
		return false
	}
	round := iteration*int64(l.slices) + int64(l.slice) // over all iterations
	for ; l.at < len(l.ops); l.at++ {
		if !l.step(round) {
			return moved
		}
		moved = true
	}
	l.at = 0
	l.slice++
	return true
}

// step runs one operation; where it has to wait for a message it does nothing and returns false.
func (l *lane[T]) step(round int64) bool {
	op := &l.ops[l.at]
	switch op.Kind {
	case schedule.Send, schedule.Multicast:
		return l.send(op, round)
	case schedule.Recv, schedule.RecvReduce, schedule.SwitchReduce:
		return l.receive(op, round)
	case schedule.Copy:
		l.pairs(message[T]{rank: l.rank, loc: op.Src}, op.Dst, move[T])
	case schedule.Reduce:
		l.reduce(op)
	}
	return true
}

// send makes messages known to all peers, once all have places for them.
func (l *lane[T]) send(op *boundOp[T], round int64) bool {
	for _, k := range op.conns {
		if !k.accepts() {
			return false
		}
	}
	for _, k := range op.conns {
		if err := k.send(l, round, op.Src); err != nil {
			l.r.fail(err)
			return false
		}
	}
	return true
}

// receive takes a message of each peer, once all are there.
func (l *lane[T]) receive(op *boundOp[T], round int64) bool {
	sources := l.sources[:0]
	for _, k := range op.conns {
		source, ok := k.arrived(round)
		if !ok {
			return false
		}
		sources = append(sources, source)
	}
	l.sources = sources
	l.take(op, sources)
	for _, k := range op.conns {
		if err := k.took(); err != nil {
			l.r.fail(err)
			return false
		}
	}
	return true
}

// take copies or combines messages straight from where they lie.
func (l *lane[T]) take(op *boundOp[T], sources []message[T]) {
	switch op.Kind {
	case schedule.Recv:
		l.pairs(sources[0], op.Dst, move[T])
	case schedule.RecvReduce:
		own := l.chunks(op.Src)
		i := 0
		l.pairs(sources[0], op.Dst, func(dst, src []T) {
			l.r.k.combine(dst, own[i], src)
			i++
		})
	default:
		l.switchReduce(op, sources)
	}
}

// chunks are this rank's pieces of a place, in order.
func (l *lane[T]) chunks(loc schedule.Loc) [][]T {
	l.views = l.views[:0]
	loc.Set.Each(func(c int32) { l.views = append(l.views, l.r.piece(l.rank, loc.Buf, l.channel, l.slice, c)) })
	return l.views
}

// next is the piece of a message that has a chunk's data; pieces are asked for in order.
func (l *lane[T]) next(m *message[T], chunk int32) []T {
	off, n := l.r.layout.Place(int(m.rank), m.loc.Buf, int(l.channel), l.slice, chunk)
	if m.staged == nil {
		return l.r.mem[m.rank].bufs[m.loc.Buf][off : off+n]
	}
	piece := m.staged[:n]
	m.staged = m.staged[n:]
	return piece
}

// pairs visits the pieces of a message beside this rank's destination.
func (l *lane[T]) pairs(src message[T], dst schedule.Loc, visit func(dst, src []T)) {
	l.targets = l.targets[:0]
	dst.Set.Each(func(c int32) { l.targets = append(l.targets, c) })
	i := 0
	src.loc.Set.Each(func(c int32) {
		visit(l.r.piece(l.rank, dst.Buf, l.channel, l.slice, l.targets[i]), l.next(&src, c))
		i++
	})
}

// reduce combines several places, chunk by chunk.
func (l *lane[T]) reduce(op *boundOp[T]) {
	for i, s := range op.Srcs {
		if i == len(l.places) {
			l.places = append(l.places, nil)
		}
		l.places[i] = l.places[i][:0]
		s.Set.Each(func(c int32) { l.places[i] = append(l.places[i], c) })
	}
	j := 0
	op.Dst.Set.Each(func(c int32) {
		srcs := l.views[:0]
		for i, s := range op.Srcs {
			srcs = append(srcs, l.r.piece(l.rank, s.Buf, l.channel, l.slice, l.places[i][j]))
		}
		l.views = srcs
		l.r.k.gather(l.r.piece(l.rank, op.Dst.Buf, l.channel, l.slice, c), srcs)
		j++
	})
}

// switchReduce stands in for the switch: it combines the rank's own data with those of
// all peers, in the order of ranks, rounded once.
func (l *lane[T]) switchReduce(op *boundOp[T], sources []message[T]) {
	all := append([]message[T]{{rank: l.rank, loc: op.Src}}, sources...)
	slices.SortFunc(all, func(a, b message[T]) int { return cmp.Compare(a.rank, b.rank) })
	pieces := make([][][]T, len(all)) // by rank, chunk
	for i := range all {
		all[i].loc.Set.Each(func(c int32) { pieces[i] = append(pieces[i], l.next(&all[i], c)) })
	}
	srcs := make([][]T, len(all))
	j := 0
	op.Dst.Set.Each(func(c int32) {
		for i := range all {
			srcs[i] = pieces[i][j]
		}
		l.r.k.gather(l.r.piece(l.rank, op.Dst.Buf, l.channel, l.slice, c), srcs)
		j++
	})
}
