package sim

// sharing keeps the transfers under way that share resources, and their max-min fair
// rates. A transfer belongs to the group of the resource that lets it go no faster, or goes
// as fast as a limit of its own allows. All of a group go at its level, and have one clock: a
// level that changes changes nothing about them. When transfers come or go, levels are worked
// out again once for all changes of a moment, and of these only those that change (see settle).
type sharing struct {
	flows  []flow          // by connection
	uses   []use           // of all flows, end to end
	res    []shared        // resources
	active []int32         // connections under way, by resource (see shared.first)
	dirty  []int32         // resources with changes since settle
	crowds []congestionKey // by resource; nil: congestion does not count
	looked int64           // resources and transfers that settle has looked at, each time it has
	// working memory of settle
	levels moments // resources by the level at which something may change on them
	full   []int32 // resources that are full at a level
	capped []int32 // resources with transfers whose limit a level reaches
	ended  []int32
}

// shared is a resource in a run: the connections active[first:first+n] are under way, of
// which the first own are its group. Between calls of settle none is open but what has only
// just begun.
type shared struct {
	left     amount // of the capacity, not given away
	level    int64  // rate of the group, unlimited where there is none
	load     uint64 // of the group
	weight   uint64 // of open transfers: those that have no rate yet
	key      int64  // level at which it is to be looked at (see look), unlimited where it is not
	open     int32  // how many transfers are
	own, n   int32
	released bool // the group is open
	marked   bool // in dirty
	apart    bool // transfers on it load nothing else

	clock   amount // what a transfer of the group would have moved, at time since
	since   int64
	cap     int64 // no open transfer that is looked after here has a lower limit
	least   int64 // no transfer of the group has a lower limit
	at      int64 // time of the event awaited, when the first of the group ends or before; −1 where there is none
	version uint32
	first   int32
	wide    int32 // how many of the group load other resources, too

	sole int32 // the connection under way where it is the only one, on a resource that stands apart; −1: see active
}

// flow is a transfer under way. What it has left counts down by itself, from time since on,
// where it goes at a limit of its own; in a group it has ended when the clock shows left.
type flow struct {
	first, n int32 // its uses
	home     int32 // the use by which it belongs to a group, or:
	group    int32 // the resource of that use
	version  uint32
	rate     int64 // limited
	limit    int64
	left     amount
	since    int64 // limited
}

const (
	nowhere int32 = -1 // it has no rate yet, or is not under way
	limited int32 = -2 // it goes as fast as a limit of its own allows
)

// use is a resource that a flow loads, and its place among the active ones.
type use struct {
	res, slot  int32
	load, full uint64 // of the message under way, and at full efficiency
	count      int32  // of transfers that one stands for
}

func (s *sharing) of(f *flow) []use { return s.uses[f.first : f.first+f.n] }

// on are the connections under way on a resource.
func (s *sharing) on(r int32) []int32 {
	s.list(r)
	x := &s.res[r]
	return s.active[x.first : x.first+x.n]
}

// list puts the only connection of a resource among the active ones.
func (s *sharing) list(r int32) {
	x := &s.res[r]
	if c := x.sole; c >= 0 {
		x.sole = -1
		s.active[x.first] = c
		s.uses[s.flows[c].first].slot = 0
	}
}

// rate is that of a transfer, unlimited while it is open.
func (s *sharing) rate(f *flow) int64 {
	switch f.home {
	case nowhere:
		return unlimited
	case limited:
		return f.rate
	}
	if x := &s.res[f.group]; !x.released {
		return x.level
	}
	return unlimited
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
		s.flows[i].first = int32(len(s.uses))
		for j, u := range shared {
			if j == 0 || u.res != shared[j-1].res {
				s.uses = append(s.uses, use{res: u.res})
			}
			x := &s.uses[len(s.uses)-1]
			x.full, x.count = x.full+u.load, x.count+u.count
		}
		s.flows[i].n = int32(len(s.uses)) - s.flows[i].first
	}
	s.res, s.active = make([]shared, len(p.res)), make([]int32, total)
	for i := range s.res {
		s.res[i].apart = true
		if p.options.Congested > 0 {
			lost := fixedRate(p.res[i].capacity) - fixedRate(p.res[i].congestedRate)
			s.crowds = append(s.crowds, congestionKey{unused: product(lost, weightScale)})
		}
	}
	for i := range s.flows {
		f := &s.flows[i]
		for _, u := range s.of(f) {
			x := &s.res[u.res]
			x.n++ // room for all that may be under way at once
			x.apart = x.apart && f.n == 1
		}
	}
	first := int32(0)
	for i := range s.res {
		x := &s.res[i]
		x.first = first
		first += x.n
	}
}

func (s *sharing) reset(p *Plan) {
	for i := range s.flows {
		s.flows[i].home = nowhere
	}
	for i := range s.res {
		x := &s.res[i]
		*x = shared{left: product(fixedRate(p.res[i].capacity), weightScale), level: unlimited, cap: unlimited, least: unlimited,
			first: x.first, apart: x.apart, at: -1, key: unlimited, sole: -1}
	}
	for i := range s.crowds {
		s.crowds[i].messages = 0
	}
	s.dirty, s.looked = s.dirty[:0], 0
	s.levels = s.levels[:0]
}

// add lets the current message of a connection begin to move.
func (s *sharing) add(e *engine, c int32) {
	f, st := &s.flows[c], &e.conns[c]
	k := e.charge(st.class, st.size)
	f.left, f.limit, f.home = product(int64(e.table.bytes[st.size]), workScale), k.limit, nowhere
	f.version++
	uses := s.of(f)
	var weighted []usage
	plain := k.eff == 1 && k.each == 1
	if !plain {
		weighted = e.routes[e.Plan.conns[c].route].use
	}
	for i := range uses {
		u := &uses[i]
		if u.load = u.full; !plain {
			for u.load = 0; len(weighted) > 0 && weighted[0].res == u.res; weighted = weighted[1:] {
				u.load += fixedWeight(e.res[u.res].weight(weighted[0].weight, k), weighted[0].count)
			}
		}
		x := &s.res[u.res]
		if x.apart && x.n == 0 {
			x.sole = c
		} else {
			s.list(u.res)
			u.slot = x.n
			s.active[x.first+x.n] = c
		}
		x.n++
		s.enter(u.res, u.count)
		x.open, x.weight = x.open+1, x.weight+u.load
		s.touch(u.res)
	}
	x := &s.res[uses[0].res]
	x.cap = min(x.cap, f.limit)
}

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
	rate := s.rate(f)
	if f.home >= 0 {
		s.leave(c, f)
	}
	f.home = nowhere
	for _, u := range s.of(f) {
		x := &s.res[u.res]
		x.left = x.left.more(product(rate, u.load))
		x.n--
		s.enter(u.res, -u.count)
		if x.n > 0 { // else nothing on it can change
			s.place(u.res, u.slot, s.active[x.first+x.n])
			s.touch(u.res)
		}
	}
}

// place puts a connection into a slot of a resource.
func (s *sharing) place(r, slot, c int32) {
	s.active[s.res[r].first+slot] = c
	s.useOf(&s.flows[c], r).slot = slot
}

// useOf is the use that a flow makes of a resource.
func (s *sharing) useOf(f *flow, r int32) *use {
	if f.home >= 0 && f.group == r {
		return &s.uses[f.home]
	}
	uses := s.of(f)
	for i := range uses {
		if uses[i].res == r {
			return &uses[i]
		}
	}
	panic("sim: a flow that does not use the resource")
}
