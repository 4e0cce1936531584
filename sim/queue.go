package sim

// event is something that happens at a time: a message begins to move (its α is over),
// a message arrives, or a lane ends its local work.
type event struct {
	at      int64 // picoseconds
	seq     uint64
	what    eventKind
	id      int32 // connection or lane
	version uint32
}

type eventKind uint8

const (
	startFlow eventKind = iota
	endFlow
	wakeLane
)

// queue is a four-ary heap of events by (time, sequence).
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) reset() { q.heap, q.seq = q.heap[:0], 0 }

func (a *event) before(b *event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	last := h[len(h)-1]
	q.heap = h[:len(h)-1]
	h = q.heap
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = last
	return top
}
