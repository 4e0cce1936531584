package schedule

// Direct algorithms where switches work on the data that pass through them: a rank sends
// once what all others are to have, and receives once the sum of what all others send.
// R. L. Graham et al., "Scalable Hierarchical Aggregation and Reduction Protocol
// (SHARP)", 2016; NVLink SHARP: A. Ishii, R. Wells, "NVLink-Network Switch", Hot Chips
// 34, 2022. Deviation: a rank's own data do not pass through the switch and back, which
// in NCCL's NVLS they do: there each GPU moves (n+1)/n of the bytes.

// multicast sends to all others of the group.
func (e *emitter) multicast(src Loc) {
	e.ops = append(e.ops, Op{Kind: Multicast, Peer: -1, Src: src, Peers: e.others()})
}

// switchReduce adds what all others of the group send to the rank's own data.
func (e *emitter) switchReduce(src, dst Loc) {
	e.ops = append(e.ops, Op{Kind: SwitchReduce, Peer: -1, Src: src, Dst: dst, Peers: e.others()})
}

// others are the group's ranks from the next one on.
func (e *emitter) others() RankList {
	var out RankList
	for k := 1; k < e.size; k++ {
		out = append(out, e.rank(e.off(k)))
	}
	return out
}
