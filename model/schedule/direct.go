package schedule

// Direct algorithms: every rank talks to every other at once, in one step. Peers are
// visited from the next rank on, so that no rank is hit by all others first. Members
// without chunks of their own only listen, or only contribute. Of generator switch, these
// are those of in_network.go.

func directAllGather(e *emitter) {
	own := at(e.ph.Src, e.part(e.pos))
	e.sendAll(own)
	e.copy(own, at(e.ph.Dst, e.part(e.pos)))
	for k := 1; k < e.size; k++ {
		if part := e.part(e.off(-k)); part.Len() > 0 {
			e.recv(e.off(-k), at(e.ph.Dst, part))
		}
	}
}

// sendAll sends to all others of the group, if there is anything to send.
func (e *emitter) sendAll(src Loc) {
	switch {
	case src.Set.Len() == 0:
	case e.ph.Gen == GenSwitch:
		e.multicast(src)
	default:
		for k := 1; k < e.size; k++ {
			e.send(e.off(k), src)
		}
	}
}

// directReduceScatter gathers the contributions to a rank's part in scratch and
// combines them in rank order with one rounding.
func directReduceScatter(e *emitter) {
	for k := 1; k < e.size; k++ {
		if part := e.part(e.off(k)); part.Len() > 0 {
			e.send(e.off(k), at(e.ph.Src, part))
		}
	}
	e.gatherAndReduce(e.part(e.pos))
}

// directAllReduce is the one-shot all-reduce: everybody sends everything to everybody.
func directAllReduce(e *emitter) {
	e.sendAll(at(e.ph.Src, e.whole()))
	e.gatherAndReduce(e.whole())
}

// gatherAndReduce receives every peer's contribution to set into its own copy of the
// scratch buffer and combines all in position order, so that ranks agree bit by bit.
func (e *emitter) gatherAndReduce(set ChunkSet) {
	switch {
	case set.Len() == 0:
		return
	case e.ph.Gen == GenSwitch:
		e.switchReduce(at(e.ph.Src, set), at(e.ph.Dst, set))
		return
	}
	srcs := make([]Loc, e.size)
	srcs[e.pos] = at(e.ph.Src, set)
	for k := 1; k < e.size; k++ {
		q := e.off(-k)
		srcs[q] = e.scratch(k, set) // copy 0 is where phases keep sums
		e.recv(q, srcs[q])
	}
	e.reduce(at(e.ph.Dst, set), srcs)
}

// directAllToAll: input chunk q goes to position q and becomes its output chunk p. What is empty is not sent.
func directAllToAll(e *emitter) {
	for k := 1; k < e.size; k++ {
		if to := e.off(k); !e.empty(e.pos, to) {
			e.send(to, at(e.ph.Src, e.part(to)))
		}
	}
	e.copy(at(e.ph.Src, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
	for k := 1; k < e.size; k++ {
		if from := e.off(-k); !e.empty(from, e.pos) {
			e.recv(from, at(e.ph.Dst, e.part(from)))
		}
	}
}

// empty reports whether a position has nothing to send to another, where each has the
// chunks of its own rank.
func (e *emitter) empty(from, to int) bool {
	return e.group != nil && e.group.Parts == nil && e.spec.Empty(int(e.rank(from)), int(e.rank(to)))
}

func directGather(e *emitter) {
	if e.pos != e.ph.Root {
		e.send(e.ph.Root, at(e.ph.Src, e.part(e.pos)))
		return
	}
	e.copy(at(e.ph.Src, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
	for k := 1; k < e.size; k++ {
		e.recv(e.off(-k), at(e.ph.Dst, e.part(e.off(-k))))
	}
}

func directScatter(e *emitter) {
	own := e.part(e.pos)
	if e.pos != e.ph.Root {
		e.recv(e.ph.Root, at(e.ph.Dst, own))
		return
	}
	for k := 1; k < e.size; k++ {
		e.send(e.off(k), at(e.ph.Src, e.part(e.off(k))))
	}
	e.copy(at(e.ph.Src, own), at(e.ph.Dst, own))
}

func directBroadcast(e *emitter) {
	if e.pos != e.ph.Root {
		e.recv(e.ph.Root, at(e.ph.Dst, e.whole()))
		return
	}
	e.sendAll(at(e.ph.Src, e.whole()))
	e.copy(at(e.ph.Src, e.whole()), at(e.ph.Dst, e.whole()))
}

func directReduce(e *emitter) {
	if e.pos != e.ph.Root {
		e.send(e.ph.Root, at(e.ph.Src, e.whole()))
		return
	}
	e.gatherAndReduce(e.whole())
}

// directSendRecv: everybody sends to the next rank, as nccl-tests' sendrecv.
func directSendRecv(e *emitter) {
	e.send(e.off(1), at(e.ph.Src, e.whole()))
	e.recv(e.off(-1), at(e.ph.Dst, e.whole()))
}

// directBarrier: an empty message from everybody to everybody.
func directBarrier(e *emitter) {
	for k := 1; k < e.size; k++ {
		e.send(e.off(k), Loc{})
	}
	for k := 1; k < e.size; k++ {
		e.recv(e.off(-k), Loc{})
	}
}
