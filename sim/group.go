package sim

import "slices"

// A group is kept as a heap by what is left, at the beginning of a resource's active
// connections.

// turn lets the clock of a group go on until now.
func (x *shared) turn(now int64) {
	if x.own > 0 && now > x.since {
		x.clock = x.clock.more(product(x.level, uint64(now-x.since)))
	}
	x.since = now
}

// join makes a transfer, which belongs to no group, one of a resource's, at whose level it goes.
func (s *sharing) join(c int32, f *flow, r int32) {
	x, u := &s.res[r], s.useOf(f, r)
	f.left = f.left.more(x.clock)
	s.place(r, u.slot, s.active[x.first+x.own])
	f.home, f.group = f.first, r
	for &s.uses[f.home] != u {
		f.home++
	}
	u.slot = x.own
	s.active[x.first+x.own] = c
	x.own++
	x.load += u.load
	x.least = min(x.least, f.limit)
	if f.n > 1 {
		x.wide++
	}
	s.up(x, u.slot)
}

// leave takes a transfer out of its group, whose clock has been turned.
func (s *sharing) leave(f *flow) {
	u := &s.uses[f.home]
	x := &s.res[u.res]
	c := s.active[x.first+u.slot]
	if f.left = f.left.above(x.clock); f.n > 1 {
		x.wide--
	}
	f.home = nowhere
	x.own--
	x.load -= u.load
	slot, last := u.slot, s.active[x.first+x.own]
	s.active[x.first+x.own], u.slot = c, x.own
	if last != c {
		s.place(u.res, slot, last)
		s.up(x, slot)
		s.down(x, slot)
	}
	if x.own == 0 {
		x.level, x.least, x.released, x.clock = unlimited, unlimited, false, amount{}
	}
}

// earlier reports whether the transfer in one slot of a group ends before that in another.
func (s *sharing) earlier(x *shared, a, b int32) bool {
	return s.flows[s.active[x.first+a]].left.below(s.flows[s.active[x.first+b]].left)
}

func (s *sharing) swap(x *shared, a, b int32) {
	p, q := &s.active[x.first+a], &s.active[x.first+b]
	*p, *q = *q, *p
	s.uses[s.flows[*p].home].slot, s.uses[s.flows[*q].home].slot = a, b
}

// up moves a transfer towards the root of its group while it ends before those above it.
func (s *sharing) up(x *shared, at int32) {
	for at > 0 {
		above := (at - 1) / 2
		if !s.earlier(x, at, above) {
			return
		}
		s.swap(x, at, above)
		at = above
	}
}

// down moves one away from the root.
func (s *sharing) down(x *shared, at int32) {
	for {
		next := 2*at + 1
		if next >= x.own {
			return
		}
		if next+1 < x.own && s.earlier(x, next+1, next) {
			next++
		}
		if !s.earlier(x, next, at) {
			return
		}
		s.swap(x, at, next)
		at = next
	}
}

// await sees to it that an event comes when the first transfer of a group ends, or before.
func (s *sharing) await(e *engine, r int32) {
	x := &s.res[r]
	if x.own == 0 {
		return
	}
	x.turn(e.now)
	c := x.sole
	if c < 0 {
		c = s.active[x.first]
	}
	end := endOf(e.now, s.flows[c].left.above(x.clock), x.level)
	if x.at >= 0 && x.at <= end {
		return
	}
	x.version++
	x.at = end
	e.q.push(end, newEvent(drained, r, x.version))
}

// endOf is when what is left has been moved at a rate.
func endOf(now int64, left amount, rate int64) int64 {
	return min(now+min(left.more(amount{0, uint64(rate - 1)}).over(uint64(rate)), forever), forever)
}

// drained ends the transfers of a group that end now, and waits for the next one.
func (s *sharing) drained(e *engine, r int32, version uint32) {
	x := &s.res[r]
	if x.version&versionMask != version {
		return
	}
	x.at = -1
	if x.sole >= 0 && x.own == 1 { // nothing has changed since the event was set
		s.endSole(e, r)
		return
	}
	s.list(r)
	x.turn(e.now)
	s.ended = s.over(x, 0, s.ended[:0])
	if len(s.ended) == 0 { // the event was early: rates have fallen since
		s.await(e, r)
		return
	}
	for _, id := range s.ended {
		s.drain(e, id)
	}
	s.arrive(e)
}

// arrive hands over the messages that have ended, in the order of connections.
func (s *sharing) arrive(e *engine) {
	slices.Sort(s.came)
	for _, c := range s.came {
		e.events += int64(e.conns[c].times)
		e.arrived(c)
	}
	s.came = s.came[:0]
}

// endSole ends the only transfer on a resource that stands apart: nothing is left there that could change.
func (s *sharing) endSole(e *engine, r int32) {
	x := &s.res[r]
	f := &s.flows[x.sole]
	c := f.messages[0].conn
	f.messages = f.messages[:0]
	x.left = x.left.more(product(x.level, x.load))
	x.level, x.least, x.since = unlimited, unlimited, e.now
	x.sole, x.own, x.n, x.load = -1, 0, 0, 0
	if s.crowds != nil {
		s.enter(r, -s.uses[f.first].count)
	}
	e.events += int64(e.conns[c].times)
	e.arrived(c)
}

// over are those of a group that have ended, from a slot on.
func (s *sharing) over(x *shared, at int32, list []int32) []int32 {
	if at >= x.own || x.clock.below(s.flows[s.active[x.first+at]].left) {
		return list
	}
	list = append(list, s.active[x.first+at])
	return s.over(x, 2*at+2, s.over(x, 2*at+1, list))
}

// ending handles the event of the end of a transfer at its own limit.
func (s *sharing) ending(e *engine, id int32, version uint32) {
	if s.flows[id].version&versionMask != version {
		return
	}
	s.drain(e, id)
	s.arrive(e)
}
