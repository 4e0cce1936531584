package schedule

import (
	"cmp"
	"slices"

	"railyard/model/collective"
)

// A phase that takes all levels of trees at once is a pipeline over their pieces whose order
// is data: what a rank does comes round once a period, in one order, and each of it some
// periods after the first, so that in period q it is done for piece q−after. Before the first
// piece and behind the last there is nothing to do.
//
// B. R. Rau, "Iterative modulo scheduling", 1996, has loops of programs in this form.

// Loop is a part of a program, ops[First:End], that runs so many times.
type Loop struct{ First, End, Times int }

// TreeOrder is what a rank does in a period: the numbers of its ends (see Trees.Ends) in order.
type TreeOrder struct {
	Ends  RankList `json:"ends"`
	After RankList `json:"after,omitempty"` // by place in Ends: periods after the first; none: 0
}

// maxAfter bounds the periods between a piece's first hop and its last.
const maxAfter = 1 << 16

func (o *TreeOrder) after(i int) int {
	if o.After == nil {
		return 0
	}
	return int(o.After[i])
}

// last is the most periods that something comes after the first.
func lastAfter(orders []TreeOrder) int {
	last := 0
	for i := range orders {
		if len(orders[i].After) > 0 {
			last = max(last, int(slices.Max(orders[i].After)))
		}
	}
	return last
}

// TreeEnd is one end of a hop: what a rank sends to a peer or receives from it.
type TreeEnd struct {
	Tree, Peer int32
	Up         bool // a sum, towards the root; else a result, away from it
	Receives   bool
}

// Ends are all hops of a collective as each rank sees them. They are numbered from 0, tree by
// tree: sums from the children, in the order of ranks, and to the parent; results from the
// parent, and to the children.
func (t *Trees) Ends(op collective.Kind, ranks int) [][]TreeEnd {
	out := make([][]TreeEnd, ranks)
	add := func(rank, peer int32, tree int, up, receives bool) {
		if rank >= 0 && peer >= 0 {
			out[rank] = append(out[rank], TreeEnd{int32(tree), peer, up, receives})
		}
	}
	for i := range t.List {
		children := func(up bool) {
			for v, u := range t.List[i].Parents(up) {
				add(u, int32(v), i, up, up)
			}
		}
		parents := func(up bool) {
			for v, u := range t.List[i].Parents(up) {
				add(int32(v), u, i, up, !up)
			}
		}
		if op != collective.AllGather {
			children(true)
			parents(true)
		}
		if op != collective.ReduceScatter {
			parents(false)
			children(false)
		}
	}
	return out
}

// orderedTrees are the programs of such a phase.
type orderedTrees struct {
	ops    [][]Op // by rank: of the first piece, in the order of a period
	orders []TreeOrder
	own    [][]ChunkSet // that a rank copies before it receives anything
	size   []int32      // by tree: chunks of a piece
	trees  [][]int32    // by rank and operation
	pieces int
	last   int // periods until everything goes on
}

func (b *treePhases) ordered(ph *Phase) *orderedTrees {
	o := &orderedTrees{orders: ph.Order, pieces: b.pieces(), last: lastAfter(ph.Order), ops: make([][]Op, b.ranks),
		trees: make([][]int32, b.ranks)}
	if ph.Op == collective.AllGather && ph.Src == Input {
		o.own = b.own()
	}
	if b.sketched != nil { // whole trees at once
		o.orders, o.pieces, o.last = make([]TreeOrder, b.ranks), 1, 0
	}
	for i := range b.List {
		o.size = append(o.size, b.List[i].Weight/int32(o.pieces))
	}
	for r, ends := range b.Ends(ph.Op, b.ranks) {
		if b.leaves(int32(r)) {
			continue
		}
		w := pieceWriter{treePhases: b, rank: int32(r), ends: ends, order: &o.orders[r], from: ph.Src, size: o.size}
		if ph.Op == collective.AllReduce {
			w.from = Output
		}
		for i := range ends {
			if b.sketched != nil {
				w.order.Ends = append(w.order.Ends, int32(i))
			}
		}
		o.ops[r], o.trees[r] = w.write()
	}
	return o
}

// pieceWriter writes what a rank does with the first piece of every tree.
type pieceWriter struct {
	*treePhases
	rank  int32
	ends  []TreeEnd
	order *TreeOrder
	from  Buffer // where a root has its result
	size  []int32
}

func (w *pieceWriter) write() (ops []Op, trees []int32) {
	first, last := w.sumEnds()
	for i, n := range w.order.Ends {
		e := w.ends[n]
		set := Range(w.chunks[e.Tree].First, w.size[e.Tree])
		ops, trees = append(ops, w.op(e, set, first[e.Tree] == i, last[e.Tree] == i)), append(trees, e.Tree)
	}
	return ops, trees
}

// sumEnds are the places in the order where the rank receives the first and the last part of the
// sum of a piece, by tree.
func (w *pieceWriter) sumEnds() (first, last map[int32]int) {
	first, last = map[int32]int{}, map[int32]int{}
	before := func(i, j int) bool {
		return cmp.Or(cmp.Compare(w.order.after(i), w.order.after(j)), cmp.Compare(i, j)) < 0
	}
	for i, n := range w.order.Ends {
		e := w.ends[n]
		if !e.Up || !e.Receives {
			continue
		}
		if at, ok := first[e.Tree]; !ok || before(i, at) {
			first[e.Tree] = i
		}
		if at, ok := last[e.Tree]; !ok || before(at, i) {
			last[e.Tree] = i
		}
	}
	return first, last
}

// op is what happens at an end; of a sum, whether it is the first part or the last.
func (w *pieceWriter) op(e TreeEnd, set ChunkSet, first, last bool) Op {
	root := w.List[e.Tree].Root == w.rank
	switch {
	case e.Receives && !e.Up:
		return Op{Kind: Recv, Peer: e.Peer, Dst: at(Output, set)}
	case e.Receives:
		own, to := Scratch, Scratch
		if first {
			own = Input
		}
		if last && root {
			to = Output
		}
		return Op{Kind: RecvReduce, Peer: e.Peer, Src: at(own, set), Dst: at(to, set)}
	case e.Up && len(w.treePhases.sums.children[e.Tree][w.rank]) > 0:
		return Op{Kind: Send, Peer: e.Peer, Src: at(Scratch, set)}
	case e.Up:
		return Op{Kind: Send, Peer: e.Peer, Src: at(Input, set)}
	case root:
		return Op{Kind: Send, Peer: e.Peer, Src: at(w.from, set)}
	}
	return Op{Kind: Send, Peer: e.Peer, Src: at(Output, set)}
}

// append appends a rank's program.
func (o *orderedTrees) append(dst []Op, rank int) []Op {
	x := o.writer(dst, rank)
	x.periods(0, o.pieces+o.last)
	x.copy()
	return x.ops
}

// appendOnce appends what repeats once only, and says where that is.
func (o *orderedTrees) appendOnce(dst []Op, rank int) ([]Op, Loop) {
	if o.pieces <= o.last {
		return o.append(dst, rank), Loop{}
	}
	x := o.writer(dst, rank)
	x.periods(0, o.last)
	loop := Loop{First: len(x.ops) - len(dst), Times: o.pieces - o.last}
	x.periods(o.last, o.last+1)
	loop.End = len(x.ops) - len(dst)
	x.periods(o.pieces, o.pieces+o.last)
	x.copy()
	return x.ops, loop
}

// orderWriter writes a rank's program.
type orderWriter struct {
	*orderedTrees
	rank   int
	copied bool
	ops    []Op
}

func (o *orderedTrees) writer(dst []Op, rank int) *orderWriter {
	return &orderWriter{orderedTrees: o, rank: rank, ops: slices.Grow(dst, len(o.ops[rank])*(o.last+1)+1)}
}

func (x *orderWriter) periods(first, end int) {
	for q := first; q < end; q++ {
		if q == x.last && x.pieces > q+1 {
			x.copy() // rather than in a loop
		}
		for i, op := range x.orderedTrees.ops[x.rank] {
			piece := q - x.orders[x.rank].after(i)
			if piece < 0 || piece >= x.pieces {
				continue
			}
			d := int32(piece) * x.size[x.trees[x.rank][i]]
			if op.Kind != Recv {
				op.Src.Set.First += d
			}
			if op.Kind != Send {
				op.Dst.Set.First += d
				x.copy()
			}
			x.ops = append(x.ops, op)
		}
	}
}

// copy copies what a root has of its own, once.
func (x *orderWriter) copy() {
	if x.copied || x.own == nil {
		return
	}
	x.copied = true
	for _, set := range x.own[x.rank] {
		x.ops = append(x.ops, Op{Kind: Copy, Peer: -1, Src: at(Input, set), Dst: at(Output, set)})
	}
}
