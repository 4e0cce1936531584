package host

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"railyard/model/schedule"
)

// lane is a goroutine: the program of a rank in a phase of a channel.
type lane[T element] struct {
	r                    *runner[T]
	rank, channel, phase int32
	ops                  []boundOp
	before               *lane[T]
	slices               int
	done                 atomic.Int64 // slices completed, over all iterations
	views                [][]T        // working memory of reduce
}

// boundOp is an operation with its connections, by peer.
type boundOp struct {
	schedule.Op
	conns []*conn
}

// loop runs the program once for each iteration that is let go.
func (l *lane[T]) loop() {
	for i := int64(0); ; i++ {
		for spins := 0; l.r.epoch.Load() <= i; spins++ {
			if l.r.quit.Load() || l.r.abort.Load() {
				return
			}
			pause(spins)
		}
		for slice := range l.slices {
			if !l.runSlice(i, slice) {
				return
			}
			l.done.Add(1)
		}
		l.r.finished.Add(1)
	}
}

func (l *lane[T]) runSlice(iteration int64, slice int) bool {
	round := iteration*int64(l.slices) + int64(slice)
	if b := l.before; b != nil && !l.wait(&b.done, round+1, func() string {
		return fmt.Sprintf("rank %d waits for its own phase %d", l.rank, b.phase)
	}, slice, -1) {
		return false
	}
	for i := range l.ops {
		var start time.Time
		if l.r.tracing {
			start = time.Now()
		}
		n, ok := l.step(round, slice, i)
		if !ok {
			return false
		}
		if l.r.tracing {
			l.r.record(l, slice, &l.ops[i].Op, n, start)
		}
	}
	return true
}

// step runs one operation; n is the number of elements it moved.
func (l *lane[T]) step(round int64, slice, i int) (n int64, ok bool) {
	op := &l.ops[i]
	switch op.Kind {
	case schedule.Send, schedule.Multicast:
		for _, k := range op.conns {
			k.sent.Add(1)
		}
	case schedule.Recv, schedule.RecvReduce:
		k := op.conns[0]
		source, ok := l.await(k, round, slice, i)
		if !ok {
			return 0, false
		}
		n = l.take(slice, op, source)
		k.taken.Add(1)
	case schedule.SwitchReduce:
		sources := make([]schedule.Loc, len(op.conns))
		for j, k := range op.conns {
			if sources[j], ok = l.await(k, round, slice, i); !ok {
				return 0, false
			}
		}
		n = l.switchReduce(slice, op, sources)
		for _, k := range op.conns {
			k.taken.Add(1)
		}
	case schedule.Copy:
		l.pairs(slice, op.Src, op.Dst, l.rank, func(src, dst []T) {
			copy(dst, src)
			n += int64(len(dst))
		})
	case schedule.Reduce:
		n = l.reduce(slice, op)
	}
	return n, true
}

// await waits for the next message of a connection and says where it lies.
func (l *lane[T]) await(k *conn, round int64, slice, op int) (source schedule.Loc, ok bool) {
	number := k.taken.Load()
	if !l.wait(&k.sent, number+1, func() string {
		return fmt.Sprintf("rank %d waits for rank %d", l.rank, k.src)
	}, slice, op) {
		return source, false
	}
	return k.sources[number-round*int64(len(k.sources))], true
}

// take copies or combines a message straight from the sender's memory.
func (l *lane[T]) take(slice int, op *boundOp, source schedule.Loc) (n int64) {
	if op.Kind == schedule.Recv {
		l.pairs(slice, source, op.Dst, op.Peer, func(src, dst []T) {
			copy(dst, src)
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
	var next []int32
	dst.Set.Each(func(c int32) { next = append(next, c) })
	i := 0
	src.Set.Each(func(c int32) {
		visit(l.r.piece(from, src.Buf, l.channel, slice, c), l.r.piece(l.rank, dst.Buf, l.channel, slice, next[i]))
		i++
	})
}

// reduce combines several places, chunk by chunk.
func (l *lane[T]) reduce(slice int, op *boundOp) (n int64) {
	places := make([][]int32, len(op.Srcs))
	for i, s := range op.Srcs {
		s.Set.Each(func(c int32) { places[i] = append(places[i], c) })
	}
	srcs := make([][]T, len(op.Srcs))
	j := 0
	op.Dst.Set.Each(func(c int32) {
		for i, s := range op.Srcs {
			srcs[i] = l.r.piece(l.rank, s.Buf, l.channel, slice, places[i][j])
		}
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

// checkEvery is how many turns a wait makes between looks at the clock.
const checkEvery = 1024

// wait blocks until a counter reaches want. When the deadline passes it reports who
// waited for whom and ends the run.
func (l *lane[T]) wait(counter *atomic.Int64, want int64, who func() string, slice, op int) bool {
	var began time.Time
	for spins := 0; counter.Load() < want; spins++ {
		if l.r.abort.Load() {
			return false
		}
		if spins%checkEvery == checkEvery-1 {
			if began.IsZero() {
				began = time.Now()
			} else if time.Since(began) > l.r.cfg.Deadline {
				what := "the phase before"
				if op >= 0 {
					what = fmt.Sprintf("operation %d (%v)", op, l.ops[op].Op)
				}
				l.r.fail(fmt.Errorf("deadline of %v passed: %s: channel %d, phase %d, slice %d, %s: flag wanted %d, got %d",
					l.r.cfg.Deadline, who(), l.channel, l.phase, slice, what, want, counter.Load()))
				return false
			}
		}
		pause(spins)
	}
	return true
}
