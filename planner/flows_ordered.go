package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/internal/heap"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildOrderedFlows is flows whose messages are sent one by one, in an order that is found by playing them out: each link takes one
// at a time, first what has the fullest link ahead of it, of equal ones what has the longest way to go. A pipeline over slices has all
// messages of all pairs in each slice, and its first hops run ahead of its last ones; here, parts are small since pairs are many. Only for
// direct links: what shares one behind a switch goes at once, whatever the order.
//
// F. T. Leighton, B. M. Maggs, S. B. Rao, "Packet routing and job-shop scheduling in O(congestion + dilation) steps", 1994;
// T. L. Adam, K. M. Chandy, J. R. Dickson, "A comparison of list schedules for parallel processing systems", 1974.
func buildOrderedFlows(r *request) (*schedule.Schedule, error) {
	g, err := r.flowGraph()
	if err != nil {
		return nil, err
	}
	if len(g.rates) > r.spec.Ranks || r.t.NumNodes() > 1 {
		return nil, notApplicable("links are shared behind switches")
	}
	f := r.shortOver(g)
	if f == nil {
		f = r.fewOver(g)
	}
	x := f.parcels(r.spec.Ranks, r.slices())
	if len(x.list) == 0 {
		return nil, notApplicable("there are no data")
	}
	x.play()
	return of(x.channel(r)), nil
}

// parcel is a part of the data of a pair on its way.
type parcel struct {
	pathMessage         // its path: of all vertices
	size        float64 // in units
	fullest     []float64
	at          int // how far on its path
	hops        []handing
}

// handing is of a parcel from rank to rank: when it is sent, and when the other has to have taken it.
type handing struct {
	from, to   int32
	sent, take float64
}

// parcels are all of a flow, and what waits for each link.
type parcels struct {
	*flow
	ranks, units int
	list         []parcel
	waiting      []*heap.Heap[*parcel] // by link
	busy         []bool
	coming       *heap.Heap[coming]
	turns        int // of what has been sent
}

// coming is when a parcel is at its next vertex.
type coming struct {
	p    *parcel
	time float64
	turn int
}

// parcels cuts each message into so many.
func (f *flow) parcels(ranks, pieces int) *parcels {
	own := f.copied()
	own.fullest()
	n := len(f.g)
	x := &parcels{flow: own, ranks: ranks, units: f.units * pieces, waiting: make([]*heap.Heap[*parcel], n*n), busy: make([]bool, n*n)}
	x.coming = heap.New(func(a, b coming) bool { return a.time < b.time || a.time == b.time && a.turn < b.turn })
	for pair := range n * n {
		for _, m := range appendMessages(nil, int32(pair/n), int32(pair%n), f.paths[pair*f.units:(pair+1)*f.units]) {
			size := float64(m.count) * f.size(pair*f.units) / float64(pieces)
			fullest := x.fullestAhead(m.path)
			for i := range int32(pieces) {
				part := m
				part.unit = m.unit*int32(pieces) + i*m.count
				x.list = append(x.list, parcel{pathMessage: part, size: size, fullest: fullest})
			}
		}
	}
	return x
}

// fullestAhead is, by vertex of a path, the load of the fullest link beyond the next one.
func (x *parcels) fullestAhead(path []int32) []float64 {
	out := make([]float64, len(path))
	for i := len(path) - 3; i >= 0; i-- {
		out[i] = max(out[i+1], x.load[path[i+1]][path[i+2]])
	}
	return out
}

// before is the order in which a link takes what waits.
func (p *parcel) before(o *parcel) bool {
	return cmp.Or(cmp.Compare(o.fullest[o.at], p.fullest[p.at]), cmp.Compare(len(o.path)-o.at, len(p.path)-p.at),
		cmp.Compare(p.unit, o.unit), cmp.Compare(p.dst, o.dst), cmp.Compare(p.src, o.src)) < 0
}

// play moves all parcels along their paths.
func (x *parcels) play() {
	for i := range x.list {
		x.wait(&x.list[i])
	}
	for link := range x.busy {
		x.send(link, 0)
	}
	for x.coming.Len() > 0 {
		c := x.coming.Pop()
		link := x.next(c.p)
		x.busy[link] = false
		c.p.at++
		h := &c.p.hops[len(c.p.hops)-1]
		h.to = c.p.path[c.p.at]
		if c.p.at < len(c.p.path)-1 {
			x.wait(c.p)
			x.send(x.next(c.p), c.time)
		}
		x.send(link, c.time)
	}
}

// next is the link that a parcel takes next.
func (x *parcels) next(p *parcel) int { return int(p.path[p.at])*len(x.g) + int(p.path[p.at+1]) }

func (x *parcels) wait(p *parcel) {
	link := x.next(p)
	if x.waiting[link] == nil {
		x.waiting[link] = heap.New((*parcel).before)
	}
	x.waiting[link].Push(p)
}

// send gives a link that is free what waits for it.
func (x *parcels) send(link int, now float64) {
	if x.busy[link] || x.waiting[link] == nil || x.waiting[link].Len() == 0 {
		return
	}
	p := x.waiting[link].Pop()
	x.busy[link] = true
	p.hops = append(p.hops, handing{from: p.path[p.at], sent: now, take: math.Inf(1)})
	x.turns++
	x.coming.Push(coming{p, now + p.size/x.g[link/len(x.g)][link%len(x.g)], x.turns})
}

// action is what a rank does with a parcel.
type action struct {
	at, come float64
	op       schedule.Op
}

// channel is all parcels, sent in the order of their times, and each taken when it or one that its rank sent behind it has to be passed on:
// what is late then holds up nothing that does not need it.
func (x *parcels) channel(r *request) schedule.Channel {
	x.takeLate()
	actions := make([][]action, x.ranks)
	rooms := scratchPlaces{counts: r.spec.Kind == collective.AllToAllV, n: int32(x.ranks), units: int32(x.units),
		used: make([]int32, x.ranks*x.units)}
	for i := range x.list {
		p := &x.list[i]
		in, out := blocks(r.spec.Kind, int(p.src), int(p.dst))
		at := schedule.Loc{Buf: schedule.Input, Set: schedule.Range(int32(in)*rooms.units+p.unit, p.count)}
		for _, h := range p.hops {
			to := schedule.Loc{Buf: schedule.Output, Set: schedule.Range(int32(out)*rooms.units+p.unit, p.count)}
			if h.to != p.dst {
				to = schedule.Loc{Buf: schedule.Scratch, Set: schedule.Range(rooms.place(h.to, &p.pathMessage), p.count)}
			}
			actions[h.from] = append(actions[h.from], action{h.sent, math.Inf(1), schedule.Op{Kind: schedule.Send, Peer: h.to, Src: at}})
			actions[h.to] = append(actions[h.to], action{h.take, h.sent, schedule.Op{Kind: schedule.Recv, Peer: h.from, Dst: to}})
			at = to
		}
	}
	programs := make([]schedule.Program, x.ranks)
	for v := range programs {
		slices.SortStableFunc(actions[v], func(a, b action) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.come, b.come)) })
		if carries(r.spec, v, v) && r.spec.Kind != collective.Barrier {
			own := schedule.Range(int32(v*x.units), int32(x.units))
			programs[v] = schedule.Program{{Kind: schedule.Copy, Peer: -1, Src: schedule.Loc{Buf: schedule.Input, Set: own},
				Dst: schedule.Loc{Buf: schedule.Output, Set: own}}}
		}
		for _, a := range actions[v] {
			programs[v] = append(programs[v], a.op)
		}
	}
	return schedule.Channel{Share: 1, Slices: 1, Chunks: r.chunksFor(x.ranks) * x.units, Phases: []schedule.Phase{{Gen: schedule.GenOps,
		Op: r.spec.Kind, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output, Ops: programs}}}
}

// takeLate finds by when ranks have to take what comes: when they pass it on, or anything that was sent behind it.
func (x *parcels) takeLate() {
	connections := make([][]*handing, x.ranks*x.ranks)
	for i := range x.list {
		hops := x.list[i].hops
		for k := range hops {
			h := &hops[k]
			if k+1 < len(hops) {
				h.take = hops[k+1].sent
			}
			c := int(h.from)*x.ranks + int(h.to)
			connections[c] = append(connections[c], h)
		}
	}
	for _, list := range connections {
		slices.SortStableFunc(list, func(a, b *handing) int { return cmp.Compare(a.sent, b.sent) })
		for i := len(list) - 2; i >= 0; i-- {
			list[i].take = min(list[i].take, list[i+1].take)
		}
	}
}

// orderedDepths are into how many parcels messages are cut: many pairs are small parts as they are.
func orderedDepths(r *request) []int { return upTo(pipelined, r.o.Budget.part(mostParcels)/r.pairs()) }

// mostParcels is up to how many parcels messages are cut into pieces for, each of which is a message at every hop.
const mostParcels = 10_000
