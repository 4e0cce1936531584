package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/schedule"
	"railyard/model/symmetry"
)

// buildOrderedFlows is flows whose messages are sent one by one, in an order that is found by playing them out: each rank sends
// what is due, as far as links have not more ahead of them than for a share of the time of all, and goes on when something comes in. A
// pipeline over slices has all messages of all pairs in each slice, and its first hops run ahead of its last ones; where all
// connections of a port share it at once, what has to be passed on gets no more than what ends there, and comes late. Here few
// messages are under way at a time, each early enough for what follows it.
//
// F. T. Leighton, B. M. Maggs, S. B. Rao, "Packet routing and job-shop scheduling in O(congestion + dilation) steps", 1994;
// T. L. Adam, K. M. Chandy, J. R. Dickson, "A comparison of list schedules for parallel processing systems", 1974; by due dates:
// J. R. Jackson, 1955; rates by progressive filling: D. Bertsekas, R. Gallager, "Data Networks", 1992.
func buildOrderedFlows(r *request) (*schedule.Schedule, error) {
	g, err := r.flowGraph()
	if err != nil {
		return nil, err
	}
	f := r.shortOver(g)
	if f == nil {
		f = r.fewOver(g)
	}
	x := f.parcels(r)
	if len(x.list) == 0 || len(x.list) > r.o.Budget.part(mostParcels) {
		return nil, notApplicable("there are no data, or too many parts of them")
	}
	best := x.best(r)
	s := of(best.channel(r))
	s.Paths = r.pathsOf(f.switchPaths().Paths(r.t))
	return s, nil
}

// best is the fastest play of those that look so far ahead, as far as they do not take too much work.
func (x *parcels) best(r *request) *play {
	best := x.play(r.spec, x.full/20)
	best.run(math.Inf(1), math.MaxInt)
	for _, ahead := range []float64{x.full / 5, math.Inf(1)} {
		if p := x.play(r.spec, ahead); p.run(best.now, r.o.Budget.part(ofPlay)) {
			best = p
		}
	}
	return best
}

// parcel is a part of the data of a pair on its way.
type parcel struct {
	pathMessage         // its path: of ranks
	size        float64 // in units
	hops        []*hopConnection
	due         []float64 // by hop: when it should be sent
}

// parcels are all of a flow, and the connections that they take.
type parcels struct {
	*flow
	units       int // of a pair: parcels are so many of these
	list        []parcel
	connections []*hopConnection
	loads       []float64 // by link: for how long units take it
}

// hopConnection is from rank to rank, over the links that its data take in fixed shares.
type hopConnection struct {
	from, to int32
	number   int
	links    []linkShare
	units    float64 // that go over it
	rate     float64 // when nothing else is under way
}

// linkShare is for how long a link works for a unit of what a connection carries.
type linkShare struct {
	link  int32
	share float64
}

// parcels cuts messages where their slowest link takes long for them.
func (f *flow) parcels(r *request) *parcels {
	own := f.copied()
	own.fullest()
	fine := max(1, finestUnits/f.units)
	x := &parcels{flow: own, units: f.units * fine}
	of := x.connect()
	for pair := range f.g.Vertices * f.g.Vertices {
		for _, m := range appendMessages(nil, int32(pair/f.g.Vertices), int32(pair%f.g.Vertices), f.paths[pair*f.units:(pair+1)*f.units]) {
			p := parcel{pathMessage: m, size: float64(m.count) * f.size(pair*f.units)}
			slowest := 0.0
			for h, path := range f.hops(m.path) {
				c := of[[2]int32{path[0], path[len(path)-1]}]
				if h == 0 {
					p.path = []int32{c.from}
				}
				p.path, p.hops, slowest = append(p.path, c.to), append(p.hops, c), max(slowest, p.size/c.rate)
			}
			p.unit, p.count = p.unit*int32(fine), p.count*int32(fine)
			pieces := int32(1)
			if r.slices() > 1 {
				pieces = int32(math.Ceil(slowest / own.full * float64(piecesOfSlice*r.slices())))
			}
			x.cut(p, min(pieces, p.count))
		}
	}
	x.setDue(r.spec.Ranks)
	return x
}

const (
	finestUnits   = 64 // of a pair, about: what parcels are cut into
	piecesOfSlice = 8  // a message that keeps its slowest link busy all of the time is so many parcels for each slice
	// mostParcels is up to how many there may be, and ofPlay how many times connections may get other rates in a play that may be better.
	mostParcels, ofPlay = 20_000, 3_000_000
	// headStart is by which part of the time of all what is passed on should be sent earlier for each further hop.
	headStart = 1. / 5
)

// hops are the parts of a path from rank to rank.
func (f *flow) hops(path []int32) (out [][]int32) {
	from := 0
	for i := 1; i < len(path); i++ {
		if int(path[i]) < f.g.Ranks {
			out = append(out, path[from:i+1])
			from = i
		}
	}
	return out
}

// connect finds the connections of all paths, and over which links they go.
func (x *parcels) connect() map[[2]int32]*hopConnection {
	known := map[[2]int32]*hopConnection{}
	var links symmetry.Numbering[int32]
	for i, p := range x.paths {
		for _, hop := range x.hops(p) {
			ends := [2]int32{hop[0], hop[len(hop)-1]}
			c := known[ends]
			if c == nil {
				c = &hopConnection{from: ends[0], to: ends[1], number: len(x.connections)}
				known[ends], x.connections = c, append(x.connections, c)
			}
			c.units += x.size(i)
			for h := 1; h < len(hop); h++ {
				for _, t := range x.g.takes(hop[h-1], hop[h]) {
					l := int32(links.Of(t.Resource))
					if int(l) == len(x.loads) {
						x.loads = append(x.loads, x.load[t.Resource])
					}
					c.add(l, t.Time*x.size(i))
				}
			}
		}
	}
	for _, c := range x.connections {
		c.rate = math.Inf(1)
		for i := range c.links {
			c.links[i].share /= c.units
			c.rate = min(c.rate, 1/c.links[i].share)
		}
	}
	return known
}

func (c *hopConnection) add(link int32, time float64) {
	i := slices.IndexFunc(c.links, func(l linkShare) bool { return l.link == link })
	if i < 0 {
		i = len(c.links)
		c.links = append(c.links, linkShare{link: link})
	}
	c.links[i].share += time
}

// cut adds a message in so many parcels.
func (x *parcels) cut(m parcel, pieces int32) {
	for i := range pieces {
		first, last := i*m.count/pieces, (i+1)*m.count/pieces
		p := m
		p.unit, p.count = m.unit+first, last-first
		p.size, p.due = m.size*float64(p.count)/float64(m.count), make([]float64, len(m.hops))
		x.list = append(x.list, p)
	}
}

// setDue spreads what a connection carries over the time of all: first what has the fullest link ahead of it, of equal ones what has the
// longest way to go. Connections of a rank that carry little have their turns one after the other.
func (x *parcels) setDue(ranks int) {
	type hop struct {
		*parcel
		at    int
		ahead float64 // the load of the fullest link beyond
	}
	of := make([][]hop, len(x.connections))
	for i := range x.list {
		p, ahead := &x.list[i], 0.0
		for h := len(p.hops) - 1; h >= 0; h-- {
			c := p.hops[h]
			of[c.number] = append(of[c.number], hop{p, h, ahead})
			for _, l := range c.links {
				ahead = max(ahead, x.loads[l.link])
			}
		}
	}
	for i, list := range of {
		slices.SortStableFunc(list, func(a, b hop) int {
			return cmp.Or(cmp.Compare(b.ahead, a.ahead), cmp.Compare(len(b.hops)-b.at, len(a.hops)-a.at), cmp.Compare(a.unit, b.unit))
		})
		c := x.connections[i]
		turn := float64((int(c.to-c.from)+ranks)%ranks) / float64(ranks)
		sent := 0.0
		for _, h := range list {
			start := x.full * min(headStart, 1/float64(2*len(h.hops)))
			from, to := float64(h.at)*start, x.full-float64(len(h.hops)-1-h.at)*start
			h.due[h.at] = from + (to-from)*(sent+turn*h.size)/c.units
			sent += h.size
		}
	}
}

// channel is all that ranks do.
func (p *play) channel(r *request) schedule.Channel {
	return schedule.Channel{Share: 1, Slices: 1, Chunks: r.chunksFor(r.spec.Ranks) * p.units, Phases: []schedule.Phase{{
		Gen: schedule.GenOps, Op: r.spec.Kind, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output, Ops: p.programs}}}
}

// orderedDepths are how finely messages are cut: whole ones save latencies, but not where there are very many.
func orderedDepths(r *request) []int {
	if r.pairs() > r.o.Budget.part(mostOrders) {
		return []int{4}
	}
	return []int{1, 4}
}

// mostOrders is up to how many pairs have their messages ordered twice.
const mostOrders = 64 * 64
