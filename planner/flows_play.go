package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/internal/heap"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// play moves all parcels along their paths as the simulator does, without latencies: those of a connection one after the other,
// links being shared max-min fairly. Ranks send what is due, and learn by what comes in that they may send more; what they do is
// their program.
type play struct {
	*parcels
	spec     collective.Spec
	ahead    float64 // for how long links may have more to do than what is due
	now      float64
	work     int
	sends    []sending
	waiting  [][]*moving // by rank, by when they are due
	backlog  []float64   // by link: for how long it works for what has been sent and not come in
	active   []int32     // connections with anything under way
	programs []schedule.Program
	rooms    scratchPlaces
	// working memory of share
	left, weight []float64 // by link
	on           [][]int32 // by link: connections
	used         []int32
	levels       *heap.Heap[linkShare]
	ends         []ending
}

// moving is a parcel on its way.
type moving struct {
	*parcel
	at    int // hops that are behind it
	left  float64
	place schedule.Loc
}

// sending is what is under way on a connection.
type sending struct {
	queue []*moving
	rate  float64
	known bool
}

// ending is when what is under way on a connection comes in.
type ending struct {
	*moving
	connection int32
	after      float64
}

func (x *parcels) play(spec collective.Spec, ahead float64) *play {
	links := len(x.loads)
	p := &play{parcels: x, spec: spec, ahead: ahead, sends: make([]sending, len(x.connections)), waiting: make([][]*moving, spec.Ranks),
		backlog: make([]float64, links), programs: make([]schedule.Program, spec.Ranks), left: make([]float64, links),
		weight: make([]float64, links), on: make([][]int32, links)}
	p.levels = heap.New(func(a, b linkShare) bool { return a.share < b.share || a.share == b.share && a.link < b.link })
	p.rooms = scratchPlaces{counts: spec.Kind == collective.AllToAllV, n: int32(spec.Ranks), units: int32(x.units),
		used: make([]int32, spec.Ranks*x.units)}
	for i := range x.list {
		in, _ := blocks(spec.Kind, int(x.list[i].src), int(x.list[i].dst))
		p.wait(x.list[i].src, &moving{parcel: &x.list[i], place: p.block(schedule.Input, in, &x.list[i])})
	}
	return p
}

func (p *play) block(b schedule.Buffer, number int, part *parcel) schedule.Loc {
	return schedule.Loc{Buf: b, Set: schedule.Range(int32(number)*p.rooms.units+part.unit, part.count)}
}

// run plays until all has come in, and says whether that was before a time and took no more work than so much.
func (p *play) run(before float64, most int) bool {
	for v := range p.programs {
		if own := schedule.Range(int32(v*p.units), int32(p.units)); carries(p.spec, v, v) && p.spec.Kind != collective.Barrier {
			p.programs[v] = schedule.Program{{Kind: schedule.Copy, Peer: -1, Src: schedule.Loc{Buf: schedule.Input, Set: own},
				Dst: schedule.Loc{Buf: schedule.Output, Set: own}}}
		}
		p.offer(int32(v))
	}
	for len(p.active) > 0 || p.restart() {
		if p.now >= before || p.work > most {
			return false
		}
		p.share()
		p.step()
	}
	return p.now < before
}

// restart has ranks send on that have heard of nothing since; in their programs, they do so as soon as they have heard.
func (p *play) restart() bool {
	for v := range p.waiting {
		p.offer(int32(v))
	}
	return len(p.active) > 0
}

func (p *play) wait(rank int32, m *moving) {
	i, _ := slices.BinarySearchFunc(p.waiting[rank], m, func(a, b *moving) int {
		return cmp.Or(cmp.Compare(a.due[a.at], b.due[b.at]), cmp.Compare(a.dst, b.dst), cmp.Compare(a.src, b.src),
			cmp.Compare(a.unit, b.unit))
	})
	p.waiting[rank] = slices.Insert(p.waiting[rank], i, m)
}

// offer sends what a rank may send: what is due, and what links have room for; one at least, so that all goes on.
func (p *play) offer(rank int32) {
	sent, least, at := false, math.Inf(1), 0
	kept := p.waiting[rank][:0]
	for _, m := range p.waiting[rank] {
		if full := p.fullness(m.hops[m.at]); full < p.ahead+max(0, p.now-m.due[m.at]) {
			p.send(m)
			sent = true
		} else {
			if full < least {
				least, at = full, len(kept)
			}
			kept = append(kept, m)
		}
	}
	if !sent && len(kept) > 0 {
		p.send(kept[at])
		kept = slices.Delete(kept, at, at+1)
	}
	p.waiting[rank] = kept
}

// fullness is the largest backlog of a connection's links.
func (p *play) fullness(c *hopConnection) (most float64) {
	for _, l := range c.links {
		most = max(most, p.backlog[l.link])
	}
	return most
}

func (p *play) send(m *moving) {
	c := m.hops[m.at]
	m.left = m.size
	for _, l := range c.links {
		p.backlog[l.link] += l.share * m.size
	}
	s := &p.sends[c.number]
	if len(s.queue) == 0 {
		p.active = append(p.active, int32(c.number))
	}
	s.queue = append(s.queue, m)
	p.programs[c.from] = append(p.programs[c.from], schedule.Op{Kind: schedule.Send, Peer: c.to, Src: m.place})
}

// share finds max-min fair rates: the link that gives least to each settles those on it, again and again.
func (p *play) share() {
	p.work += len(p.active)
	for _, c := range p.active {
		p.sends[c].known = false
		for _, l := range p.connections[c].links {
			if p.weight[l.link] == 0 {
				p.used = append(p.used, l.link)
				p.left[l.link], p.on[l.link] = 1, p.on[l.link][:0]
			}
			p.weight[l.link] += l.share
			p.on[l.link] = append(p.on[l.link], c)
		}
	}
	for _, l := range p.used {
		p.levels.Push(linkShare{l, p.left[l] / p.weight[l]})
	}
	for p.levels.Len() > 0 {
		at := p.levels.Pop()
		if p.weight[at.link] < 1e-12 {
			continue
		}
		level := p.left[at.link] / p.weight[at.link]
		if level > at.share*(1+1e-12) {
			p.levels.Push(linkShare{at.link, level})
			continue
		}
		for _, c := range p.on[at.link] {
			p.settle(c, level)
		}
		p.weight[at.link] = 0
	}
	for _, l := range p.used {
		p.weight[l] = 0
	}
	p.used = p.used[:0]
}

// settle gives a connection its rate.
func (p *play) settle(c int32, rate float64) {
	s := &p.sends[c]
	if s.known {
		return
	}
	s.known, s.rate = true, rate
	for _, l := range p.connections[c].links {
		p.left[l.link] = max(0, p.left[l.link]-l.share*rate)
		p.weight[l.link] -= l.share
	}
}

// step goes on until something comes in, with all that comes in next to then.
func (p *play) step() {
	first := math.Inf(1)
	for _, c := range p.active {
		first = min(first, p.sends[c].queue[0].left/p.sends[c].rate)
	}
	p.now += first
	ends, at := p.ends[:0], 0
	for _, c := range p.active {
		s := &p.sends[c]
		m := s.queue[0]
		after, moved := m.left/s.rate, s.rate*first
		if after <= first+p.full/atOnce {
			moved = m.left
			ends, s.queue = append(ends, ending{m, c, after}), s.queue[1:]
		}
		m.left -= moved
		for _, l := range p.connections[c].links {
			p.backlog[l.link] = max(0, p.backlog[l.link]-l.share*moved)
		}
		if len(s.queue) > 0 {
			p.active[at] = c
			at++
		}
	}
	p.active, p.ends = p.active[:at], ends
	slices.SortFunc(ends, func(a, b ending) int {
		return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.connection, b.connection))
	})
	for _, e := range ends {
		p.arrive(e.moving, p.connections[e.connection])
	}
}

// atOnce is into how many parts the time of all is cut: what comes in within one comes in together.
const atOnce = 4096

// arrive has a rank take a parcel, and send what it then may.
func (p *play) arrive(m *moving, c *hopConnection) {
	_, out := blocks(p.spec.Kind, int(m.src), int(m.dst))
	m.place = p.block(schedule.Output, out, m.parcel)
	if m.at++; m.at < len(m.hops) {
		m.place = schedule.Loc{Buf: schedule.Scratch, Set: schedule.Range(p.rooms.place(c.to, &m.pathMessage), m.count)}
		p.wait(c.to, m)
	}
	p.programs[c.to] = append(p.programs[c.to], schedule.Op{Kind: schedule.Recv, Peer: c.from, Dst: m.place})
	p.offer(c.to)
}
