package schedule

// Algorithms of switches that work on the data that pass through them: a rank sends
// once what all others are to have, and receives once the sum of what all others send.
// R. L. Graham et al., "Scalable Hierarchical Aggregation and Reduction Protocol
// (SHARP)", 2016; NVLink SHARP: A. Ishii, R. Wells, "NVLink-Network Switch", Hot Chips
// 34, 2022. Deviation: a rank's own data do not pass through the switch and back, which
// in NCCL's NVLS they do: there each GPU moves (n+1)/n of the bytes.

func switchAllGather(e *emitter) {
	own := at(e.ph.Src, e.part(e.pos))
	e.multicast(own)
	e.copy(own, at(e.ph.Dst, e.part(e.pos)))
	for k := 1; k < e.size; k++ {
		e.recv(e.off(-k), at(e.ph.Dst, e.part(e.off(-k))))
	}
}

func switchReduceScatter(e *emitter) {
	for k := 1; k < e.size; k++ {
		e.send(e.off(k), at(e.ph.Src, e.part(e.off(k))))
	}
	e.switchReduce(at(e.ph.Src, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
}

func switchBroadcast(e *emitter) {
	if e.pos != e.ph.Root {
		e.recv(e.ph.Root, at(e.ph.Dst, e.whole()))
		return
	}
	own := at(e.ph.Src, e.whole())
	e.multicast(own)
	e.copy(own, at(e.ph.Dst, e.whole()))
}

func switchReduce(e *emitter) {
	if e.pos != e.ph.Root {
		e.send(e.ph.Root, at(e.ph.Src, e.whole()))
		return
	}
	e.switchReduce(at(e.ph.Src, e.whole()), at(e.ph.Dst, e.whole()))
}

// multicast sends to all others of the group.
func (e *emitter) multicast(src Loc) {
	if peers := e.others(); len(peers) > 0 {
		e.ops = append(e.ops, Op{Kind: Multicast, Peer: -1, Src: src, Peers: peers})
	}
}

// switchReduce adds what all others of the group send to the rank's own data.
func (e *emitter) switchReduce(src, dst Loc) {
	if peers := e.others(); len(peers) > 0 {
		e.ops = append(e.ops, Op{Kind: SwitchReduce, Peer: -1, Src: src, Dst: dst, Peers: peers})
	} else {
		e.copy(src, dst)
	}
}

// others are the group's ranks from the next one on.
func (e *emitter) others() RankList {
	var out RankList
	for k := 1; k < e.size; k++ {
		out = append(out, e.rank(e.off(k)))
	}
	return out
}
