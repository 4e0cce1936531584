package schedule

// Ring algorithms: each rank talks to the next one only. Patarasuk, Yuan, "Bandwidth
// optimal all-reduce algorithms for clusters of workstations", JPDC 2009. n−1 steps
// for reduce-scatter and for all-gather; bandwidth-optimal on a ring of equal links. Broadcast
// and reduce are those of trees, on chains from and to the root: slices keep all links busy.

// ringReduceScatter: part p travels from rank p+1 around to rank p, growing by one
// contribution a hop.
func ringReduceScatter(e *emitter) {
	from := e.ph.Src
	for k := 0; k < e.size-1; k++ {
		e.send(e.off(1), at(from, e.part(e.off(-k-1))))
		part := e.part(e.off(-k - 2))
		to := e.ph.Acc
		if k == e.size-2 {
			to = e.ph.Dst
		}
		e.recvReduce(e.off(-1), at(e.ph.Src, part), at(to, part))
		from = e.ph.Acc
	}
}

// ringAllGather: each rank's part travels once around.
func ringAllGather(e *emitter) {
	from := e.ph.Src
	for k := 0; k < e.size-1; k++ {
		e.send(e.off(1), at(from, e.part(e.off(-k))))
		if k == 0 {
			e.copy(at(e.ph.Src, e.part(e.pos)), at(e.ph.Dst, e.part(e.pos)))
		}
		e.recv(e.off(-1), at(e.ph.Dst, e.part(e.off(-k-1))))
		from = e.ph.Dst
	}
}

// ringAllReduce is reduce-scatter and all-gather on the same ring.
func ringAllReduce(e *emitter) {
	rs, ag := *e.ph, *e.ph
	rs.Acc = e.ph.Dst
	ag.Src = e.ph.Dst
	whole := e.ph
	e.ph = &rs
	ringReduceScatter(e)
	e.ph = &ag
	ringAllGather(e)
	e.ph = whole
}
