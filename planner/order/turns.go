package order

import (
	"cmp"
	"slices"
)

// delayed finds when messages really come, and reports whether some do later than expected. Where
// hops of different length share a connection, some find only parts of their time; they are
// sent in one all the same, which holds up others. What waits for those is given as much more
// time, or twice as much.
func (p *plan) delayed(once bool) bool {
	late := false
	for i := range p.conns {
		c := &p.conns[i]
		slices.SortFunc(c.hops, func(a, b int32) int { return cmp.Compare(p.hops[a].ends%p.period, p.hops[b].ends%p.period) })
		p.inTurn(c.hops)
		for _, h := range c.hops {
			x := &p.hops[h]
			if by := x.comes - x.ends; by > x.margin {
				if late = true; !once {
					by *= 2
				}
				x.margin = by
			}
		}
	}
	return late
}

// inTurn says when the messages of a connection are sent, one behind the other and as soon as
// their data are there, and when they come.
func (p *plan) inTurn(hops []int32) {
	sent, free := -int64(forEver), -int64(forEver)
	for range 2 { // the last of a period comes before the first of the next
		for _, h := range hops {
			x := &p.hops[h]
			lap := x.ends - x.ends%p.period
			sent = max(sent, x.ready-lap)
			free = max(free, x.ready-lap) + x.takes
			x.sent, x.comes = sent+lap, free+lap
		}
		sent, free = sent-p.period, free-p.period
	}
}

// take says when messages are received: when something that is sent needs them, so that none
// that is late holds up what could be sent without it; at most half a period after they come.
func (p *plan) take() {
	for _, h := range p.list {
		x := &p.hops[h]
		x.taken = x.comes + p.period/2
		p.waiting(h, func(next *hop) { x.taken = min(x.taken, next.sent) })
	}
	for i := range p.conns {
		next := int64(forEver)
		for range 2 { // the first of a period is followed by the last of the one before
			for _, h := range slices.Backward(p.conns[i].hops) {
				x := &p.hops[h]
				lap := x.ends - x.ends%p.period
				next = min(next, x.taken-lap)
				x.taken = next + lap
			}
			next += p.period
		}
	}
}
