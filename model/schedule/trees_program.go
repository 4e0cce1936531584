package schedule

import (
	"slices"

	"railyard/model/collective"
)

// treeProgram are the programs of a phase that takes all levels: receives in the order of
// the plan in time, and every send as soon as its data is there, those before it on its
// connection are sent, and what should have come shortly before has. Only the plan is kept.
type treeProgram struct {
	b        *treePhases
	plan     *treePlan
	outgoing [][]int32 // by rank: connections
	own      [][]ChunkSet
	first    Buffer // where a root has what it spreads
}

func newTreeProgram(b *treePhases, ph *Phase) *treeProgram {
	up, down := ph.Op != collective.AllGather, ph.Op != collective.ReduceScatter
	w := &treeProgram{b: b, plan: newTreePlan(b, up, down), first: ph.Src}
	w.outgoing = w.plan.outgoing()
	if up {
		w.first = Output
	} else if ph.Src == Input {
		w.own = b.own()
	}
	return w
}

// append appends a rank's program.
func (w *treeProgram) append(dst []Op, rank int) []Op {
	x := w.writer(int32(rank), slices.Grow(dst, w.operations(rank)))
	x.send()
	if w.own != nil {
		for _, set := range w.own[rank] {
			x.ops = append(x.ops, Op{Kind: Copy, Peer: -1, Src: Loc{Buf: Input, Set: set}, Dst: Loc{Buf: Output, Set: set}})
		}
	}
	for _, h := range w.plan.arrived[rank] {
		x.received++
		x.receive(w.plan.hopAt(h))
		x.send()
	}
	return x.ops
}

// operations is how many a rank's program has.
func (w *treeProgram) operations(rank int) int {
	n := len(w.plan.arrived[rank])
	for _, c := range w.outgoing[rank] {
		n += len(w.plan.conns[c].order)
	}
	if w.own != nil {
		n += len(w.own[rank])
	}
	return n
}

// treeWriter spells out what one rank does.
type treeWriter struct {
	*treeProgram
	rank     int32
	conns    []int32   // outgoing
	sent     []int     // by outgoing connection: messages
	told     [][]int32 // by outgoing connection: pieces sent, by hop of it
	got      []int32   // by tree: pieces of the result that are there
	summed   []int32   // by tree: pieces whose sums are
	arrived  [][]int32 // by tree and child: pieces that have come from it
	received int32
	ops      []Op
}

func (w *treeProgram) writer(r int32, dst []Op) *treeWriter {
	n := len(w.b.List)
	x := &treeWriter{treeProgram: w, rank: r, conns: w.outgoing[r], got: make([]int32, n), summed: make([]int32, n), arrived: make([][]int32, n), ops: dst}
	x.sent, x.told = make([]int, len(x.conns)), make([][]int32, len(x.conns))
	for i, c := range x.conns {
		x.told[i] = make([]int32, len(w.plan.conns[c].hops))
	}
	pieces := int32(w.b.pieces())
	for i := range w.b.List {
		children := w.b.below(i, r)
		x.arrived[i] = make([]int32, len(children))
		if len(children) == 0 {
			x.summed[i] = pieces
		}
		if !w.plan.up && w.b.List[i].Parent[r] < 0 {
			x.got[i] = pieces
		}
	}
	return x
}

// chunks are those of a piece of a tree.
func (w *treeProgram) chunks(tree int, piece int32) ChunkSet {
	all := w.b.chunks[tree]
	n := all.Count / int32(w.b.pieces())
	return Range(all.First+piece*n, n)
}

// send sends what can be sent on each connection.
func (x *treeWriter) send() {
	for i, c := range x.conns {
		k := &x.plan.conns[c]
		for x.sent[i] < len(k.order) {
			h := k.order[x.sent[i]]
			piece := &x.told[i][x.plan.hops[h].slot]
			t := x.plan.hopAt(h)
			buf, there := x.source(t, *piece)
			if !there || x.received < k.after[x.sent[i]] {
				break
			}
			x.ops = append(x.ops, Op{Kind: Send, Peer: k.to, Src: Loc{Buf: buf, Set: x.chunks(t.tree, *piece)}})
			*piece++
			x.sent[i]++
		}
	}
}

// source is where a piece for a hop lies, if it is there.
func (x *treeWriter) source(h treeHop, piece int32) (Buffer, bool) {
	switch {
	case h.down && x.b.List[h.tree].Parent[x.rank] < 0:
		return x.first, piece < x.got[h.tree]
	case h.down:
		return Output, piece < x.got[h.tree]
	case len(x.b.below(h.tree, x.rank)) > 0:
		return Scratch, piece < x.summed[h.tree]
	}
	return Input, piece < x.summed[h.tree]
}

// receive takes a piece of a result, or adds one of a sum to the rank's own.
func (x *treeWriter) receive(h treeHop) {
	parent := x.b.List[h.tree].Parent[h.v]
	if h.down {
		set := x.chunks(h.tree, x.got[h.tree])
		x.got[h.tree]++
		x.ops = append(x.ops, Op{Kind: Recv, Peer: parent, Dst: Loc{Buf: Output, Set: set}})
		return
	}
	children := x.b.below(h.tree, x.rank)
	at := slices.Index(children, h.v)
	set := x.chunks(h.tree, x.arrived[h.tree][at])
	x.arrived[h.tree][at]++
	first, last := true, true // of this piece, among the children
	for i, n := range x.arrived[h.tree] {
		if i != at {
			first, last = first && n < x.arrived[h.tree][at], last && n >= x.arrived[h.tree][at]
		}
	}
	own, to := Scratch, Scratch
	if first {
		own = Input
	}
	if last {
		x.summed[h.tree]++
		if x.b.List[h.tree].Parent[x.rank] < 0 {
			to = Output
			x.got[h.tree]++
		}
	}
	x.ops = append(x.ops, Op{Kind: RecvReduce, Peer: h.v, Src: Loc{Buf: own, Set: set}, Dst: Loc{Buf: to, Set: set}})
}
