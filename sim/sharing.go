package sim

// sharing keeps the transfers under way that share resources, and their max-min fair
// rates. When transfers come or go, only the connected component of resources and
// transfers around them is computed again, once for all changes of a moment; and of these
// only what fills up at or above the level from which on something changes.
type sharing struct {
	flows  []flow   // by connection
	uses   []use    // of all flows, end to end
	res    []shared // resources
	active []int32  // connections under way, by resource (see shared.first)
	dirty  []int32  // resources with changes since settle
	left   []amount // by resource: capacity not given away
	loads  []uint64 // by resource: of the transfers under way
	kept   int64    // rates below are what they were, whatever has changed since settle
	// working memory of settle
	compRes   []int32
	compFlows []int32
	limited   []int32 // transfers with a limit of their own
	full      []int32
	sated     []int32 // of these, the ones that are full at a level
	ended     []int32
	weight    []uint64 // by resource: load of the transfers not yet fixed
	open      []int32  // by resource: how many those are
}

// shared is a resource in a run: the connections active[first:first+n] are under way.
// It awaits an event when the first of the transfers ends that go no faster because of it.
type shared struct {
	capacity amount
	first, n int32
	version  uint32 // of the event awaited
	single   bool   // it stands alone
	marked   bool   // in dirty, or visited
	at       int64  // time of the event awaited, −1 where there is none
}

// flow is a transfer under way: bytes left at time since, moving at rate.
type flow struct {
	first, n int32 // its uses
	version  uint32
	fixed    bool
	seen     bool
	rate     int64 // in 1/rateScale bytes/s
	limit    int64
	left     float64
	since    int64
	end      int64 // when it ends at this rate
	queued   int64 // when its event of this version comes, −1 where there is none
}

// use is a resource that a flow loads, and its place among the active ones.
type use struct {
	res, slot  int32
	load, full uint64 // of the message under way, and at full efficiency
}

func (s *sharing) of(f *flow) []use { return s.uses[f.first : f.first+f.n] }

// on are the connections under way on a resource.
func (s *sharing) on(r int32) []int32 {
	x := &s.res[r]
	return s.active[x.first : x.first+x.n]
}

func (s *sharing) init(p *Plan) {
	s.flows = make([]flow, len(p.conns))
	total := 0
	for i := range p.conns {
		total += len(p.routes[p.conns[i].route].use)
	}
	s.uses = make([]use, 0, total)
	for i := range p.conns {
		shared := p.routes[p.conns[i].route].use
		s.flows[i].first, s.flows[i].n = int32(len(s.uses)), int32(len(shared))
		for _, u := range shared {
			s.uses = append(s.uses, use{res: u.res, full: u.load})
		}
	}
	n := len(p.res)
	s.res, s.active = make([]shared, n), make([]int32, total)
	s.left, s.loads = make([]amount, n), make([]uint64, n)
	s.weight, s.open = make([]uint64, n), make([]int32, n)
	for _, u := range s.uses {
		s.res[u.res].n++ // room for all that may be under way at once
	}
	first := int32(0)
	for i := range p.res {
		x := &s.res[i]
		x.capacity, x.single, x.first = product(fixedRate(p.res[i].capacity), weightScale), p.res[i].single, first
		first += x.n
	}
}

func (s *sharing) reset() {
	for i := range s.res {
		x := &s.res[i]
		x.n, x.marked, x.at, x.version = 0, false, -1, 0
		s.left[i], s.loads[i] = x.capacity, 0
	}
	s.dirty, s.kept = s.dirty[:0], unlimited
}

// add lets the current message of a connection begin to move.
func (s *sharing) add(e *engine, c int32) {
	f, st := &s.flows[c], &e.conns[c]
	k := e.charge(st.class, st.size)
	f.left, f.rate, f.limit, f.since = float64(e.table.bytes[st.size]), 0, k.limit, e.now
	f.version++
	f.queued, f.end = -1, forever
	uses := s.of(f)
	for i := range uses {
		u := &uses[i]
		u.load = u.full
		if k.eff != 1 {
			x := &e.routes[e.Plan.conns[c].route].use[i]
			u.load = fixedWeight(x.weight/k.eff, x.count)
		}
		x := &s.res[u.res]
		u.slot = x.n
		s.active[x.first+x.n] = c
		x.n++
		if x.single && x.n == 1 && !x.marked {
			s.alone(e, u.res, f) // until another one comes, maybe at this very moment
			continue
		}
		s.touch(u.res)
		if !x.single {
			s.loads[u.res] += u.load
			s.changes(min(k.limit, x.capacity.over(s.loads[u.res]))) // no lower, whatever else it loads
		}
	}
}

// changes notes that rates from a level on may be others now.
func (s *sharing) changes(level int64) { s.kept = min(s.kept, level-level>>35) }

// keeps reports whether the rate of a transfer under way is what it was: it stops growing
// before those do that have changed.
func (s *sharing) keeps(f *flow) bool { return f.rate > 0 && f.rate < s.kept }

func (s *sharing) touch(r int32) {
	if x := &s.res[r]; !x.marked {
		x.marked = true
		s.dirty = append(s.dirty, r)
	}
}

// remove takes a transfer that has ended off its resources.
func (s *sharing) remove(c int32) {
	f := &s.flows[c]
	f.version++
	for _, u := range s.of(f) {
		x := &s.res[u.res]
		x.n--
		if x.n == 0 && x.single {
			continue // nobody is left to share it
		}
		if !x.single {
			s.loads[u.res] -= u.load
			s.left[u.res] = s.left[u.res].more(product(f.rate, u.load))
			s.changes(f.rate)
		}
		last := s.active[x.first+x.n]
		s.active[x.first+u.slot] = last
		if last != c {
			moved := s.of(&s.flows[last])
			for j := range moved {
				if moved[j].res == u.res {
					moved[j].slot = u.slot
				}
			}
		}
		s.touch(u.res)
	}
}

// settle computes the rates around everything that changed at this moment.
func (s *sharing) settle(e *engine) {
	if len(s.dirty) == 0 {
		return
	}
	s.compRes = s.compRes[:0]
	for _, r := range s.dirty {
		if x := &s.res[r]; x.single {
			x.marked = false
			s.divide(e, r)
		} else {
			s.compRes = append(s.compRes, r)
		}
	}
	s.dirty = s.dirty[:0]
	if len(s.compRes) == 0 {
		return
	}
	s.collect()
	s.kept = unlimited
	e.shared += int64(len(s.compFlows))
	s.fill(e)
	for _, c := range s.compFlows {
		s.flows[c].seen = false
	}
	for _, r := range s.compRes {
		s.res[r].marked = false
	}
}

// collect finds the component: resources that changed, the transfers on them whose rates
// may change, the other resources of those, and so on. It takes the rates back, and sums
// the loads on the resources.
func (s *sharing) collect() {
	s.compFlows, s.limited = s.compFlows[:0], s.limited[:0]
	for _, r := range s.compRes {
		s.weight[r], s.open[r] = 0, 0
	}
	for i := 0; i < len(s.compRes); i++ {
		for _, c := range s.on(s.compRes[i]) {
			f := &s.flows[c]
			if f.seen || s.keeps(f) {
				continue
			}
			f.seen, f.fixed = true, false
			s.compFlows = append(s.compFlows, c)
			if f.limit != unlimited {
				s.limited = append(s.limited, c)
			}
			for _, u := range s.of(f) {
				if x := &s.res[u.res]; !x.marked {
					x.marked = true
					s.compRes = append(s.compRes, u.res)
					s.weight[u.res], s.open[u.res] = 0, 0
				}
				s.left[u.res] = s.left[u.res].more(product(f.rate, u.load))
				s.weight[u.res] += u.load
				s.open[u.res]++
			}
		}
	}
}

// progress gives a transfer its rate from now on; false where nothing changes, which
// leaves its end, and the rounding of that, as it was.
func (f *flow) progress(now, rate int64) bool {
	if rate == f.rate {
		return false
	}
	const perPicosecond = 1 / (rateScale * 1e12)
	f.left = max(f.left-float64(float64(f.rate)*perPicosecond*float64(now-f.since)), 0)
	f.since, f.rate = now, rate
	f.end = forever
	if rate > 0 {
		f.end = min(now+duration(f.left, float64(rate)/rateScale), forever)
	}
	return true
}

// schedule gives a transfer its rate and sees to it that an event comes at its end or
// before; one that comes before is put off when it does.
func (s *sharing) schedule(e *engine, c int32, rate int64) {
	f := &s.flows[c]
	if !f.progress(e.now, rate) || f.queued >= 0 && f.queued <= f.end {
		return
	}
	f.version++
	f.queued = f.end
	e.q.push(f.end, newEvent(ending, c, f.version))
}

// ending handles the event of a shared transfer's end.
func (s *sharing) ending(e *engine, c int32, version uint32) {
	f := &s.flows[c]
	switch {
	case f.version&versionMask != version:
	case f.end > e.now:
		f.queued = f.end
		e.q.push(f.end, newEvent(ending, c, version))
	default:
		e.events += int64(e.conns[c].times)
		s.remove(c)
		e.arrived(c)
	}
}
