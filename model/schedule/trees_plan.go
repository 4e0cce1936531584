package schedule

import (
	"cmp"
	"container/heap"
	"slices"
)

// treePlan settles in which order all messages of trees are sent where no phases part
// them: up (sums), down (results), or both. It plays them in time: a connection that is
// free sends, of what is there, the piece that comes first, and of that what has the
// longest way to go.
type treePlan struct {
	b        *treePhases
	up, down bool

	conns   []treeConn
	connOf  map[[2]int32]int32
	height  [][]int32 // by tree and rank: hops to the farthest rank below
	missing []int32   // by tree, piece and rank: children whose sums have not come
	busy    running
	arrived [][]int32 // by rank: jobs that come to it, in order
}

// treeConn is what one rank sends to another. Jobs count tree, piece, rank, and whether
// it is the hop above that rank upwards (even) or downwards (odd).
type treeConn struct {
	rate  int64
	ready waiting
	busy  bool
	order []int32 // jobs as they are sent
}

// newTreePlan plays all messages.
func newTreePlan(b *treePhases, up, down bool) *treePlan {
	p := &treePlan{b: b, up: up, down: down, connOf: map[[2]int32]int32{}, height: make([][]int32, len(b.List)), arrived: make([][]int32, b.ranks)}
	p.missing = make([]int32, len(b.List)*b.pieces()*b.ranks)
	for i := range b.List {
		p.height[i] = b.heights(i)
		for _, u := range b.List[i].Parent {
			if u < 0 {
				continue
			}
			for k := range b.pieces() {
				p.missing[(i*b.pieces()+k)*b.ranks+int(u)]++
			}
		}
	}
	for _, x := range b.Rates {
		p.conns[p.conn(x.From, x.To)].rate = int64(x.Rate)
	}
	p.play()
	return p
}

// conn is the number of the connection between two ranks.
func (p *treePlan) conn(from, to int32) int32 {
	key := [2]int32{from, to}
	c, ok := p.connOf[key]
	if !ok {
		c = int32(len(p.conns))
		p.connOf[key] = c
		p.conns = append(p.conns, treeConn{rate: 1})
	}
	return c
}

// heights are the hops from each rank of a tree to the farthest one below it.
func (b *treePhases) heights(tree int) []int32 {
	out := make([]int32, b.ranks)
	for v := range out {
		for u, h := b.List[tree].Parent[v], int32(1); u >= 0 && out[u] < h; u, h = b.List[tree].Parent[u], h+1 {
			out[u] = h
		}
	}
	return out
}

func (p *treePlan) job(tree, piece int, v int32, down int32) int32 {
	return int32((tree*p.b.pieces()+piece)*p.b.ranks+int(v))*2 + down
}

// treeJob is a message: a piece of a tree's chunks on the hop above a rank.
type treeJob struct {
	tree, piece int
	v           int32
	down        bool
}

func (p *treePlan) jobAt(j int32) treeJob {
	n := int(j / 2)
	return treeJob{n / p.b.ranks / p.b.pieces(), n / p.b.ranks % p.b.pieces(), int32(n % p.b.ranks), j%2 == 1}
}

// ends are the ranks between which a message goes.
func (p *treePlan) ends(j treeJob) (from, to int32) {
	parent := p.b.List[j.tree].Parent[j.v]
	if j.down {
		return parent, j.v
	}
	return j.v, parent
}

// tick is how long a connection of rate 1 takes for a chunk; divisible by many rates.
const tick = 55440 << 10

func (p *treePlan) play() {
	for i := range p.b.List {
		for k := range p.b.pieces() {
			for v := range int32(p.b.ranks) {
				if p.up && p.height[i][v] == 0 {
					p.summed(i, k, v)
				} else if !p.up && p.b.List[i].Parent[v] < 0 {
					p.spread(i, k, v)
				}
			}
		}
	}
	var now int64
	for p.start(now); len(p.busy) > 0; p.start(now) {
		for now = p.busy[0].end; len(p.busy) > 0 && p.busy[0].end == now; {
			p.finish(heap.Pop(&p.busy).(sending))
		}
	}
}

// summed says that a rank has the sum of its part of a tree.
func (p *treePlan) summed(tree, piece int, v int32) {
	if p.b.List[tree].Parent[v] >= 0 {
		p.queue(treeJob{tree, piece, v, false})
	} else if p.down {
		p.spread(tree, piece, v)
	}
}

// spread says that a rank has what it hands on to those below.
func (p *treePlan) spread(tree, piece int, v int32) {
	for _, c := range p.b.below(tree, v) {
		p.queue(treeJob{tree, piece, c, true})
	}
}

func (p *treePlan) queue(j treeJob) {
	var down int32
	togo := p.b.depth[j.tree][j.v]
	if j.down {
		down, togo = 1, p.height[j.tree][j.v]
	} else if p.down {
		togo += int32(p.b.high)
	}
	heap.Push(&p.conns[p.conn(p.ends(j))].ready, waitingJob{int32(j.piece), togo, p.job(j.tree, j.piece, j.v, down)})
}

// start lets all free connections send.
func (p *treePlan) start(now int64) {
	for c := range p.conns {
		x := &p.conns[c]
		if x.busy || len(x.ready) == 0 {
			continue
		}
		j := heap.Pop(&x.ready).(waitingJob).job
		x.busy = true
		x.order = append(x.order, j)
		chunks := int64(p.b.List[p.jobAt(j).tree].Weight) / int64(p.b.pieces())
		heap.Push(&p.busy, sending{now + chunks*tick/x.rate, int32(c), j})
	}
}

// finish is the arrival of a message.
func (p *treePlan) finish(s sending) {
	p.conns[s.conn].busy = false
	j := p.jobAt(s.job)
	_, to := p.ends(j)
	p.arrived[to] = append(p.arrived[to], s.job)
	if j.down {
		p.spread(j.tree, j.piece, j.v)
		return
	}
	left := &p.missing[(j.tree*p.b.pieces()+j.piece)*p.b.ranks+int(to)]
	if *left--; *left == 0 {
		p.summed(j.tree, j.piece, to)
	}
}

// waitingJob is a message that could be sent.
type waitingJob struct{ piece, togo, job int32 }

// waiting is a heap of them: the first piece first, then the longest way.
type waiting []waitingJob

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w[i].piece, w[j].piece), cmp.Compare(w[j].togo, w[i].togo), cmp.Compare(w[i].job, w[j].job)) < 0
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(x any)   { *w = append(*w, x.(waitingJob)) }
func (w *waiting) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// sending is a message on its way.
type sending struct {
	end  int64
	conn int32
	job  int32
}

// running is a heap of them by when they arrive.
type running []sending

func (r running) Len() int { return len(r) }
func (r running) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(r[i].end, r[j].end), cmp.Compare(r[i].conn, r[j].conn)) < 0
}
func (r running) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *running) Push(x any)   { *r = append(*r, x.(sending)) }
func (r *running) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// outgoing are a rank's connections, by the rank that they lead to.
func (p *treePlan) outgoing() [][]int32 {
	out := make([][]int32, p.b.ranks)
	type end struct{ from, to, conn int32 }
	var ends []end
	for key, c := range p.connOf {
		ends = append(ends, end{key[0], key[1], c})
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, e := range ends {
		out[e.from] = append(out[e.from], e.conn)
	}
	return out
}
