package sim

import (
	"cmp"
	"math"
	"slices"
)

// Long pipelines come to do the same again and again, only later and with further slices.
// Where the state of a run is that of an earlier moment but for counters, and nothing that
// is asked of these counters is answered otherwise than it was since then, what happened
// since happens once more, and so on until an answer would be another: a lane or a loop
// ends, or a queue that grows shorter could become empty. So many periods are skipped at
// once; the result is that of a run event by event, to the picosecond.
//
// Moments at which to look back are found as by R. P. Brent, "An improved Monte Carlo
// factorization algorithm", 1980: a state is kept until twice as much has been played, then
// a later one; it is compared with those in which the same connection has just brought
// a message.
type steady struct {
	on      bool
	played  int64 // events
	due     int64 // when to keep the next state
	anchor  int32 // the connection; −1: no state is kept
	brought int32 // connection that brought the last message of this moment, −1
	kept    snapshot
	now     []queued // of the state at hand
	skipped int64    // periods
}

// minLaps is from how many slices, or laps of a loop, on it is worth looking back.
const minLaps = 24

// snapshot is the state of a run between two moments.
type snapshot struct {
	now, sends, events int64
	conns              []connState
	boxes              []boxState
	lanes              []laneState
	flows              []flow
	res                []shared
	queue              []queued
}

// queued is an event that is awaited, by how long from now.
type queued struct {
	in    int64
	event event
}

// prepare begins a run. What traces record, and who waits for processors and for what it sends, is not compared.
func (s *steady) prepare(e *engine) {
	s.played, s.anchor, s.brought, s.skipped = 0, -1, -1, 0
	s.due = e.size()
	s.on = e.trace == nil && !e.serial() && !e.blocking() &&
		slices.ContainsFunc(e.lanes, func(l laneState) bool { return max(l.slices, l.laps) >= minLaps })
}

// size is about how much a state consists of.
func (e *engine) size() int64 { return int64(len(e.conns) + len(e.lanes)) }

// look compares the state at hand with the one that is kept, and keeps another if it is time.
func (s *steady) look(e *engine) {
	if s.brought >= 0 && s.brought == s.anchor {
		if n := s.repeats(e); n > 0 {
			e.skip(n)
			s.skipped += n
			s.anchor, s.due = -1, s.played+e.size()
		}
	}
	if s.brought >= 0 && s.played >= s.due {
		s.anchor, s.due = s.brought, 2*s.played
		s.kept.take(e)
	}
	s.brought = -1
}

// take keeps the state of a run.
func (x *snapshot) take(e *engine) {
	x.now, x.sends, x.events = e.now, e.sends, e.events
	x.conns, x.boxes, x.lanes = append(x.conns[:0], e.conns...), append(x.boxes[:0], e.boxes...), append(x.lanes[:0], e.lanes...)
	x.flows, x.res = append(x.flows[:0], e.share.flows...), append(x.res[:0], e.share.res...)
	x.queue = e.awaited(x.queue[:0])
}

// awaited are the events to come that are not outdated, in the order in which they will.
func (e *engine) awaited(list []queued) []queued {
	moments := slices.Clone(e.q.heap)
	slices.SortFunc(moments, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	for _, m := range moments {
		for _, ev := range e.q.buckets[m.bucket] {
			if !e.outdated(ev) {
				list = append(list, queued{m.at - e.now, newEvent(ev.kind(), ev.id(), 0)})
			}
		}
	}
	return list
}

func (e *engine) outdated(ev event) bool {
	switch ev.kind() {
	case ending:
		return e.share.flows[ev.id()].version&versionMask != ev.version()
	case drained:
		return e.share.res[ev.id()].version&versionMask != ev.version()
	}
	return false
}

// repeats is how many more times what happened since the kept state happens; 0 where the
// state is another.
func (s *steady) repeats(e *engine) int64 {
	x := &s.kept
	if len(x.queue) > 0 && len(e.q.heap) == 0 || !x.sameLanes(e) || !x.sameConns(e) || !x.sameTransfers(e) {
		return 0
	}
	if s.now = e.awaited(s.now[:0]); !slices.Equal(s.now, x.queue) {
		return 0
	}
	return min(x.periodsOfLanes(e), x.periodsOfConns(e))
}

// sameLanes compares programs but for the slices and laps that they have done.
func (x *snapshot) sameLanes(e *engine) bool {
	for i := range e.lanes {
		a, b := &x.lanes[i], &e.lanes[i]
		if a.at != b.at || a.stop != b.stop || a.waiting != b.waiting {
			return false
		}
	}
	return true
}

// sameConns compares connections and inboxes but for what is queued.
func (x *snapshot) sameConns(e *engine) bool {
	for i := range e.conns {
		a, b := &x.conns[i], &e.conns[i]
		if a.messages.at != b.messages.at || a.messages.stop != b.messages.stop || a.busy != b.busy || a.busy && a.size != b.size {
			return false
		}
	}
	for i := range e.boxes {
		if x.boxes[i].waiter != e.boxes[i].waiter {
			return false
		}
	}
	return true
}

// sameTransfers compares what moves on shared resources.
func (x *snapshot) sameTransfers(e *engine) bool {
	later := e.now - x.now
	for r := range e.share.res {
		a, b := &x.res[r], &e.share.res[r]
		if a.n != b.n || a.level != b.level || !shifted(a.at, b.at, later) {
			return false
		}
		for _, c := range e.share.on(int32(r)) {
			f, g := &x.flows[c], &e.share.flows[c]
			if f.home != g.home || f.limit != g.limit || g.home >= 0 && g.group == int32(r) && a.leaves(f, x.now) != b.leaves(g, e.now) {
				return false
			}
			if g.home == limited && (f.rate != g.rate || f.left != g.left || g.since-f.since != later) {
				return false
			}
		}
	}
	return true
}

// leaves is what a transfer of a group has left.
func (x *shared) leaves(f *flow, now int64) amount {
	return f.left.less(x.clock.more(product(x.level, uint64(now-x.since))))
}

// shifted reports whether a time, −1 for none, is another by so much.
func shifted(a, b, later int64) bool { return a < 0 && b < 0 || a >= 0 && b == a+later }

// periodsOfLanes is for how many periods all questions about slices and laps have the answer
// that they had.
func (x *snapshot) periodsOfLanes(e *engine) int64 {
	n := int64(math.MaxInt64)
	for i := range e.lanes {
		a, b := &x.lanes[i], &e.lanes[i]
		slices := int64(b.slice - a.slice)
		n = min(n, below(int64(b.slice), slices, int64(b.slices)), below(int64(b.lap), int64(b.lap-a.lap), int64(b.laps)))
		if b.before < 0 {
			continue
		}
		ahead := func(before, l *laneState) int64 { return int64(before.slice - l.slice) }
		n = min(n, remains(ahead(&x.lanes[b.before], a), ahead(&e.lanes[b.before], b), slices))
	}
	return n
}

// periodsOfConns is the same for what is queued.
func (x *snapshot) periodsOfConns(e *engine) int64 {
	n := int64(math.MaxInt64)
	for i := range e.conns {
		a, b := &x.conns[i], &e.conns[i]
		moved := int64(b.moved - a.moved)
		n = min(n, remains(int64(a.unsent), int64(b.unsent), moved), below(int64(b.messages.lap), int64(b.messages.lap-a.messages.lap),
			int64(b.messages.laps)))
		for k := b.box; k < b.boxEnd; k++ {
			was, is := int64(x.boxes[k].ready), int64(e.boxes[k].ready)
			n = min(n, remains(was, is, moved-(is-was)))
		}
	}
	return n
}

// below is how many periods a counter that grows by step in each stays below its end.
func below(count, step, end int64) int64 {
	if step == 0 {
		return math.MaxInt64
	}
	return max((end-1-count)/step, 0)
}

// remains is for how many periods a queue that was and now is so long is never found empty,
// where so many are taken from it in each period; any number where it grows no longer or
// shorter, and so is found empty when it was.
func remains(was, is, taken int64) int64 {
	switch step := is - was; {
	case step == 0:
		return math.MaxInt64
	case was <= taken || is <= taken:
		return 0
	case step > 0:
		return math.MaxInt64
	default:
		return (is-taken-1)/-step + 1
	}
}

// skip puts a run so many periods later.
func (e *engine) skip(n int64) {
	x := &e.steady.kept
	later := n * (e.now - x.now)
	e.now += later
	e.sends += n * (e.sends - x.sends)
	e.events += n * (e.events - x.events)
	for i := range e.lanes {
		a, b := &x.lanes[i], &e.lanes[i]
		b.slice += int32(n) * (b.slice - a.slice)
		b.lap += int32(n) * (b.lap - a.lap)
	}
	for i := range e.conns {
		a, b := &x.conns[i], &e.conns[i]
		b.moved += int32(n) * (b.moved - a.moved)
		b.unsent += int32(n) * (b.unsent - a.unsent)
		b.messages.lap += int32(n) * (b.messages.lap - a.messages.lap)
	}
	for i := range e.boxes {
		e.boxes[i].ready += int32(n) * (e.boxes[i].ready - x.boxes[i].ready)
	}
	e.share.later(later)
	e.q.later(later)
}

// later puts all that is awaited off.
func (s *sharing) later(by int64) {
	for i := range s.flows {
		s.flows[i].since += by
	}
	for i := range s.res {
		x := &s.res[i]
		x.since += by
		if x.at >= 0 {
			x.at += by
		}
	}
}

// later puts all events off.
func (q *queue) later(by int64) {
	for i := range q.heap {
		q.heap[i].at += by
	}
	for i := range q.cache {
		q.cache[i].at = -1
	}
}
