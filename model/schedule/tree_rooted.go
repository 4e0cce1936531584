package schedule

// Gather, scatter and barrier on k-nomial trees. A subtree of a k-nomial tree is a run
// of consecutive positions (counted from the root), so what passes through a rank is a
// run of parts: ⌈log_k n⌉ steps instead of n−1 messages at the root. Thakur,
// Rabenseifner, Gropp 2005. Trees given by Parents have no such runs (Validate).

// subtree is the number of positions at and below v, counted from the root.
func (e *emitter) subtree(v int) int {
	if v == 0 {
		return e.size
	}
	return min(e.knomialLevel(v), e.size-v)
}

// below visits the children, in order of growing subtrees, with their subtree's size.
func (e *emitter) below(visit func(child, count int)) {
	for _, c := range e.children() {
		v := ((c-e.ph.Root)%e.size + e.size) % e.size
		visit(c, e.subtree(v))
	}
}

// treeScatter: each rank gets its subtree's parts and hands on those of its children.
func treeScatter(e *emitter) {
	v := e.off(-e.ph.Root)
	from := e.ph.Src
	if v > 0 {
		from = e.ph.Acc
		e.spans(e.pos, e.subtree(v), func(s ChunkSet) { e.recv(e.parent(), at(from, s)) })
	}
	type run struct{ child, count int }
	var runs []run
	e.below(func(child, count int) { runs = append(runs, run{child, count}) })
	for i := len(runs) - 1; i >= 0; i-- { // the largest subtree first
		e.spans(runs[i].child, runs[i].count, func(s ChunkSet) { e.send(runs[i].child, at(from, s)) })
	}
	e.copy(at(from, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
}

// treeGather is the scatter backwards.
func treeGather(e *emitter) {
	v := e.off(-e.ph.Root)
	to := e.ph.Dst
	if v > 0 {
		to = e.ph.Acc
	}
	e.copy(at(e.ph.Src, e.part(e.pos)), at(to, e.part(e.pos)))
	e.below(func(child, count int) {
		e.spans(child, count, func(s ChunkSet) { e.recv(child, at(to, s)) })
	})
	if v > 0 {
		e.spans(e.pos, e.subtree(v), func(s ChunkSet) { e.send(e.parent(), at(to, s)) })
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
