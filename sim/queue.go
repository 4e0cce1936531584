package sim

// event is something that happens at a time, packed: its kind, what it is about (a
// connection, a lane or a resource) and the version that it is valid for.
type event uint64

type eventKind uint64

const (
	arrive  eventKind = iota // connection: the message under way is there
	start                    // connection: α is over, the message begins to move
	ending                   // connection: a shared transfer ends, unless outdated
	drained                  // resource: its first transfer ends, unless outdated
	wake                     // lane: local work is done
)

const (
	kindBits    = 3
	versionBits = 29
	versionMask = 1<<versionBits - 1
)

func newEvent(k eventKind, id int32, version uint32) event {
	return event(k) | event(version&versionMask)<<kindBits | event(uint32(id))<<32
}

func (e event) kind() eventKind { return eventKind(e & (1<<kindBits - 1)) }
func (e event) id() int32       { return int32(e >> 32) }
func (e event) version() uint32 { return uint32(e>>kindBits) & versionMask }

// queue holds events by (time, order of creation). Schedules are regular, so many
// events share a moment: all events of a moment sit in one bucket, found again through
// a small direct-mapped cache, and a four-ary heap orders the buckets. A bucket that has
// fallen out of the cache gets no more events; a later bucket of the same moment comes
// behind it, so the order of creation holds.
type queue struct {
	heap    moments
	buckets [][]event
	free    []int32
	seq     uint32
	cache   [cacheSize]cached
}

// moment is a bucket in the heap.
type moment struct {
	at     int64 // picoseconds
	seq    uint32
	bucket int32
}

type cached struct {
	at     int64
	bucket int32
}

const (
	cacheBits = 8
	cacheSize = 1 << cacheBits
)

func slot(at int64) uint64 { return uint64(at) * 0x9E3779B97F4A7C15 >> (64 - cacheBits) }

func (q *queue) reset() {
	q.heap, q.free, q.seq = q.heap[:0], q.free[:0], 0
	for b := range q.buckets {
		q.buckets[b] = q.buckets[b][:0]
		q.free = append(q.free, int32(b))
	}
	for i := range q.cache {
		q.cache[i] = cached{at: -1}
	}
}

// push enters an event.
func (q *queue) push(at int64, e event) {
	c := &q.cache[slot(at)]
	if c.at != at {
		*c = cached{at, q.bucket(at)}
	}
	q.buckets[c.bucket] = append(q.buckets[c.bucket], e)
}

// bucket makes a bucket for a moment.
func (q *queue) bucket(at int64) int32 {
	var b int32
	if n := len(q.free); n > 0 {
		b = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		b = int32(len(q.buckets))
		q.buckets = append(q.buckets, nil)
	}
	q.seq++
	q.heap.push(moment{at, q.seq, b})
	return b
}

// done gives back the bucket of the earliest moment, whose events have all been seen.
func (q *queue) done() {
	m := q.heap[0]
	if c := &q.cache[slot(m.at)]; c.at == m.at && c.bucket == m.bucket {
		c.at = -1
	}
	q.buckets[m.bucket] = q.buckets[m.bucket][:0]
	q.free = append(q.free, m.bucket)
	q.heap.pop()
}

func (a moment) before(b moment) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// moments is a four-ary heap of what is to be done, earliest first.
type moments []moment

func (h *moments) push(m moment) {
	*h = append(*h, m)
	list := *h
	i := len(list) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !m.before(list[parent]) {
			break
		}
		list[i] = list[parent]
		i = parent
	}
	list[i] = m
}

// pop takes the first one out.
func (h *moments) pop() {
	list := *h
	last := list[len(list)-1]
	list = list[:len(list)-1]
	*h = list
	if len(list) == 0 {
		return
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(list) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(list)); c++ {
			if list[c].before(list[least]) {
				least = c
			}
		}
		if !list[least].before(last) {
			break
		}
		list[i] = list[least]
		i = least
	}
	list[i] = last
}
