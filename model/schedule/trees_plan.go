package schedule

import (
	"cmp"
	"slices"
)

// treePlan settles in which order all messages of trees are sent where no phases part
// them: up (sums), down (results), or both. It plays them in time: a connection that is
// free sends, of what is there, what is due first (see setDue). Were the oldest piece
// always first, links would idle while the last pieces go their long ways; were the
// longest way always first, early hops would run ahead of late ones. The pieces of a hop
// follow one another, and that hop k of an order is of piece n says how often it stands
// there before.
type treePlan struct {
	b        *treePhases
	up, down bool
	pieces   int32

	conns   []treeConn
	connOf  map[[2]int32]int32
	hops    []hopState
	touched []int32 // connections that may have something to send
	numbers int32   // how many connections have one
	sending moments
	arrived [][]int32 // by rank: hops that bring it a piece, in order
	came    [][]int64 // and when
	lately  []int32   // by rank: how many of them had come before the last message was sent
	lead    int64     // how long before its time a message may be sent: connections that ran ahead of others on a link would leave it idle later
	period  int64     // what the busiest connection takes for a piece
	window
}

// treeConn is what one rank sends to another.
type treeConn struct {
	from, to int32
	rate     int64
	number   int32    // by first use, which settles ties; −1: none yet
	hops     []int32  // what is due first
	ready    []uint64 // heap of what could be sent: when it is due, and index into hops
	place    int32    // among those of its sender
	busy     bool
	order    []int32 // hops as they are sent
	after    []int32 // and how many messages have come to the sender before each (see lead)
	starts   []int64 // and when
}

// hopState is the hop between a rank and the one above it in a tree, upwards or
// downwards (see hop).
type hopState struct {
	conn, slot  int32  // slot is its place in the connection's hops
	due         uint32 // its first piece
	there, sent int32  // pieces that can be sent, pieces sent
	arrived     int32  // pieces that have come
}

// hop counts tree, rank, and whether it leads up to the rank above (0) or down from it (1).
func (p *treePlan) hop(tree int, v, down int32) int32 {
	return int32(tree*p.b.ranks+int(v))*2 + down
}

// treeHop is a hop spelled out.
type treeHop struct {
	tree int
	v    int32
	down bool
}

func (p *treePlan) hopAt(h int32) treeHop {
	n := int(h / 2)
	return treeHop{n / p.b.ranks, int32(n % p.b.ranks), h%2 == 1}
}

// newTreePlan plays all messages of so many pieces.
func newTreePlan(b *treePhases, up, down bool, pieces int) *treePlan {
	p := &treePlan{b: b, up: up, down: down, pieces: int32(pieces), connOf: map[[2]int32]int32{}, arrived: make([][]int32, b.ranks), came: make([][]int64, b.ranks), lately: make([]int32, b.ranks),
		sending: moments{at: map[int64][]sending{}}}
	p.hops = make([]hopState, 2*len(b.List)*b.ranks)
	for _, x := range b.Rates {
		c := p.conn(x.From, x.To)
		p.conns[c].rate = int64(x.Rate)
		p.numbered(c)
	}
	for i := range b.List {
		for v, u := range b.List[i].Parent {
			if u < 0 {
				continue
			}
			if up {
				p.addHop(p.hop(i, int32(v), 0), int32(v), u)
			}
			if down {
				p.addHop(p.hop(i, int32(v), 1), u, int32(v))
			}
		}
	}
	p.setDue()
	p.play()
	return p
}

func (p *treePlan) addHop(h, from, to int32) {
	c := p.conn(from, to)
	p.hops[h] = hopState{conn: c}
	p.all++
	p.conns[c].hops = append(p.conns[c].hops, h)
}

// conn is the connection between two ranks.
func (p *treePlan) conn(from, to int32) int32 {
	key := [2]int32{from, to}
	c, ok := p.connOf[key]
	if !ok {
		c = int32(len(p.conns))
		p.connOf[key] = c
		p.conns = append(p.conns, treeConn{from: from, to: to, rate: 1, number: -1})
	}
	return c
}

func (p *treePlan) numbered(c int32) {
	if p.conns[c].number < 0 {
		p.conns[c].number = p.numbers
		p.numbers++
	}
}

// tick is how long a connection of rate 1 takes for a chunk; divisible by many rates.
const tick = 55440 << 10

func (p *treePlan) play() {
	pieces := p.pieces
	for i := range p.b.List {
		for v := range int32(p.b.ranks) {
			if p.up && len(p.b.below(i, v)) == 0 {
				p.summed(i, v, pieces)
			} else if !p.up && p.b.List[i].Parent[v] < 0 {
				p.spread(i, v, pieces)
			}
		}
	}
	for p.start(0); len(p.sending.ends) > 0; {
		now, ended := p.sending.next()
		slices.SortFunc(ended, func(a, b sending) int { return cmp.Compare(a.number, b.number) })
		for _, s := range ended {
			p.finish(s, now)
		}
		p.start(now)
	}
}

// summed says that a rank has the sums of more pieces of its part of a tree.
func (p *treePlan) summed(tree int, v, pieces int32) {
	if p.b.List[tree].Parent[v] >= 0 {
		p.queue(p.hop(tree, v, 0), pieces)
	} else if p.down {
		p.spread(tree, v, pieces)
	}
}

// spread says that a rank has more pieces to hand on to those below.
func (p *treePlan) spread(tree int, v, pieces int32) {
	for _, c := range p.b.below(tree, v) {
		p.queue(p.hop(tree, c, 1), pieces)
	}
}

func (p *treePlan) queue(h, pieces int32) {
	x := &p.hops[h]
	x.there += pieces
	if x.there-x.sent > pieces {
		return // it stands in line already
	}
	p.numbered(x.conn)
	p.conns[x.conn].line(x)
	p.touched = append(p.touched, x.conn)
}

// line puts the next piece of a hop in line.
func (c *treeConn) line(x *hopState) {
	c.ready = pushLeast(c.ready, (uint64(x.sent)*dueParts+uint64(x.due))<<32|uint64(x.slot))
}

// start lets all free connections send.
func (p *treePlan) start(now int64) {
	for _, c := range p.touched {
		k := &p.conns[c]
		if k.busy || len(k.ready) == 0 || p.holds(c, k.ready[0]) {
			continue
		}
		var first uint64
		first, k.ready = popLeast(k.ready)
		h := k.hops[uint32(first)]
		x := &p.hops[h]
		if x.sent++; x.sent < x.there {
			k.line(x)
		}
		k.busy = true
		k.order, k.starts = append(k.order, h), append(k.starts, now)
		k.after = append(k.after, p.cameBefore(k.from, now-p.lead))
		p.sending.add(now+p.takes(h), sending{k.number, c, h})
	}
	p.touched = p.touched[:0]
}

// cameBefore is how many messages had come to a rank; for times that do not fall.
func (p *treePlan) cameBefore(rank int32, time int64) int32 {
	n := p.lately[rank]
	for int(n) < len(p.came[rank]) && p.came[rank][n] <= time {
		n++
	}
	p.lately[rank] = n
	return n
}

// finish is the arrival of a message.
func (p *treePlan) finish(s sending, now int64) {
	k, h := &p.conns[s.conn], p.hopAt(s.hop)
	k.busy = false
	p.touched = append(p.touched, s.conn)
	p.arrived[k.to] = append(p.arrived[k.to], s.hop)
	p.came[k.to] = append(p.came[k.to], now)
	x := &p.hops[s.hop]
	x.arrived++
	p.passed(x.arrived)
	if h.down {
		p.spread(h.tree, h.v, 1)
		return
	}
	for _, sibling := range p.b.below(h.tree, k.to) {
		if p.hops[p.hop(h.tree, sibling, 0)].arrived < x.arrived {
			return // its part is not in
		}
	}
	p.summed(h.tree, k.to, 1)
}

// sending is a message on its way.
type sending struct{ number, conn, hop int32 }

// moments are the messages on their way, by when they arrive.
type moments struct {
	ends  []int64 // heap
	at    map[int64][]sending
	spare [][]sending
}

func (m *moments) add(end int64, s sending) {
	list, ok := m.at[end]
	if !ok {
		m.ends = pushLeast(m.ends, end)
		if n := len(m.spare); n > 0 {
			list, m.spare = m.spare[n-1][:0], m.spare[:n-1]
		}
	}
	m.at[end] = append(list, s)
}

// next are those that arrive first; valid until more are added.
func (m *moments) next() (int64, []sending) {
	var end int64
	end, m.ends = popLeast(m.ends)
	list := m.at[end]
	delete(m.at, end)
	m.spare = append(m.spare, list)
	return end, list
}

// outgoing are a rank's connections, by the rank that they lead to.
func (p *treePlan) outgoing() [][]int32 {
	out := make([][]int32, p.b.ranks)
	for c := range p.conns {
		from := p.conns[c].from
		out[from] = append(out[from], int32(c))
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(p.conns[a].to, p.conns[b].to) })
		for i, c := range list {
			p.conns[c].place = int32(i)
		}
	}
	return out
}

// forget leaves the hops and their connections.
func (p *treePlan) forget() {
	p.came, p.arrived, p.by = nil, nil, nil
	for c := range p.conns {
		k := &p.conns[c]
		k.order, k.after, k.starts, k.ready = nil, nil, nil, nil
	}
}
