package sim

import "math"

// sharing keeps the transfers under way that share resources, and their max-min fair
// rates. When transfers come or go, only the connected component of resources and
// transfers around them is computed again, once for all changes of a moment.
type sharing struct {
	flows  []flow    // by connection
	active [][]int32 // by resource: connections under way
	dirty  []int32   // resources with changes since settle
	marked []bool    // by resource: in dirty, or visited
	drain  []drain   // by resource that stands alone
	// working memory of settle
	compRes   []int32
	compFlows []int32
	limited   []int32 // transfers with a limit of their own
	full      []int32
	ended     []int32
	left      []float64 // by resource: capacity not yet given away
	weight    []float64 // by resource: weight of the transfers not yet fixed
	open      []int32   // by resource: how many those are
}

// flow is a transfer under way: bytes left at time since, moving at rate.
type flow struct {
	use     []usage // of its route
	slot    []int32 // its place in active, by position in use
	left    float64
	rate    float64
	limit   float64
	eff     float64
	since   int64
	end     int64  // when it ends at this rate
	queued  int64  // when its event of this version comes, −1 where there is none
	version uint32 // of the event that is valid
	fixed   bool
	seen    bool
}

func (s *sharing) init(p *Plan) {
	s.flows = make([]flow, len(p.conns))
	total := 0
	for i := range p.conns {
		total += len(p.routes[p.conns[i].route].use)
	}
	slots := make([]int32, total)
	for i := range p.conns {
		f := &s.flows[i]
		f.use = p.routes[p.conns[i].route].use
		n := len(f.use)
		f.slot, slots = slots[:n:n], slots[n:]
	}
	n := len(p.res)
	s.active, s.marked, s.drain = make([][]int32, n), make([]bool, n), make([]drain, n)
	s.left, s.weight, s.open = make([]float64, n), make([]float64, n), make([]int32, n)
}

func (s *sharing) reset() {
	for i := range s.active {
		s.active[i] = s.active[i][:0]
		s.marked[i] = false
		s.drain[i] = drain{at: -1}
	}
	s.dirty = s.dirty[:0]
}

// add lets the current message of a connection begin to move.
func (s *sharing) add(e *engine, c int32) {
	f, st := &s.flows[c], &e.conns[c]
	k := e.charge(st.class, st.size)
	f.left, f.rate, f.limit, f.eff, f.since = float64(e.table.bytes[st.size]), 0, k.limit, k.eff, e.now
	f.version++
	f.queued, f.end = -1, forever
	for i, u := range f.use {
		f.slot[i] = int32(len(s.active[u.res]))
		s.active[u.res] = append(s.active[u.res], c)
		s.touch(u.res)
	}
}

func (s *sharing) touch(r int32) {
	if !s.marked[r] {
		s.marked[r] = true
		s.dirty = append(s.dirty, r)
	}
}

// remove takes a transfer that has ended off its resources.
func (s *sharing) remove(c int32) {
	f := &s.flows[c]
	f.version++
	for i, u := range f.use {
		list := s.active[u.res]
		last := list[len(list)-1]
		list[f.slot[i]] = last
		s.active[u.res] = list[:len(list)-1]
		if last != c {
			moved := &s.flows[last]
			for j := range moved.use {
				if moved.use[j].res == u.res {
					moved.slot[j] = f.slot[i]
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
		if e.res[r].single {
			s.marked[r] = false
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
	s.fill(e)
	for _, c := range s.compFlows {
		s.flows[c].seen = false
	}
	for _, r := range s.compRes {
		s.marked[r] = false
	}
}

// collect finds the component: resources that changed, the transfers on them, the
// other resources of those, and so on.
func (s *sharing) collect() {
	s.compFlows = s.compFlows[:0]
	for i := 0; i < len(s.compRes); i++ {
		for _, c := range s.active[s.compRes[i]] {
			f := &s.flows[c]
			if f.seen {
				continue
			}
			f.seen, f.fixed = true, false
			s.compFlows = append(s.compFlows, c)
			for _, u := range f.use {
				if !s.marked[u.res] {
					s.marked[u.res] = true
					s.compRes = append(s.compRes, u.res)
				}
			}
		}
	}
}

// progress gives a transfer its rate from now on; false where nothing changes, which
// leaves its end, and the rounding of that, as it was.
func (f *flow) progress(now int64, rate float64) bool {
	if rate == f.rate {
		return false
	}
	f.left = max(f.left-float64(f.rate*float64(now-f.since)/1e12), 0)
	f.since, f.rate = now, rate
	f.end = min(now+duration(f.left, rate), forever)
	return true
}

// schedule gives a transfer its rate and sees to it that an event comes at its end or
// before; one that comes before is put off when it does.
func (s *sharing) schedule(e *engine, c int32, rate float64) {
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
		e.events++
		s.remove(c)
		e.arrived(c)
	}
}

// unlimited is the limit of a transfer that has none of its own.
func unlimited(rate float64) bool { return math.IsInf(rate, 1) }
