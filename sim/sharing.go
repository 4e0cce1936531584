package sim

// sharing keeps the transfers under way that share resources, and their max-min fair
// rates. A transfer belongs to the group of the resource that lets it go no faster, or goes
// as fast as a limit of its own allows. All of a group go at its level, and have one clock: a
// level that changes changes nothing about them. When transfers come or go, levels are worked
// out again once for all changes of a moment, and of these only those that change (see settle).
type sharing struct {
	flows  []flow          // of all routes, each of which has one for each of its connections
	ways   []way           // by route
	uses   []use           // of all flows, end to end
	res    []shared        // resources
	active []int32         // flows under way, by resource (see shared.first)
	dirty  []int32         // resources with changes since settle
	crowds []congestionKey // by resource; nil: congestion does not count
	looked int64           // resources and transfers that settle has looked at, each time it has
	// working memory of settle
	levels levels
	full   []int32 // resources that are full at a level
	capped []int32 // resources with transfers whose limit a level reaches
	ended  []int32 // flows
	came   []int32 // connections whose messages have ended
}

// way are the flows of a route: flows[first:first+n], of which those from used on have never been under way.
type way struct{ first, n, used int32 }

// shared is a resource in a run: the flows active[first:first+n] are under way, of
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

	sole int32 // the flow under way where it is the only one, with one message, on a resource that stands apart; −1: see active
}

// flow is a transfer under way, or several at once along one route, all of which go at the same rate: one message each of connections
// between the same ranks. What the first of them to end has left counts down by itself, from time since on,
// where they go at a limit of their own; in a group it has ended when the clock shows left.
type flow struct {
	messages  []parcel // a heap by their ends
	eff, each float64  // of its messages (see charge)
	first, n  int32    // its uses
	home      int32    // the use by which it belongs to a group, or:
	group     int32    // the resource of that use
	version   uint32
	rate      int64 // limited
	limit     int64
	left      amount
	since     int64 // limited
}

const (
	nowhere int32 = -1 // it has no rate yet, or is not under way
	limited int32 = -2 // it goes as fast as a limit of its own allows
)

// parcel is a message of a flow. It ends when each of them has moved so much since the flow was without any.
type parcel struct {
	end  amount
	conn int32
}

// use is a resource that a flow loads, and its place among the active ones.
type use struct {
	res, slot        int32
	load, each, full uint64 // of all messages under way, of one, and of one at full efficiency
	count            int32  // of transfers that one stands for
}

func (s *sharing) of(f *flow) []use { return s.uses[f.first : f.first+f.n] }

// on are the flows under way on a resource.
func (s *sharing) on(r int32) []int32 {
	s.list(r)
	x := &s.res[r]
	return s.active[x.first : x.first+x.n]
}

// list puts the only flow of a resource among the active ones.
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
	s.ways = make([]way, len(p.routes))
	total := 0
	for i := range p.conns {
		s.ways[p.conns[i].route].n++
		total += len(p.routes[p.conns[i].route].use)
	}
	s.flows, s.uses = make([]flow, 0, len(p.conns)), make([]use, 0, total)
	for r := range s.ways {
		w := &s.ways[r]
		w.first = int32(len(s.flows))
		for range w.n {
			s.flow(p.routes[r].use)
		}
	}
	s.res, s.active, s.levels.place = make([]shared, len(p.res)), make([]int32, total), make([]int32, len(p.res))
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

// flow makes one that loads what a route does.
func (s *sharing) flow(shared []usage) {
	f := flow{first: int32(len(s.uses))}
	for j, u := range shared {
		if j == 0 || u.res != shared[j-1].res {
			s.uses = append(s.uses, use{res: u.res})
		}
		x := &s.uses[len(s.uses)-1]
		x.full, x.count = x.full+u.load, x.count+u.count
	}
	f.n = int32(len(s.uses)) - f.first
	s.flows = append(s.flows, f)
}

func (s *sharing) reset(p *Plan) {
	for i := range s.flows {
		s.flows[i].home, s.flows[i].messages = nowhere, s.flows[i].messages[:0]
	}
	for i := range s.res {
		x := &s.res[i]
		*x = shared{left: product(fixedRate(p.res[i].capacity), weightScale), level: unlimited, cap: unlimited, least: unlimited,
			first: x.first, apart: x.apart, at: -1, key: unlimited, sole: -1}
		s.levels.place[i] = -1
	}
	for i := range s.crowds {
		s.crowds[i].messages = 0
	}
	s.dirty, s.levels.heap, s.looked = s.dirty[:0], s.levels.heap[:0], 0
}

// add lets the current message of a connection begin to move, beside others that go along its route as it does.
func (s *sharing) add(e *engine, c int32) {
	st := &e.conns[c]
	k := e.charge(st.class, st.size)
	bytes := product(int64(e.table.bytes[st.size]), workScale)
	id, under := s.along(st.route, k)
	f := &s.flows[id]
	if under {
		s.accompany(e, id, parcel{f.moved(s, e.now).more(bytes), c})
		return
	}
	f.messages, f.left, f.limit, f.eff, f.each, f.home = append(f.messages[:0], parcel{bytes, c}), bytes, k.limit, k.eff, k.each, nowhere
	f.version++
	uses := s.of(f)
	var weighted []usage
	plain := k.eff == 1 && k.each == 1
	if !plain {
		weighted = e.routes[st.route].use
	}
	for i := range uses {
		u := &uses[i]
		if u.each = u.full; !plain {
			for u.each = 0; len(weighted) > 0 && weighted[0].res == u.res; weighted = weighted[1:] {
				u.each += fixedWeight(e.res[u.res].weight(weighted[0].weight, k), weighted[0].count)
			}
		}
		u.load = u.each
		x := &s.res[u.res]
		if x.apart && x.n == 0 {
			x.sole = id
		} else {
			s.list(u.res)
			u.slot = x.n
			s.active[x.first+x.n] = id
		}
		x.n++
		s.enter(u.res, u.count)
		x.open, x.weight = x.open+1, x.weight+u.load
		s.touch(u.res)
	}
	x := &s.res[uses[0].res]
	x.cap = min(x.cap, f.limit)
}

// along is a flow of a route for a message of a cost: one under way that goes at the same rate, or one that is not.
func (s *sharing) along(route int32, k *charge) (id int32, under bool) {
	w := &s.ways[route]
	id = -1
	for i := w.first; i < w.first+w.used; i++ {
		switch f := &s.flows[i]; {
		case len(f.messages) == 0:
			id = i
		case f.limit == k.limit && f.eff == k.eff && f.each == k.each:
			return i, true
		}
	}
	if id < 0 {
		id = w.first + w.used
		w.used++
	}
	return id, false
}

// accompany adds a message to a flow under way, at whose rate it goes.
func (s *sharing) accompany(e *engine, id int32, m parcel) {
	f := &s.flows[id]
	rate, first := s.rate(f), f.messages[0].end
	f.push(m)
	for i := range s.of(f) {
		u := &s.of(f)[i]
		s.list(u.res)
		s.enter(u.res, u.count)
		u.load += u.each
		x := &s.res[u.res]
		if f.home == nowhere {
			x.weight += u.each
		} else {
			x.left = x.left.less(product(rate, u.each))
		}
		if f.home >= 0 && f.group == u.res {
			x.load += u.each
		}
		s.touch(u.res)
	}
	if m.end.below(first) {
		s.leads(e, id, f, f.left.less(first.less(m.end)))
	}
}

// leads says what the first message of a flow to end, which is another now, has left, as flow.left has it.
func (s *sharing) leads(e *engine, id int32, f *flow, left amount) {
	earlier := left.below(f.left)
	switch f.left = left; {
	case f.home == limited:
		f.left = f.left.above(product(f.rate, uint64(e.now-f.since)))
		f.since = e.now
		f.version++
		e.q.push(endOf(e.now, f.left, f.rate), newEvent(ending, id, f.version))
	case f.home >= 0 && earlier:
		s.up(&s.res[f.group], s.uses[f.home].slot)
	case f.home >= 0:
		s.down(&s.res[f.group], s.uses[f.home].slot)
	}
}

// moved is what each message of a flow has moved since it was without any.
func (f *flow) moved(s *sharing, now int64) amount {
	var gone amount
	switch {
	case f.home >= 0:
		x := &s.res[f.group]
		x.turn(now)
		gone = x.clock
	case f.home == limited:
		gone = product(f.rate, uint64(now-f.since))
	}
	return f.messages[0].end.less(f.left.less(gone))
}

// push puts a message among those of a flow.
func (f *flow) push(m parcel) {
	f.messages = append(f.messages, m)
	for at := len(f.messages) - 1; at > 0; {
		above := (at - 1) / 2
		if !m.end.below(f.messages[above].end) {
			return
		}
		f.messages[at], f.messages[above] = f.messages[above], m
		at = above
	}
}

// pop takes the first of them to end away.
func (f *flow) pop() {
	n := len(f.messages) - 1
	f.messages[0] = f.messages[n]
	f.messages = f.messages[:n]
	for at := 0; ; {
		next := 2*at + 1
		if next >= n {
			return
		}
		if next+1 < n && f.messages[next+1].end.below(f.messages[next].end) {
			next++
		}
		if !f.messages[next].end.below(f.messages[at].end) {
			return
		}
		f.messages[at], f.messages[next] = f.messages[next], f.messages[at]
		at = next
	}
}

func (s *sharing) touch(r int32) {
	if x := &s.res[r]; !x.marked {
		x.marked = true
		s.dirty = append(s.dirty, r)
	}
}

// drain takes the messages of a flow that have ended off its resources, and notes whose they were.
func (s *sharing) drain(e *engine, id int32) {
	f := &s.flows[id]
	moved, first, n := f.moved(s, e.now), f.messages[0].end, len(f.messages)
	for len(f.messages) > 0 && !moved.below(f.messages[0].end) {
		s.came = append(s.came, f.messages[0].conn)
		f.pop()
	}
	if len(f.messages) == 0 {
		s.remove(f, int32(n))
		return
	}
	rate, ended := s.rate(f), int32(n-len(f.messages))
	for i := range s.of(f) {
		u := &s.of(f)[i]
		less := u.each * uint64(ended)
		u.load -= less
		x := &s.res[u.res]
		x.left = x.left.more(product(rate, less))
		if f.home >= 0 && f.group == u.res {
			x.load -= less
		}
		s.enter(u.res, -u.count*ended)
		s.touch(u.res)
	}
	s.leads(e, id, f, f.left.more(f.messages[0].end.less(first)))
}

// remove takes a flow whose messages have ended off its resources.
func (s *sharing) remove(f *flow, messages int32) {
	f.version++
	rate := s.rate(f)
	if f.home >= 0 {
		s.leave(f)
	}
	f.home = nowhere
	for _, u := range s.of(f) {
		x := &s.res[u.res]
		x.left = x.left.more(product(rate, u.load))
		x.n--
		s.enter(u.res, -u.count*messages)
		if x.n > 0 { // else nothing on it can change
			s.place(u.res, u.slot, s.active[x.first+x.n])
			s.touch(u.res)
		}
	}
}

// place puts a flow into a slot of a resource.
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
