package schedule

// Bruck's algorithms: ⌈log₂ n⌉ steps for any n. Bruck, Ho, Kipnis, Upfal, Weathersby,
// "Efficient algorithms for all-to-all communications in multiport message-passing
// systems", IEEE TPDS 1997. Parts are stored in place, so no final rotation is needed.

// bruckAllGather: after the step at distance d a rank has parts p … p+2d−1.
func bruckAllGather(e *emitter) {
	e.copy(at(e.ph.Src, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
	for d := 1; d < e.size; d *= 2 {
		count := min(d, e.size-d)
		e.spans(e.pos, count, func(s ChunkSet) { e.send(e.off(-d), at(e.ph.Dst, s)) })
		e.spans(e.off(d), count, func(s ChunkSet) { e.recv(e.off(d), at(e.ph.Dst, s)) })
	}
}

// bruckReduceScatter is the all-gather backwards: partial sums flow to their owner.
// The first acc parts from a rank's own position on are sums in Acc, the others are
// still its own input.
func bruckReduceScatter(e *emitter) {
	top := 1
	for top*2 < e.size {
		top *= 2
	}
	acc := 0
	for d := top; d >= 1; d /= 2 {
		count := min(d, e.size-d)
		// Offsets from the receiver's position at which the sender's (acc−d) or the
		// receiver's (acc) operands change their buffer.
		e.cuts(count, acc-d, acc, func(from, n int) {
			e.spans(e.off(d+from), n, func(s ChunkSet) { e.send(e.off(d), at(e.held(d+from, acc), s)) })
		})
		e.cuts(count, acc-d, acc, func(from, n int) {
			to := e.ph.Acc
			if d == 1 {
				to = e.ph.Dst
			}
			e.spans(e.off(from), n, func(s ChunkSet) { e.recvReduce(e.off(-d), at(e.held(from, acc), s), at(to, s)) })
		})
		acc = count
	}
}

// held is where the part at an offset from the own position is.
func (e *emitter) held(offset, acc int) Buffer {
	if offset < acc {
		return e.ph.Acc
	}
	return e.ph.Src
}

// cuts visits [0, count) in pieces cut at a and b.
func (e *emitter) cuts(count, a, b int, visit func(from, n int)) {
	if a > b {
		a, b = b, a
	}
	from := 0
	for _, cut := range []int{a, b, count} {
		if cut > from && cut <= count {
			visit(from, cut-from)
			from = cut
		}
	}
}

// bruckAllToAll sends, at distance d, everything that still has to go a distance with
// bit d set. Blocks wait in scratch copy 0, indexed by the distance still to go; what
// is sent is staged in a copy of its own, since its place is received into.
func bruckAllToAll(e *emitter) {
	for j := range e.size {
		e.copy(at(e.ph.Src, e.part(e.off(j))), e.scratch(0, One(int32(j))))
	}
	for d, step := 1, 1; d < e.size; d, step = d*2, step+1 {
		for from := d; from < e.size; from += 2 * d {
			run := Range(int32(from), int32(min(d, e.size-from)))
			e.copy(e.scratch(0, run), e.scratch(step, run))
		}
		e.eachBitSet(d, func(s ChunkSet) { e.send(e.off(d), e.scratch(step, s)) })
		e.eachBitSet(d, func(s ChunkSet) { e.recv(e.off(-d), e.scratch(0, s)) })
	}
	for j := range e.size {
		e.copy(e.scratch(0, One(int32(j))), at(e.ph.Dst, e.part(e.off(-j))))
	}
}

// eachBitSet visits the distances below size with bit d set in at most two sets: the
// full runs, and the last one where it is cut short.
func (e *emitter) eachBitSet(d int, visit func(ChunkSet)) {
	full := e.size / (2 * d) // runs [d+2dk, 2d+2dk) that end within size
	if full > 0 {
		visit(ChunkSet{First: int32(d), Count: int32(d), Stride: 1, Outer: int32(full), OuterStride: int32(2 * d)})
	}
	if from := d + 2*d*full; from < e.size {
		visit(Range(int32(from), int32(e.size-from)))
	}
}

// disseminationBarrier: Hensgen, Finkel, Manber, "Two algorithms for barrier
// synchronization", 1988.
func disseminationBarrier(e *emitter) {
	for d := 1; d < e.size; d *= 2 {
		e.send(e.off(d), Loc{})
		e.recv(e.off(-d), Loc{})
	}
}
