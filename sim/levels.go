package sim

// levels are resources, each at most once, by the level at which something may change on them: a four-ary heap that knows where each
// one stands, so that one whose level changes moves from there, mostly not far.
type levels struct {
	heap  []atLevel
	place []int32 // by resource: in heap; −1: not in it
}

type atLevel struct {
	level int64
	res   int32
}

func (a atLevel) before(b atLevel) bool {
	return a.level < b.level || a.level == b.level && a.res < b.res
}

// of is the level of a resource; another one where it is not in.
func (h *levels) of(r int32, other int64) int64 {
	if at := h.place[r]; at >= 0 {
		return h.heap[at].level
	}
	return other
}

// set puts a resource at a level, wherever it was.
func (h *levels) set(r int32, level int64) {
	at := h.place[r]
	if at < 0 {
		at = int32(len(h.heap))
		h.heap = append(h.heap, atLevel{})
	}
	h.put(at, atLevel{level, r})
}

// remove takes a resource out, if it is there.
func (h *levels) remove(r int32) {
	at, last := h.place[r], int32(len(h.heap))-1
	if at < 0 {
		return
	}
	moved := h.heap[last]
	h.heap = h.heap[:last]
	h.place[r] = -1
	if at < last {
		h.put(at, moved)
	}
}

// put puts x where it belongs, from a place on that is free.
func (h *levels) put(at int32, x atLevel) {
	list := h.heap
	for at > 0 && x.before(list[(at-1)/4]) {
		list[at] = list[(at-1)/4]
		h.place[list[at].res] = at
		at = (at - 1) / 4
	}
	for first := 4*at + 1; int(first) < len(list); first = 4*at + 1 {
		least := first
		for c := first + 1; c < min(first+4, int32(len(list))); c++ {
			if list[c].before(list[least]) {
				least = c
			}
		}
		if !list[least].before(x) {
			break
		}
		list[at] = list[least]
		h.place[list[at].res] = at
		at = least
	}
	list[at] = x
	h.place[x.res] = at
}
