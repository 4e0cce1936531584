package schedule

import "slices"

// Gather, scatter and barrier on k-nomial trees. A subtree of a k-nomial tree is a run
// of consecutive positions (counted from the root), so what passes through a rank is a
// run of parts: ⌈log_k n⌉ steps instead of n−1 messages at the root. Thakur,
// Rabenseifner, Gropp 2005. Trees given by Parents have no such runs (Validate).

// subtree is the number of positions at and below one.
func (e *emitter) subtree(pos int) int {
	v := (pos - e.ph.Root + e.size) % e.size // counted from the root
	if v == 0 {
		return e.size
	}
	return min(e.knomialLevel(v), e.size-v)
}

// treeScatter: each rank gets its subtree's parts and hands on those of its children.
func treeScatter(e *emitter) {
	from := e.ph.Src
	if e.pos != e.ph.Root {
		from = e.ph.Acc
		e.spans(e.pos, e.subtree(e.pos), func(s ChunkSet) { e.recv(e.parent(), at(from, s)) })
	}
	for _, c := range slices.Backward(e.children()) { // the largest subtree first
		e.spans(c, e.subtree(c), func(s ChunkSet) { e.send(c, at(from, s)) })
	}
	e.copy(at(from, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
}

// treeGather is the scatter backwards.
func treeGather(e *emitter) {
	to := e.ph.Dst
	if e.pos != e.ph.Root {
		to = e.ph.Acc
	}
	e.copy(at(e.ph.Src, e.part(e.pos)), at(to, e.part(e.pos)))
	for _, c := range e.children() {
		e.spans(c, e.subtree(c), func(s ChunkSet) { e.recv(c, at(to, s)) })
	}
	if e.pos != e.ph.Root {
		e.spans(e.pos, e.subtree(e.pos), func(s ChunkSet) { e.send(e.parent(), at(to, s)) })
	}
}

// treeBarrier: everybody's arrival goes up, the release comes down.
func treeBarrier(e *emitter) {
	children := e.children()
	for _, c := range children {
		e.recv(c, Loc{})
	}
	if p := e.parent(); p >= 0 {
		e.send(p, Loc{})
		e.recv(p, Loc{})
	}
	for _, c := range children {
		e.send(c, Loc{})
	}
}
