package sim

import (
	"slices"
	"sort"

	"railyard/internal/heap"
)

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
	active []int32         // uses of flows under way, by resource (see shared.first)
	dirty  []int32         // resources to be looked at
	moved  []int32         // resources whose group has changed since settle
	crowds []congestionKey // by resource; nil: congestion does not count
	looked int64           // resources and transfers that settle has looked at, each time it has
	// working memory of settle
	levels heap.Indexed[int64] // resources, by the level at which something may change on them
	faster []int32             // uses
	ended  []int32             // flows
	came   []int32             // connections whose messages have ended
}

// way are the flows of a route: flows[first:first+n], of which those from used on have never been under way.
type way struct{ first, n, used int32 }

// shared is a resource in a run: uses active[first:first+n] are of flows under way, of
// which the first own are its group.
type shared struct {
	left   amount // of the capacity, not given away; negative while settle has not seen to it
	weight uint64 // of all flows under way
	load   uint64 // of the group
	level  int64  // rate of the group
	top    int64  // no flow outside the group is faster
	low    int64  // since it was looked at, only flows at this rate or faster have become faster
	own    int32
	dirty  bool // in sharing.dirty
	moved  bool // in sharing.moved

	n, first int32
	wide     int32 // how many of the group load other resources, too
	version  uint32
	clock    amount // what a transfer of the group would have moved, at time since
	since    int64
	least    int64 // no transfer of the group has a lower limit
	at       int64 // time of the event awaited, when the first of the group ends or before; −1 where there is none
}

// flow is a transfer under way, or several at once along one route, all of which go at the same rate: one message each of connections
// between the same ranks. What the first of them to end has left counts down by itself, from time since on,
// where they go at a limit of their own; in a group it has ended when the clock shows left.
type flow struct {
	// what the end of a message looks at is side by side
	soonest parcel // of its messages
	left    amount
	rate    int64 // limited
	since   int64 // limited
	version uint32
	home    int32 // the use by which it belongs to a group, or limited

	first, n  int32   // its uses
	messages  int32   // under way; 0: the flow is not
	group     int32   // the resource of its home
	eff, each float64 // of its messages (see charge)
	slower    float64 // the same
	limit     int64
	later     []parcel // its other messages, those that end last first
}

// limited is the home of a flow that goes as fast as a limit of its own allows, or as a resource does that it has to itself.
const limited int32 = -1

// parcel is a message of a flow. It ends when each of them has moved so much since the flow was without any.
type parcel struct {
	end  amount
	conn int32
}

// use is a resource that a flow loads, and its place among the active ones.
type use struct {
	load      uint64 // of all messages under way, each as much
	res, slot int32
	count     int32 // of transfers that one stands for
	flow      int32
	first, n  int32 // the flow's uses
}

func (s *sharing) of(f *flow) []use { return s.uses[f.first : f.first+f.n] }

// rate is that of a flow.
func (s *sharing) rate(f *flow) int64 {
	if f.home == limited {
		return f.rate
	}
	return s.res[f.group].level
}

// rateOf is that of the flow whose use it is.
func (s *sharing) rateOf(use int32) int64 { return s.rate(&s.flows[s.uses[use].flow]) }

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
	s.res, s.active = make([]shared, len(p.res)), make([]int32, len(s.uses))
	for i := range s.res {
		if p.options.Congested > 0 {
			lost := fixedRate(p.res[i].capacity) - fixedRate(p.res[i].congestedRate)
			s.crowds = append(s.crowds, congestionKey{unused: product(lost, weightScale)})
		}
	}
	for i := range s.uses {
		s.res[s.uses[i].res].n++ // room for all that may be under way at once
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
	id, first := int32(len(s.flows)), int32(len(s.uses))
	for j, u := range shared {
		if j == 0 || u.res != shared[j-1].res {
			s.uses = append(s.uses, use{res: u.res, flow: id})
		}
		s.uses[len(s.uses)-1].count += u.count
	}
	n := int32(len(s.uses)) - first
	for i := range s.uses[first:] {
		s.uses[int(first)+i].first, s.uses[int(first)+i].n = first, n
	}
	s.flows = append(s.flows, flow{first: first, n: n})
}

// reset prepares a run; where every transfer is alone, nothing was made for others yet and need not be.
func (s *sharing) reset(p *Plan, alone bool) {
	if s.ways == nil && alone {
		return
	}
	if s.ways == nil {
		s.init(p)
	}
	for i := range s.flows {
		f := &s.flows[i]
		if f.messages > 0 { // of a run that was given up: loads are of so many
			f.eff = 0
		}
		f.messages, f.later = 0, f.later[:0]
	}
	for i := range s.res {
		s.res[i] = shared{left: product(fixedRate(p.res[i].capacity), weightScale), least: unlimited, first: s.res[i].first, at: -1}
	}
	for i := range s.crowds {
		s.crowds[i].messages = 0
	}
	s.levels.Reset(len(s.res))
	s.dirty, s.moved, s.looked = s.dirty[:0], s.moved[:0], 0
}

// add lets the current message of a connection begin to move, beside others that go along its route as it does.
func (s *sharing) add(e *engine, c int32) {
	st := &e.conns[c]
	st.moved++
	k := e.charge(st.class, st.size)
	bytes := product(int64(e.table.bytes[st.size]), workScale)
	id, under := s.along(st.route, k)
	f := &s.flows[id]
	if under {
		s.accompany(e, id, parcel{f.moved(s, e.now).more(bytes), c})
		return
	}
	f.soonest, f.messages, f.left, f.limit = parcel{bytes, c}, 1, bytes, k.limit
	if f.eff != k.eff || f.each != k.each || f.slower != k.slower { // else its loads are those of the last
		f.eff, f.each, f.slower = k.eff, k.each, k.slower
		s.weigh(e, st.route, f, k)
	}
	rate, home := s.leaves(f)
	for i := range s.of(f) {
		u := &s.of(f)[i]
		x := &s.res[u.res]
		s.enter(u.res, u.count)
		u.slot = x.n
		s.active[x.first+x.n] = f.first + int32(i)
		x.n++
		x.weight += u.load
		x.left = x.left.less(product(rate, u.load))
		x.top = max(x.top, rate)
		s.touch(u.res)
	}
	if home == limited {
		s.limit(e, id, rate)
		return
	}
	x := &s.res[s.uses[home].res]
	x.turn(e.now)
	x.level = rate
	s.join(home)
	s.touch(s.uses[home].res)
}

// weigh says what messages of a cost load of the resources of their flow, which has one.
func (s *sharing) weigh(e *engine, route int32, f *flow, k *charge) {
	plain := k.eff == 1 && k.each == 1 && k.slower == 1
	uses, at := s.of(f), 0
	for i := range uses {
		uses[i].load = 0
	}
	for _, w := range e.routes[route].use {
		if uses[at].res != w.res {
			at++
		}
		if !plain {
			w.load = fixedWeight(e.res[w.res].weight(w.weight, k), w.count)
		}
		uses[at].load += w.load
	}
}

// leaves is the rate that a flow to come may have for now, beside the others at theirs, and by which use.
func (s *sharing) leaves(f *flow) (rate int64, home int32) {
	rate, home = f.limit, limited
	for i := range s.of(f) {
		u := &s.of(f)[i]
		x := &s.res[u.res]
		at := x.level
		if x.own == 0 {
			if at = 0; !x.left.negative() {
				at = x.left.over(u.load)
			}
		}
		if at < rate {
			if rate, home = at, f.first+int32(i); x.n == 0 {
				home = limited
			}
		}
	}
	return rate, home
}

// along is a flow of a route for a message of a cost: one under way that goes at the same rate, or one that is not.
func (s *sharing) along(route int32, k *charge) (id int32, under bool) {
	w := &s.ways[route]
	id = -1
	for i := w.first; i < w.first+w.used; i++ {
		switch f := &s.flows[i]; {
		case f.messages == 0:
			id = i
		case f.limit == k.limit && f.eff == k.eff && f.each == k.each && f.slower == k.slower:
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
	rate, first, n := s.rate(f), f.soonest.end, uint64(f.messages)
	f.push(m)
	for i := range s.of(f) {
		u := &s.of(f)[i]
		x := &s.res[u.res]
		s.enter(u.res, u.count)
		each := u.load / n
		u.load += each
		x.weight += each
		x.left = x.left.less(product(rate, each))
		if f.home == f.first+int32(i) {
			x.load += each
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
	f.left = left
	if f.home == limited {
		f.left = f.left.above(product(f.rate, uint64(e.now-f.since)))
		s.limit(e, id, f.rate)
		return
	}
	x := &s.res[f.group]
	if earlier {
		s.up(x, s.uses[f.home].slot)
	} else {
		s.down(x, s.uses[f.home].slot)
	}
	s.move(f.group)
}

// limit lets a flow, which belongs to no group, go at a limit of its own.
func (s *sharing) limit(e *engine, id int32, rate int64) {
	f := &s.flows[id]
	f.home, f.rate, f.since = limited, rate, e.now
	f.version++
	e.q.push(endOf(e.now, f.left, rate), newEvent(ending, id, f.version))
}

// moved is what each message of a flow has moved since it was without any.
func (f *flow) moved(s *sharing, now int64) amount {
	var gone amount
	if f.home == limited {
		gone = product(f.rate, uint64(now-f.since))
	} else {
		x := &s.res[f.group]
		x.turn(now)
		gone = x.clock
	}
	return f.soonest.end.less(f.left.less(gone))
}

// push puts a message among those of a flow.
func (f *flow) push(m parcel) {
	f.messages++
	if m.end.below(f.soonest.end) {
		m, f.soonest = f.soonest, m
	}
	at := sort.Search(len(f.later), func(i int) bool { return !m.end.below(f.later[i].end) })
	f.later = slices.Insert(f.later, at, m)
}

// pop takes the message off that ends first.
func (f *flow) pop() {
	if f.messages--; f.messages > 0 {
		last := len(f.later) - 1
		f.soonest, f.later = f.later[last], f.later[:last]
	}
}

// touch has a resource looked at on which there is more to move.
func (s *sharing) touch(r int32) {
	s.res[r].low = 0
	s.changed(r)
}

// changed has a resource looked at, unless it limits nothing, neither before nor now.
func (s *sharing) changed(r int32) {
	if x := &s.res[r]; !x.dirty && (x.own > 0 || x.full()) {
		x.dirty = true
		s.dirty = append(s.dirty, r)
	}
}

// move notes that a group has changed.
func (s *sharing) move(r int32) {
	if x := &s.res[r]; !x.moved {
		x.moved = true
		s.moved = append(s.moved, r)
	}
}

// drain takes the messages of a flow that have ended off its resources, and notes whose they were.
func (s *sharing) drain(e *engine, id int32) {
	f := &s.flows[id]
	moved, first, n := f.moved(s, e.now), f.soonest.end, f.messages
	for f.messages > 0 && !moved.below(f.soonest.end) {
		s.came = append(s.came, f.soonest.conn)
		f.pop()
	}
	if f.messages == 0 {
		s.remove(f, n)
		return
	}
	rate, ended := s.rate(f), n-f.messages
	for i := range s.of(f) {
		u := &s.of(f)[i]
		less := u.load / uint64(n) * uint64(ended)
		u.load -= less
		x := &s.res[u.res]
		x.weight -= less
		x.left = x.left.more(product(rate, less))
		if f.home == f.first+int32(i) {
			x.load -= less
		}
		s.enter(u.res, -u.count*ended)
		s.changed(u.res)
	}
	s.leads(e, id, f, f.left.more(f.soonest.end.less(first)))
}

// remove takes a flow whose messages have ended off its resources.
func (s *sharing) remove(f *flow, messages int32) {
	f.version++
	rate := s.rate(f)
	if f.home != limited {
		s.leave(f)
	}
	for i := range s.of(f) {
		u := &s.of(f)[i]
		x := &s.res[u.res]
		x.weight -= u.load
		x.left = x.left.more(product(rate, u.load))
		s.enter(u.res, -u.count*messages)
		if messages > 1 {
			u.load /= uint64(messages)
		}
		if x.n--; x.n == 0 { // nothing on it can change
			x.top = 0
			continue
		}
		s.place(x, u.slot, s.active[x.first+x.n])
		s.changed(u.res)
	}
}

// place puts a use into a slot of its resource.
func (s *sharing) place(x *shared, slot, use int32) {
	s.active[x.first+slot] = use
	s.uses[use].slot = slot
}
