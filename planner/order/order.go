// Package order decides in which order ranks send and receive what packed trees carry: all
// levels at once, as a pipeline over pieces (see schedule.TreeOrder).
package order

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/symmetry"
)

// Rate is how fast one rank sends to another, in any unit.
type Rate struct {
	From, To int32
	Rate     int64
}

// Trees orders the messages of trees: in one piece, or in any number of them. Each hop has its
// time on its connection once a period: those first for which the most has to wait, each from
// when its data is there, as soon as the connection is free. A period is what the busiest
// connection takes for a piece. Connections without a rate have 1.
//
// T. L. Adam, K. M. Chandy, J. R. Dickson, "A comparison of list schedules for parallel
// processing systems", 1974; B. R. Rau, "Iterative modulo scheduling", 1996.
func Trees(t *schedule.Trees, ranks int, op collective.Kind, rates []Rate, pieces bool) []schedule.TreeOrder {
	p := newPlan(t, ranks, op, rates)
	if !pieces {
		p.period = forEver
	}
	for i := 0; ; i++ {
		p.place()
		if !p.delayed(i < patience) {
			break
		}
	}
	p.take()
	return p.orders()
}

// forEver is the period where there is one piece only.
const forEver = 1 << 62

// patience is how often hops are placed again with as little more time as they need. Then they
// are given twice that, which has an end: nothing is later than all that its connection sends takes.
const patience = 12

// plan is when each hop of the first piece is sent.
type plan struct {
	*schedule.Trees
	ranks    int
	op       collective.Kind
	up, down bool
	children [2][][][]int32 // up (0) or down (1) trees, by tree and rank
	connOf   symmetry.Numbering[[2]int32]
	conns    []conn
	hops     []hop
	list     []int32 // hops that there are, those first for which the most has to wait
	period   int64
}

// conn is what one rank sends to another.
type conn struct {
	rate int64
	hops []int32
	gaps []gap
}

// hop is what one rank of a tree sends to another. Times are those of the first piece.
type hop struct {
	conn   int32
	takes  int64
	togo   int64 // from its start until nothing waits for it any more
	ready  int64 // when the data are there
	ends   int64 // as expected
	margin int64 // how much later it may come
	sent   int64
	comes  int64
	taken  int64 // when it is received
}

// hop numbers the hop between a rank and the one above it in a tree, up (0) or down (1).
func (p *plan) hop(tree int, v int32, down int) int32 { return int32(2*(tree*p.ranks+int(v)) + down) }

func newPlan(t *schedule.Trees, ranks int, op collective.Kind, rates []Rate) *plan {
	p := &plan{Trees: t, ranks: ranks, op: op, up: op != collective.AllGather, down: op != collective.ReduceScatter,
		hops: make([]hop, 2*len(t.List)*ranks)}
	for _, x := range rates {
		p.conns[p.conn(x.From, x.To)].rate = x.Rate
	}
	for i := range t.List {
		for down := range 2 {
			below := make([][]int32, ranks)
			for v, u := range t.List[i].Parents(down == 0) {
				if u < 0 {
					continue
				}
				below[u] = append(below[u], int32(v))
				switch {
				case down == 0 && p.up:
					p.addHop(p.hop(i, int32(v), 0), i, int32(v), u)
				case down == 1 && p.down:
					p.addHop(p.hop(i, int32(v), 1), i, u, int32(v))
				}
			}
			p.children[down] = append(p.children[down], below)
		}
		p.setTogo(i)
	}
	for i := range p.conns {
		var busy int64
		for _, h := range p.conns[i].hops {
			busy += p.hops[h].takes
		}
		p.period = max(p.period, busy)
	}
	slices.SortFunc(p.list, func(a, b int32) int { return cmp.Or(cmp.Compare(p.hops[b].togo, p.hops[a].togo), cmp.Compare(a, b)) })
	return p
}

// tick is how long a connection of rate 1 takes for a chunk; divisible by many rates.
const tick = 55440 << 10

func (p *plan) addHop(h int32, tree int, from, to int32) {
	c := p.conn(from, to)
	p.hops[h] = hop{conn: c, takes: int64(p.List[tree].Weight) * tick / p.conns[c].rate}
	p.conns[c].hops = append(p.conns[c].hops, h)
	p.list = append(p.list, h)
}

// conn is the connection between two ranks.
func (p *plan) conn(from, to int32) int32 {
	c := p.connOf.Of([2]int32{from, to})
	if c == len(p.conns) {
		p.conns = append(p.conns, conn{rate: 1})
	}
	return int32(c)
}

// setTogo follows what waits for what in a tree, from the end.
func (p *plan) setTogo(tree int) {
	root := p.List[tree].Root
	after := make([]int64, p.ranks) // from where a rank has the result, or its sum
	for _, v := range slices.Backward(Outward(p.children[1][tree], root)) {
		for _, c := range p.children[1][tree][v] {
			if h := &p.hops[p.hop(tree, c, 1)]; p.down {
				h.togo = h.takes + after[c]
				after[v] = max(after[v], h.togo)
			}
		}
	}
	for _, v := range Outward(p.children[0][tree], root)[1:] {
		if h := &p.hops[p.hop(tree, v, 0)]; p.up {
			h.togo = h.takes + after[p.List[tree].Parents(true)[v]]
			after[v] = h.togo
		}
	}
}

// Outward has each rank of a tree before those below it.
func Outward(children [][]int32, root int32) []int32 {
	out := []int32{root}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// place gives every hop its time.
func (p *plan) place() {
	for i := range p.conns {
		p.conns[i].gaps = append(p.conns[i].gaps[:0], gap{0, p.period})
	}
	for i := range p.hops {
		p.hops[i].ready = 0
	}
	for _, h := range p.list {
		x := &p.hops[h]
		c := &p.conns[x.conn]
		x.ends = c.take(x.ready, x.takes, p.period)
		p.waiting(h, func(next *hop) { next.ready = max(next.ready, x.ends+x.margin) })
	}
}

// waiting visits the hops that wait for one.
func (p *plan) waiting(h int32, visit func(*hop)) {
	tree, v := int(h/2)/p.ranks, h/2%int32(p.ranks)
	if parent := p.List[tree].Parents(true); h%2 == 0 {
		if v = parent[v]; parent[v] >= 0 {
			visit(&p.hops[p.hop(tree, v, 0)])
			return
		}
	}
	for _, c := range p.children[1][tree][v] {
		if p.down {
			visit(&p.hops[p.hop(tree, c, 1)])
		}
	}
}
