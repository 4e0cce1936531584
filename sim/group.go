package sim

import "slices"

// A group is kept as a heap by what is left, at the beginning of the uses of a resource.

// turn lets the clock of a group go on until now.
func (x *shared) turn(now int64) {
	if x.own > 0 && now > x.since {
		x.clock = x.clock.more(product(x.level, uint64(now-x.since)))
	}
	x.since = now
}

// join makes a flow, which belongs to no group, one of that of a resource that it uses, at whose level it goes.
func (s *sharing) join(use int32) {
	u := &s.uses[use]
	x, f := &s.res[u.res], &s.flows[u.flow]
	f.left = f.left.more(x.clock)
	f.home, f.group = use, u.res
	s.place(x, u.slot, s.active[x.first+x.own])
	s.place(x, x.own, use)
	x.own++
	x.load += u.load
	x.least = min(x.least, f.limit)
	if f.n > 1 {
		x.wide++
	}
	s.up(x, u.slot)
	s.move(u.res)
}

// leave takes a flow out of its group, whose clock has been turned.
func (s *sharing) leave(f *flow) {
	use, r := f.home, f.group
	u, x := &s.uses[use], &s.res[r]
	if f.left = f.left.above(x.clock); f.n > 1 {
		x.wide--
	}
	f.home = limited
	x.own--
	x.load -= u.load
	slot, last := u.slot, s.active[x.first+x.own]
	s.place(x, x.own, use)
	if last != use {
		s.place(x, slot, last)
		s.up(x, slot)
		s.down(x, slot)
	}
	if x.own == 0 {
		x.least, x.clock = unlimited, amount{}
	}
	s.move(r)
	s.changed(r)
}

// leftAt is what the flow whose use is in a slot has left.
func (s *sharing) leftAt(x *shared, slot int32) amount {
	return s.flows[s.uses[s.active[x.first+slot]].flow].left
}

// earlier reports whether the flow in one slot of a group ends before that in another.
func (s *sharing) earlier(x *shared, a, b int32) bool { return s.leftAt(x, a).below(s.leftAt(x, b)) }

func (s *sharing) swap(x *shared, a, b int32) {
	p, q := s.active[x.first+a], s.active[x.first+b]
	s.place(x, a, q)
	s.place(x, b, p)
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
	end := endOf(e.now, s.leftAt(x, 0).above(x.clock), x.level)
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
	x.turn(e.now)
	s.ended = s.over(x, 0, s.ended[:0])
	if len(s.ended) == 0 { // the event was early: rates have fallen since, and may not be settled in this moment
		s.move(r)
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

// over are those of a group that have ended, from a slot on.
func (s *sharing) over(x *shared, at int32, list []int32) []int32 {
	if at >= x.own || x.clock.below(s.leftAt(x, at)) {
		return list
	}
	list = append(list, s.uses[s.active[x.first+at]].flow)
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
