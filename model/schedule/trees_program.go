package schedule

import (
	"slices"

	"railyard/model/collective"
)

// treeProgram are the programs of a phase that takes all levels: receives in the order of
// the plan in time, and every send as soon as its data is there, those before it on its
// connection are sent, and what should have come shortly before has. Only the orders are
// kept; those of long pipelines repeat (see treeOrder).
type treeProgram struct {
	b        *treePhases
	plan     *treePlan
	outgoing [][]int32 // by rank: connections
	own      [][]ChunkSet
	first    Buffer      // where a root has what it spreads
	orders   []treeOrder // by rank
}

func newTreeProgram(b *treePhases, ph *Phase) *treeProgram {
	w := &treeProgram{b: b, first: ph.Src}
	up, down := ph.Op != collective.AllGather, ph.Op != collective.ReduceScatter
	if up {
		w.first = Output
	} else if ph.Src == Input {
		w.own = b.own()
	}
	n := b.pieces()
	if n >= 2*settled {
		w.play(newTreePlan(b, up, down, settled))
	}
	if n < 2*settled || !w.repeat(n-settled) {
		w.play(newTreePlan(b, up, down, n))
	}
	w.plan.forget()
	return w
}

// play puts what every rank does in order.
func (w *treeProgram) play(p *treePlan) {
	w.plan, w.outgoing, w.orders = p, p.outgoing(), make([]treeOrder, w.b.ranks)
	var ops []Op
	for r := range w.orders {
		x := treeOrdering{treeWriter: w.writer(int32(r), ops[:0])}
		w.orders[r], ops = x.order(), x.ops
	}
}

// append appends a rank's program.
func (w *treeProgram) append(dst []Op, rank int) []Op {
	o := &w.orders[rank]
	x := w.writer(int32(rank), slices.Grow(dst, len(o.steps)+(o.Times-1)*(o.End-o.First)+1))
	x.spell(o.steps[:o.First])
	for range o.Times {
		x.spell(o.steps[o.First:o.End])
	}
	x.spell(o.steps[o.End:])
	x.copy()
	return x.ops
}

// appendOnce appends what repeats once only, and says where that is.
func (w *treeProgram) appendOnce(dst []Op, rank int) ([]Op, Loop) {
	o := &w.orders[rank]
	x := w.writer(int32(rank), slices.Grow(dst, len(o.steps)+1))
	x.spell(o.steps[:o.First])
	loop := Loop{First: len(x.ops) - len(dst), Times: o.Times}
	x.spell(o.steps[o.First:o.End])
	loop.End = len(x.ops) - len(dst)
	x.spell(o.steps[o.End:])
	x.copy()
	return x.ops, loop
}

// treeWriter spells out what one rank does.
type treeWriter struct {
	*treeProgram
	rank    int32
	copied  bool      // what the rank is the root of
	told    [][]int32 // by outgoing connection: pieces sent, by hop of it
	got     []int32   // by tree: pieces of the result that are there
	summed  []int32   // by tree: pieces whose sums are
	arrived [][]int32 // by tree and child: pieces that have come from it
	ops     []Op
}

func (w *treeProgram) writer(r int32, dst []Op) *treeWriter {
	n := len(w.b.List)
	x := &treeWriter{treeProgram: w, rank: r, got: make([]int32, n), summed: make([]int32, n), arrived: make([][]int32, n), ops: dst}
	x.told = make([][]int32, len(w.outgoing[r]))
	for i, c := range w.outgoing[r] {
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

func (x *treeWriter) spell(steps []treeStep) {
	for _, s := range steps {
		x.do(s)
	}
}

// copy copies what a root has of its own, once.
func (x *treeWriter) copy() {
	if x.copied || x.own == nil {
		return
	}
	x.copied = true
	for _, set := range x.own[x.rank] {
		x.ops = append(x.ops, Op{Kind: Copy, Peer: -1, Src: Loc{Buf: Input, Set: set}, Dst: Loc{Buf: Output, Set: set}})
	}
}

// do appends a step: before it receives anything, a rank copies what it has of its own.
func (x *treeWriter) do(s treeStep) {
	h := x.plan.hopAt(s.hop())
	if s.receives() {
		x.copy()
		x.receive(h)
		return
	}
	piece := x.piece(s.hop())
	buf, _ := x.source(h, *piece)
	x.ops = append(x.ops, Op{Kind: Send, Peer: x.plan.conns[x.plan.hops[s.hop()].conn].to, Src: Loc{Buf: buf, Set: x.chunks(h.tree, *piece)}})
	*piece++
}

// piece counts those sent on a hop.
func (x *treeWriter) piece(h int32) *int32 {
	at := &x.plan.hops[h]
	return &x.told[x.plan.conns[at.conn].place][at.slot]
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
