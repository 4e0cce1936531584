package schedule

import "railyard/model/collective"

// whole are the programs of a phase that takes all levels: receives in the order of the
// plan in time, and every send as soon as its data is there and those before it on its
// connection are sent.
func (b *treePhases) whole(ph *Phase) [][]Op {
	up, down := ph.Op != collective.AllGather, ph.Op != collective.ReduceScatter
	w := &treeWriter{b: b, plan: newTreePlan(b, up, down), first: ph.Src}
	if up {
		w.first = Output
	}
	w.left = make([]int32, len(b.List)*b.pieces()*b.ranks)
	w.got = make([]bool, len(w.left))
	w.sent = make([]int, len(w.plan.conns))
	for i := range b.List {
		for v, u := range b.List[i].Parent {
			for k := range b.pieces() {
				if u >= 0 {
					w.left[w.at(i, k, u)]++
				} else if !up {
					w.got[w.at(i, k, int32(v))] = true
				}
			}
		}
	}
	out := make([][]Op, b.ranks)
	conns := w.plan.outgoing()
	own := b.own()
	for r := range out {
		w.send(int32(r), conns[r])
		if !up && ph.Src == Input {
			w.copy(own[r])
		}
		for _, j := range w.plan.arrived[r] {
			w.receive(w.plan.jobAt(j), int32(r))
			w.send(int32(r), conns[r])
		}
		out[r], w.ops = w.ops, nil
	}
	return out
}

// treeWriter spells out what a plan of all levels does, rank by rank.
type treeWriter struct {
	b     *treePhases
	plan  *treePlan
	first Buffer  // where a root has what it spreads
	left  []int32 // by tree, piece and rank: children whose sums are not in
	got   []bool  // whether the result is there
	sent  []int   // by connection
	ops   []Op
}

func (w *treeWriter) at(tree, piece int, v int32) int {
	return (tree*w.b.pieces()+piece)*w.b.ranks + int(v)
}

// chunks are those of a message.
func (w *treeWriter) chunks(j treeJob) ChunkSet {
	all := w.b.chunks[j.tree]
	n := all.Count / int32(w.b.pieces())
	return Range(all.First+int32(j.piece)*n, n)
}

func (w *treeWriter) copy(sets []ChunkSet) {
	for _, x := range sets {
		w.ops = append(w.ops, Op{Kind: Copy, Peer: -1, Src: Loc{Buf: Input, Set: x}, Dst: Loc{Buf: Output, Set: x}})
	}
}

// send sends what can be sent on each connection of a rank.
func (w *treeWriter) send(r int32, conns []int32) {
	for _, c := range conns {
		for order := w.plan.conns[c].order; w.sent[c] < len(order); w.sent[c]++ {
			j := w.plan.jobAt(order[w.sent[c]])
			from := Loc{Buf: Output, Set: w.chunks(j)}
			at := w.at(j.tree, j.piece, r)
			switch {
			case j.down && !w.got[at], !j.down && w.left[at] > 0:
				from.Set.Count = 0 // not there yet
			case j.down && w.b.List[j.tree].Parent[r] < 0:
				from.Buf = w.first
			case !j.down && w.plan.height[j.tree][r] > 0:
				from.Buf = Scratch
			case !j.down:
				from.Buf = Input
			}
			if from.Set.Count == 0 {
				break
			}
			_, to := w.plan.ends(j)
			w.ops = append(w.ops, Op{Kind: Send, Peer: to, Src: from})
		}
	}
}

// receive takes a result, or adds a sum to the rank's own.
func (w *treeWriter) receive(j treeJob, r int32) {
	from, _ := w.plan.ends(j)
	set, at := w.chunks(j), w.at(j.tree, j.piece, r)
	if j.down {
		w.got[at] = true
		w.ops = append(w.ops, Op{Kind: Recv, Peer: from, Dst: Loc{Buf: Output, Set: set}})
		return
	}
	own, to := Input, Scratch
	if int(w.left[at]) < len(w.b.below(j.tree, r)) {
		own = Scratch
	}
	w.left[at]--
	if w.left[at] == 0 && w.b.List[j.tree].Parent[r] < 0 {
		to, w.got[at] = Output, true
	}
	w.ops = append(w.ops, Op{Kind: RecvReduce, Peer: from, Src: Loc{Buf: own, Set: set}, Dst: Loc{Buf: to, Set: set}})
}
