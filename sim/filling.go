package sim

// Max-min fair rates are those at which every flow goes as fast as a limit of its own allows, or as the fastest on a resource that is
// full (Bertsekas, Gallager, "Data Networks", 1992, §6.5.2). A resource is full where less is left of it than its flows take at a
// rate of one unit, so that its level, the lowest at which it is full, follows from the rates of its other flows alone, whichever of
// them count as its own: rates depend on what is under way, not on how it came to be.
//
// When something has changed, rates stay as they are until a resource is seen to have another level than its group: too much
// is taken of it, or enough is left. The lowest of these levels is put right first. Flows of other groups that are faster join it;
// what its flows take more or less shows on their other resources, which are looked at in turn. In the end none is left.

// full reports whether less is left than flows take at a rate of one unit.
func (x *shared) full() bool { return x.left.negative() || x.left.below(amount{0, x.weight}) }

// fills is the lowest level at which a resource is full, where those with a load grow to it and left is what the others leave them.
func (x *shared) fills(left amount, load uint64) int64 {
	if left.negative() || left.below(amount{0, x.weight}) {
		return 0
	}
	return min(left.less(amount{0, x.weight}).over(load), unlimited-1) + 1
}

// settle works out the levels around everything that changed at this moment.
func (s *sharing) settle(e *engine) {
	for {
		for _, r := range s.dirty {
			s.res[r].dirty = false
			s.look(r)
		}
		s.dirty = s.dirty[:0]
		if s.levels.Len() == 0 {
			break
		}
		s.fill(e, s.levels.Least())
	}
	for _, r := range s.moved {
		s.res[r].moved = false
		s.await(e, r)
	}
	s.moved = s.moved[:0]
}

// look sees to it that a resource is put right, at the level that it will have or a lower one, unless it is as it should be.
func (s *sharing) look(r int32) {
	x := &s.res[r]
	low := min(x.low, s.levels.Key(r, x.level))
	x.low = unlimited
	s.looked++
	if x.own > 0 {
		if level := x.fills(x.left.more(product(x.level, x.load)), x.load); level != x.level || x.top > level {
			s.levels.Set(r, max(min(level, x.level), low))
			return
		}
	} else if x.left.negative() || x.n > 1 && x.full() {
		s.levels.Set(r, low)
		return
	}
	s.levels.Remove(r)
}

// fill gives a resource its level. Which comes first decides how often each is looked at, not how fast flows are in the end.
func (s *sharing) fill(e *engine, r int32) {
	x := &s.res[r]
	level := s.levelOf(x)
	s.levels.Remove(r)
	x.turn(e.now)
	if x.own > 0 && x.least < level {
		s.release(e, r, level)
		return
	}
	s.setLevel(e, r, level)
	for _, u := range s.faster {
		s.take(e, u, level)
	}
}

// levelOf is the level of a resource beside the rates of other groups; faster flows of these, which it finds, count as its own.
func (s *sharing) levelOf(x *shared) int64 {
	s.faster = s.faster[:0]
	rest, level := x.left, int64(0)
	if x.own > 0 {
		rest = rest.more(product(x.level, x.load))
		level = x.fills(rest, x.load)
	}
	if x.top <= level {
		return level
	}
	for slowest := int64(0); slowest <= level; {
		left, load := rest, x.load
		s.faster, slowest, x.top = s.faster[:0], unlimited, 0
		for _, u := range s.active[x.first+x.own : x.first+x.n] {
			rate := s.rateOf(u)
			if x.top = max(x.top, rate); rate > level {
				left, load = left.more(product(rate, s.uses[u].load)), load+s.uses[u].load
				s.faster, slowest = append(s.faster, u), min(slowest, rate)
			}
		}
		if s.looked += int64(x.n - x.own); len(s.faster) > 0 {
			level = max(level, x.fills(left, load))
		}
	}
	return level
}

// setLevel gives a group another level.
func (s *sharing) setLevel(e *engine, r int32, level int64) {
	x := &s.res[r]
	from := x.level
	x.level = level
	if x.own == 0 || level == from {
		return
	}
	s.move(r)
	x.left = x.left.more(product(from, x.load)).less(product(level, x.load))
	if x.wide == 0 {
		return
	}
	for _, u := range s.active[x.first : x.first+x.own] {
		x := &s.uses[u]
		s.tell(s.uses[x.first:x.first+x.n], r, from, level)
	}
}

// tell lets the resources that a flow uses, but one, know that it goes at another rate.
func (s *sharing) tell(uses []use, but int32, from, to int64) {
	for i := range uses {
		u := &uses[i]
		if u.res == but {
			continue
		}
		x := &s.res[u.res]
		if x.top = max(x.top, to); to > from {
			x.left = x.left.less(product(to-from, u.load))
			x.low = min(x.low, from)
		} else {
			x.left = x.left.more(product(from-to, u.load))
		}
		s.changed(u.res)
	}
}

// release lets the flows of a group go that have lower limits than its level is to be.
func (s *sharing) release(e *engine, r int32, level int64) {
	x := &s.res[r]
	s.ended, x.least = s.ended[:0], unlimited
	for _, u := range s.active[x.first : x.first+x.own] {
		if limit := s.flows[s.uses[u].flow].limit; limit < level {
			s.ended = append(s.ended, s.uses[u].flow)
		} else {
			x.least = min(x.least, limit)
		}
	}
	from := x.level
	for _, id := range s.ended {
		f := &s.flows[id]
		s.leave(f)
		s.tell(s.of(f), -1, from, f.limit)
		s.limit(e, id, f.limit)
	}
	s.changed(r)
}

// take makes a faster flow one of the group of a resource that it uses.
func (s *sharing) take(e *engine, use int32, level int64) {
	u := &s.uses[use]
	f := &s.flows[u.flow]
	rate := s.rate(f)
	if f.home == limited {
		f.left = f.left.above(product(f.rate, uint64(e.now-f.since)))
		f.version++
	} else {
		s.res[f.group].turn(e.now)
		s.leave(f)
	}
	x := &s.res[u.res]
	x.left = x.left.more(product(rate-level, u.load))
	s.tell(s.of(f), u.res, rate, level)
	s.join(use)
}
