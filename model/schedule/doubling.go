package schedule

// Recursive doubling and halving: partners at distance 1, 2, 4, …; log₂ n steps.
// Thakur, Rabenseifner, Gropp 2005. Reduce-scatter and all-gather need a power of two
// (Validate); the all-reduce folds the surplus ranks in before and out after.

// halvingReduceScatter: at distance d, a rank gives away the half of its range that
// its partner keeps.
func halvingReduceScatter(e *emitter) {
	from := e.ph.Src
	for d := e.size / 2; d >= 1; d /= 2 {
		partner := e.pos ^ d
		to := e.ph.Acc
		if d == 1 {
			to = e.ph.Dst
		}
		e.spans(partner&^(d-1), d, func(s ChunkSet) { e.send(partner, at(from, s)) })
		e.spans(e.pos&^(d-1), d, func(s ChunkSet) { e.recvReduce(partner, at(from, s), at(to, s)) })
		from = e.ph.Acc
	}
}

// doublingAllGather: at distance d, partners exchange the d parts that each has.
func doublingAllGather(e *emitter) {
	e.copy(at(e.ph.Src, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
	for d := 1; d < e.size; d *= 2 {
		partner := e.pos ^ d
		e.spans(e.pos&^(d-1), d, func(s ChunkSet) { e.send(partner, at(e.ph.Dst, s)) })
		e.spans(partner&^(d-1), d, func(s ChunkSet) { e.recv(partner, at(e.ph.Dst, s)) })
	}
}

// doublingAllReduce exchanges whole vectors: fewest steps, n log n bytes; for small
// sizes. Each step's sum has its own copy of the scratch buffer, since the copy before
// is still being sent. Partners add the same two values, so all ranks agree bitwise.
func doublingAllReduce(e *emitter) {
	core := 1
	for core*2 <= e.size {
		core *= 2
	}
	surplus := e.size - core
	whole := e.whole()
	cur := at(e.ph.Src, whole)
	if e.pos < 2*surplus {
		if e.pos%2 == 0 { // folded into the next position, gets the result at the end
			e.send(e.pos+1, cur)
			e.recv(e.pos+1, at(e.ph.Dst, whole))
			return
		}
		next := e.scratch(1, whole)
		e.recvReduce(e.pos-1, cur, next)
		cur = next
	}
	v := e.pos - surplus // position among the core
	if e.pos < 2*surplus {
		v = e.pos / 2
	}
	for d, step := 1, 1; d < core; d, step = d*2, step+1 {
		partner := v ^ d
		if partner < surplus {
			partner = 2*partner + 1
		} else {
			partner += surplus
		}
		next := e.scratch(1+step, whole)
		if d*2 == core {
			next = at(e.ph.Dst, whole)
		}
		e.send(partner, cur)
		e.recvReduce(partner, cur, next)
		cur = next
	}
	e.copy(cur, at(e.ph.Dst, whole))
	if e.pos < 2*surplus {
		e.send(e.pos-1, at(e.ph.Dst, whole))
	}
}
