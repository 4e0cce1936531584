package sim

// Progressive filling: all transfers grow together until a resource is full or a limit is reached;
// those concerned stay there and the others grow on. Bertsekas, Gallager, "Data Networks", 1992,
// §6.5.2. What is known from before is used: at first all groups keep their levels, and only
// resources on which something has changed are looked at, from the lowest level on. A resource
// that would be full at a lower level than that of its group sinks to it, and takes transfers with it
// that go faster by the groups of others; one that would be full at a higher level lets its group go,
// which is open from its old level on; both changes show on the other resources of these transfers,
// which are looked at in turn, never at lower levels.

// fills is the level at which a resource is full, where its group and the open transfers grow
// and the others go as they do; 0 where these alone are too much for it by now.
func (x *shared) fills() int64 {
	left, weight := x.left, x.weight
	if !x.released {
		left, weight = left.more(product(x.level, x.load)), weight+x.load
	}
	if left.negative() {
		return 0
	}
	return left.over(weight)
}

// next is the level at which something happens on a resource: it is full, its group may go
// faster from there on, or open transfers reach their limits.
func (x *shared) next() int64 {
	full := x.fills()
	if x.own > 0 && !x.released {
		if x.open == 0 && full >= x.level && full <= tie(x.level) {
			return unlimited // as it is
		}
		full = min(full, x.level)
	}
	if x.open > 0 {
		full = min(full, x.cap)
	}
	return full
}

// caps reports whether a level brings open transfers to their limits.
func (x *shared) caps(level int64) bool { return x.open > 0 && x.cap <= tie(level) }

// look sees to it that a resource is looked at when a level is reached, those of equal levels in order.
func (s *sharing) look(r int32, level int64) {
	x := &s.res[r]
	if x.key == level { // it is to be already
		return
	}
	if x.key = level; level == unlimited {
		s.levels.remove(r)
		return
	}
	s.looked++
	s.levels.set(r, level)
}

// settle works out the levels around everything that changed at this moment: those that stand apart one after the other,
// the others together.
func (s *sharing) settle(e *engine) {
	joint := s.dirty[:0]
	for _, r := range s.dirty {
		if !s.res[r].apart {
			joint = append(joint, r)
			continue
		}
		if !s.alone(e, r) {
			s.list(r)
			s.start(e, r)
			s.fill(e)
		}
		s.end(e, r)
	}
	s.dirty = joint
	for _, r := range s.dirty {
		s.start(e, r)
	}
	s.fill(e)
	for _, r := range s.dirty {
		s.end(e, r)
	}
	s.dirty = s.dirty[:0]
}

// alone lets the only transfer on a resource that stands apart, if it has just begun and no limit of its own, go as fast as that does.
func (s *sharing) alone(e *engine, r int32) bool {
	x := &s.res[r]
	if x.sole < 0 || x.own > 0 {
		return false
	}
	f := &s.flows[x.sole]
	level := x.left.over(x.weight)
	if f.limit <= tie(level) {
		return false
	}
	x.left, x.load, x.own = x.left.less(product(level, x.weight)), x.weight, 1
	x.weight, x.open = 0, 0
	x.since, x.level, x.cap, x.least = e.now, level, unlimited, f.limit
	x.at = -1 // an event may be left of one that went on at a limit of its own
	f.home, f.group = f.first, r
	return true
}

func (s *sharing) start(e *engine, r int32) {
	x := &s.res[r]
	x.turn(e.now)
	s.look(r, x.next())
}

func (s *sharing) end(e *engine, r int32) {
	s.res[r].marked = false
	s.await(e, r)
}

// fill goes from level to level until nothing more happens.
func (s *sharing) fill(e *engine) {
	for len(s.levels.heap) > 0 {
		level, again := s.gather(e)
		switch {
		case again:
			s.lookAgain(s.full)
			s.lookAgain(s.capped)
		case len(s.capped) > 0:
			for _, r := range s.capped {
				s.limit(e, r, level)
			}
			s.lookAgain(s.full)
			s.lookAgain(s.capped)
		default:
			for _, r := range s.full {
				s.fix(e, r, level)
			}
		}
	}
}

func (s *sharing) lookAgain(list []int32) {
	for _, r := range list {
		s.look(r, s.res[r].next())
	}
}

// gather finds all that happens next at one level, ties included; again where groups have been let go.
func (s *sharing) gather(e *engine) (level int64, again bool) {
	level, s.full, s.capped = unlimited, s.full[:0], s.capped[:0]
	for len(s.levels.heap) > 0 {
		r, from := s.levels.heap[0].res, s.levels.heap[0].level
		if level < unlimited && from > tie(level) {
			s.looked++
			break
		}
		x := &s.res[r]
		at := max(x.next(), from)
		if at > tie(min(level, from)) {
			s.look(r, at) // at a higher level than it seemed
			continue
		}
		if !x.caps(at) && !x.released && x.fills() < x.level { // the level sinks
			higher := s.sinks(r)
			if x.open > 0 { // what is open may reach its limits before
				higher = min(higher, x.cap)
			}
			if higher > tie(min(level, at)) {
				s.look(r, higher)
				continue
			}
		}
		s.look(r, unlimited)
		level = min(level, at)
		switch {
		case x.caps(level):
			s.capped = append(s.capped, r)
		case x.own > 0 && !x.released && x.fills() > tie(x.level):
			s.release(e, r)
			again = true
		default:
			s.full = append(s.full, r)
		}
	}
	return level, again
}

// sinks is the level at which a resource is full whose group sinks, where it takes transfers with it
// that go faster.
func (s *sharing) sinks(r int32) int64 {
	x := &s.res[r]
	level := x.fills()
	for x.open < x.n-x.own {
		left, weight := x.left.more(product(x.level, x.load)), x.weight+x.load
		for _, c := range s.on(r)[x.own:] {
			s.looked++
			f := &s.flows[c]
			if rate := s.rate(f); rate > level && rate < unlimited {
				load := s.useOf(f, r).load
				left, weight = left.more(product(rate, load)), weight+load
			}
		}
		higher := left.over(weight)
		if higher <= level {
			break
		}
		level = higher
	}
	return level
}

// release lets a group go from its level on.
func (s *sharing) release(e *engine, r int32) {
	x := &s.res[r]
	s.touch(r)
	if level := x.fills(); x.wide == 0 && x.open == 0 && level <= x.least {
		s.setLevel(e, x, level) // nothing else can hold it up
		return
	}
	x.turn(e.now)
	x.cap = min(x.cap, x.least)
	for _, c := range s.active[x.first : x.first+x.own] {
		for _, u := range s.of(&s.flows[c]) {
			y := &s.res[u.res]
			y.left = y.left.more(product(x.level, u.load))
			y.weight, y.open = y.weight+u.load, y.open+1
			if u.res != r && !y.reaches(y.key) {
				s.look(u.res, min(y.key, y.next()))
			}
		}
	}
	x.released = true
	s.look(r, x.next())
}

// reaches reports whether a resource is not full below a level.
func (x *shared) reaches(level int64) bool {
	left, weight := x.left, x.weight
	if !x.released {
		left, weight = left.more(product(x.level, x.load)), weight+x.load
	}
	return level < unlimited && !left.negative() && !left.below(product(level, weight))
}

// setLevel gives a group another level, of which other resources hear nothing.
func (s *sharing) setLevel(e *engine, x *shared, level int64) {
	x.turn(e.now)
	x.left = x.left.more(product(x.level, x.load)).less(product(level, x.load))
	x.level = level
}

// fix lets the group of a full resource and the open transfers on it go at a level, and those that are faster.
func (s *sharing) fix(e *engine, r int32, level int64) {
	x := &s.res[r]
	s.touch(r)
	x.turn(e.now)
	sinks := !x.released && level < x.level
	switch {
	case x.released:
		s.hold(x, level)
	case x.own > 0 && level != x.level:
		s.sink(e, r, level)
	}
	x.level, x.cap = level, unlimited
	for i := x.own; i < x.n && (sinks || x.open > 0); i++ {
		c := s.active[x.first+i]
		f := &s.flows[c]
		if rate := s.rate(f); rate > level {
			s.take(e, c, f, rate, level)
			s.join(c, f, r)
		}
	}
	if x.own == 0 {
		x.level = unlimited
	}
}

// hold fixes an open group.
func (s *sharing) hold(x *shared, level int64) {
	for _, c := range s.active[x.first : x.first+x.own] {
		for _, u := range s.of(&s.flows[c]) {
			s.res[u.res].fix(&u, level)
		}
	}
	x.released = false
}

// fix gives an open transfer what it uses at a level.
func (x *shared) fix(u *use, level int64) {
	x.left = x.left.less(product(level, u.load))
	x.weight, x.open = x.weight-u.load, x.open-1
}

// sink lowers the level of a group.
func (s *sharing) sink(e *engine, r int32, level int64) {
	x := &s.res[r]
	was := x.level
	s.setLevel(e, x, level)
	if x.wide == 0 {
		return
	}
	for _, c := range s.active[x.first : x.first+x.own] {
		for _, u := range s.of(&s.flows[c]) {
			if u.res != r {
				s.slows(&u, was, level)
			}
		}
	}
}

// slows is what other resources hear of a transfer that goes slower.
func (s *sharing) slows(u *use, from, to int64) {
	x := &s.res[u.res]
	x.left = x.left.more(product(from-to, u.load))
	if x.key == unlimited && x.own > 0 && x.reaches(tie(x.level)+1) {
		s.look(u.res, x.level)
	}
}

// take takes a transfer out of where it is, and gives it another rate.
func (s *sharing) take(e *engine, c int32, f *flow, from, to int64) {
	switch {
	case f.home >= 0:
		s.res[f.group].turn(e.now)
		s.touch(f.group)
		s.leave(f)
	case f.home == limited:
		f.left = f.left.above(product(f.rate, uint64(e.now-f.since)))
		f.version++
		f.home = nowhere
	}
	for _, u := range s.of(f) {
		if from == unlimited {
			s.res[u.res].fix(&u, to)
		} else {
			s.slows(&u, from, to)
		}
	}
}

// limit fixes the open transfers on a resource that a level brings to their limits.
func (s *sharing) limit(e *engine, r int32, level int64) {
	x := &s.res[r]
	x.cap, s.ended = unlimited, s.ended[:0]
	for _, c := range s.on(r) {
		switch f := &s.flows[c]; {
		case s.rate(f) < unlimited:
		case f.limit > tie(level):
			x.cap = min(x.cap, f.limit)
		default:
			s.ended = append(s.ended, c)
		}
	}
	for _, c := range s.ended {
		f := &s.flows[c]
		s.take(e, c, f, unlimited, level)
		f.home, f.rate, f.since = limited, level, e.now
		f.version++
		e.q.push(endOf(e.now, f.left, level), newEvent(ending, c, f.version))
	}
}
