package host

import (
	"cmp"
	"slices"
	"time"

	"railyard/model/schedule"
)

// lane is the program of a rank in a phase of a channel, and how far it has come.
type lane[T element] struct {
	r                    *runner[T]
	rank, channel, phase int32
	ops                  []boundOp
	before               *lane[T]
	slice, slices        int       // slices completed in this iteration, of how many
	at                   int       // next operation
	views                [][]T     // these three are used again and again
	next                 []int32   // by pairs
	places               [][]int32 // by reduce
}

// boundOp is an operation with its connections, by peer.
type boundOp struct {
	schedule.Op
	conns []*conn
}

func (l *lane[T]) rewind()     { l.slice, l.at = 0, 0 }
func (l *lane[T]) ended() bool { return l.slice == l.slices }

// behind reports whether the phase before has not completed the slice that is next.
func (l *lane[T]) behind() bool { return l.before != nil && l.before.slice <= l.slice }

// advance runs operations up to the end of the slice, or up to one that has to wait;
// moved: whether it ran any.
func (l *lane[T]) advance(iteration int64) (moved bool) {
	if l.behind() {
		return false
	}
	round := l.round(iteration)
	for ; l.at < len(l.ops); l.at++ {
		if !l.run(round) {
			return moved
		}
		moved = true
	}
	l.at = 0
	l.slice++
	return true
}

// round numbers slices over all iterations.
func (l *lane[T]) round(iteration int64) int64 { return iteration*int64(l.slices) + int64(l.slice) }

// run is one operation, recorded where the run is traced; false where it has to wait.
func (l *lane[T]) run(round int64) bool {
	if !l.r.tracing {
		_, ok := l.step(round, l.slice, l.at)
		return ok
	}
	start := time.Now()
	n, ok := l.step(round, l.slice, l.at)
	if ok {
		l.r.record(l, l.slice, &l.ops[l.at].Op, n, start)
	}
	return ok
}

// step runs one operation; n is the number of elements it moved. It is not ok, and
// nothing has been done, where a message is not there yet.
func (l *lane[T]) step(round int64, slice, i int) (n int64, ok bool) {
	op := &l.ops[i]
	switch op.Kind {
	case schedule.Send, schedule.Multicast:
		for _, k := range op.conns {
			k.sent.Add(1)
		}
	case schedule.Recv, schedule.RecvReduce:
		k := op.conns[0]
		source, ok := k.arrived(round)
		if !ok {
			return 0, false
		}
		n = l.take(slice, op, source)
		k.taken.Add(1)
	case schedule.SwitchReduce:
		sources := make([]schedule.Loc, len(op.conns))
		for j, k := range op.conns {
			if sources[j], ok = k.arrived(round); !ok {
				return 0, false
			}
		}
		n = l.switchReduce(slice, op, sources)
		for _, k := range op.conns {
			k.taken.Add(1)
		}
	case schedule.Copy:
		l.pairs(slice, op.Src, op.Dst, l.rank, func(src, dst []T) {
			move(dst, src)
			n += int64(len(dst))
		})
	case schedule.Reduce:
		n = l.reduce(slice, op)
	}
	return n, true
}

// take copies or combines a message straight from the sender's memory.
func (l *lane[T]) take(slice int, op *boundOp, source schedule.Loc) (n int64) {
	if op.Kind == schedule.Recv {
		l.pairs(slice, source, op.Dst, op.Peer, func(src, dst []T) {
			move(dst, src)
			n += int64(len(dst))
		})
		return n
	}
	own := l.chunks(slice, op.Src)
	i := 0
	l.pairs(slice, source, op.Dst, op.Peer, func(src, dst []T) {
		l.r.k.combine(dst, own[i], src)
		i++
		n += int64(len(dst))
	})
	return n
}

// chunks are this rank's pieces of a place, in order.
func (l *lane[T]) chunks(slice int, loc schedule.Loc) [][]T {
	l.views = l.views[:0]
	loc.Set.Each(func(c int32) { l.views = append(l.views, l.r.piece(l.rank, loc.Buf, l.channel, slice, c)) })
	return l.views
}

// pairs visits the pieces of a source on rank from beside this rank's destination.
func (l *lane[T]) pairs(slice int, src, dst schedule.Loc, from int32, visit func(src, dst []T)) {
	l.next = l.next[:0]
	dst.Set.Each(func(c int32) { l.next = append(l.next, c) })
	i := 0
	src.Set.Each(func(c int32) {
		visit(l.r.piece(from, src.Buf, l.channel, slice, c), l.r.piece(l.rank, dst.Buf, l.channel, slice, l.next[i]))
		i++
	})
}

// reduce combines several places, chunk by chunk.
func (l *lane[T]) reduce(slice int, op *boundOp) (n int64) {
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
			srcs = append(srcs, l.r.piece(l.rank, s.Buf, l.channel, slice, l.places[i][j]))
		}
		l.views = srcs
		dst := l.r.piece(l.rank, op.Dst.Buf, l.channel, slice, c)
		l.r.k.gather(dst, srcs)
		n += int64(len(dst))
		j++
	})
	return n
}

// switchReduce stands in for the switch: it combines the rank's own data with those of
// all peers, in the order of ranks, rounded once.
func (l *lane[T]) switchReduce(slice int, op *boundOp, sources []schedule.Loc) (n int64) {
	type operand struct {
		rank int32
		loc  schedule.Loc
	}
	all := []operand{{l.rank, op.Src}}
	for i, p := range op.Peers {
		all = append(all, operand{p, sources[i]})
	}
	slices.SortFunc(all, func(a, b operand) int { return cmp.Compare(a.rank, b.rank) })
	pieces := make([][][]T, len(all)) // by rank, chunk
	for i, x := range all {
		x.loc.Set.Each(func(c int32) {
			pieces[i] = append(pieces[i], l.r.piece(x.rank, x.loc.Buf, l.channel, slice, c))
		})
	}
	srcs := make([][]T, len(all))
	j := 0
	op.Dst.Set.Each(func(c int32) {
		for i := range all {
			srcs[i] = pieces[i][j]
		}
		dst := l.r.piece(l.rank, op.Dst.Buf, l.channel, slice, c)
		l.r.k.gather(dst, srcs)
		n += int64(len(dst))
		j++
	})
	return n
}
