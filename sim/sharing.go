package sim

import "math"

// sharing keeps the transfers under way and their max-min fair rates. When transfers
// come or go, only the connected component of resources and transfers around them is
// computed again, once for all changes of a moment.
type sharing struct {
	flows  []flow    // by connection
	active [][]int32 // by resource: connections under way
	dirty  []int32   // resources with changes since settle
	marked []bool    // by resource: in dirty, or visited
	// working memory of settle
	compRes   []int32
	compFlows []int32
	fixNow    []int32
	left      []float64 // by resource: capacity not yet given away
	weight    []float64 // by resource: weight of the transfers not yet fixed
}

// flow is a transfer under way: bytes left at time since, moving at rate.
type flow struct {
	left  float64
	rate  float64
	cap   float64
	eff   float64
	since int64
	slot  []int32 // its place in active, by position in the route's uses
	on    bool
	fixed bool
	seen  bool
}

func (s *sharing) init(p *Plan) {
	s.flows = make([]flow, len(p.conns))
	total := 0
	for i := range p.conns {
		total += len(p.routes[p.conns[i].route].use)
	}
	slots := make([]int32, total)
	for i := range p.conns {
		n := len(p.routes[p.conns[i].route].use)
		s.flows[i].slot, slots = slots[:n:n], slots[n:]
	}
	s.active = make([][]int32, len(p.res))
	s.marked = make([]bool, len(p.res))
	s.left = make([]float64, len(p.res))
	s.weight = make([]float64, len(p.res))
}

func (s *sharing) reset() {
	for i := range s.active {
		s.active[i] = s.active[i][:0]
		s.marked[i] = false
	}
	for i := range s.flows {
		s.flows[i].on = false
	}
	s.dirty = s.dirty[:0]
}

// add lets the current message of a connection begin to move.
func (s *sharing) add(e *engine, c int32) {
	f, st := &s.flows[c], &e.conns[c]
	k := &e.Plan.conns[c]
	cost := e.costOf(k.route, st.bytes)
	use := e.routes[k.route].use
	f.left, f.rate, f.cap, f.eff, f.since = float64(st.bytes), 0, cost.rate, cost.efficiency, e.now
	if st.bytes == 0 || e.opts.NoTransfer {
		e.q.push(event{at: e.now, what: endFlow, id: c, version: st.version})
		return
	}
	if e.opts.NoContention {
		s.schedule(e, c, solo(e, use, f))
		return
	}
	f.on = true
	for i, u := range use {
		f.slot[i] = int32(len(s.active[u.res]))
		s.active[u.res] = append(s.active[u.res], c)
		s.touch(u.res)
	}
	if len(use) == 0 {
		s.schedule(e, c, f.cap)
	}
}

// solo is the rate of a transfer that has its route to itself.
func solo(e *engine, use []usage, f *flow) float64 {
	rate := f.cap
	for _, u := range use {
		rate = min(rate, e.res[u.res].capacity*f.eff/u.weight)
	}
	return rate
}

func (s *sharing) touch(r int32) {
	if !s.marked[r] {
		s.marked[r] = true
		s.dirty = append(s.dirty, r)
	}
}

// remove takes a transfer that has ended off its resources.
func (s *sharing) remove(e *engine, c int32) {
	f := &s.flows[c]
	if !f.on {
		return
	}
	f.on = false
	for i, u := range e.routes[e.Plan.conns[c].route].use {
		list := s.active[u.res]
		last := list[len(list)-1]
		list[f.slot[i]] = last
		s.active[u.res] = list[:len(list)-1]
		if last != c {
			for j, v := range e.routes[e.Plan.conns[last].route].use {
				if v.res == u.res {
					s.flows[last].slot[j] = f.slot[i]
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
	s.collect(e)
	s.fill(e)
	for _, c := range s.compFlows {
		s.flows[c].seen = false
	}
	for _, r := range s.compRes {
		s.marked[r] = false
	}
	s.dirty = s.dirty[:0]
}

// collect finds the component: resources that changed, the transfers on them, the
// other resources of those, and so on.
func (s *sharing) collect(e *engine) {
	s.compRes = append(s.compRes[:0], s.dirty...)
	s.compFlows = s.compFlows[:0]
	for i := 0; i < len(s.compRes); i++ {
		for _, c := range s.active[s.compRes[i]] {
			f := &s.flows[c]
			if f.seen {
				continue
			}
			f.seen, f.fixed = true, false
			s.compFlows = append(s.compFlows, c)
			for _, u := range e.routes[e.Plan.conns[c].route].use {
				if !s.marked[u.res] {
					s.marked[u.res] = true
					s.compRes = append(s.compRes, u.res)
				}
			}
		}
	}
}

// fill is progressive filling: all transfers grow together until a resource is full or
// a cap is reached; those concerned stay there and the others grow on. Bertsekas,
// Gallager, "Data Networks", 1992, §6.5.2.
func (s *sharing) fill(e *engine) {
	for _, r := range s.compRes {
		s.left[r], s.weight[r] = e.res[r].capacity, 0
	}
	for _, c := range s.compFlows {
		f := &s.flows[c]
		for _, u := range e.routes[e.Plan.conns[c].route].use {
			s.weight[u.res] += u.weight / f.eff
		}
	}
	for unfixed := len(s.compFlows); unfixed > 0; {
		level := math.Inf(1)
		for _, r := range s.compRes {
			if s.weight[r] > 1e-12 {
				level = min(level, s.left[r]/s.weight[r])
			}
		}
		for _, c := range s.compFlows {
			if f := &s.flows[c]; !f.fixed {
				level = min(level, f.cap)
			}
		}
		fixed := s.fixAt(e, level)
		unfixed -= fixed
		if fixed == 0 {
			panic("sim: progressive filling does not progress")
		}
	}
}

// fixAt fixes the transfers that cannot grow beyond level, and returns how many.
func (s *sharing) fixAt(e *engine, level float64) int {
	const tie = 1 + 1e-12 // resources that fill up together do so in one step
	s.fixNow = s.fixNow[:0]
	for _, c := range s.compFlows {
		f := &s.flows[c]
		if f.fixed {
			continue
		}
		full := f.cap <= level*tie
		for _, u := range e.routes[e.Plan.conns[c].route].use {
			full = full || s.left[u.res] <= level*tie*s.weight[u.res]
		}
		if full {
			s.fixNow = append(s.fixNow, c)
		}
	}
	for _, c := range s.fixNow {
		f := &s.flows[c]
		f.fixed = true
		for _, u := range e.routes[e.Plan.conns[c].route].use {
			w := u.weight / f.eff
			s.left[u.res] = max(0, s.left[u.res]-level*w)
			s.weight[u.res] -= w
		}
		s.schedule(e, c, level)
	}
	return len(s.fixNow)
}

// schedule gives a transfer its rate from now on and says when it will end. A rate
// that does not change leaves the end, and its rounding, as it was.
func (s *sharing) schedule(e *engine, c int32, rate float64) {
	f, st := &s.flows[c], &e.conns[c]
	if rate == f.rate {
		return
	}
	f.left -= f.rate * float64(e.now-f.since) / 1e12
	f.since, f.rate = e.now, rate
	st.version++
	end := e.now
	if !math.IsInf(rate, 1) {
		// 1e-6 of a picosecond forgives the rounding of the product.
		end += int64(math.Ceil(max(f.left, 0)*1e12/rate - 1e-6))
	}
	e.q.push(event{at: end, what: endFlow, id: c, version: st.version})
}
