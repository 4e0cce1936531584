package sim

import (
	"math"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// describe works out a phase's groups and its link; false where they are not uniform.
func (f *phaseForm) describe(e *engine, phase int) bool {
	ch := e.channel(0)
	chunk := float64(e.chunk[0])
	f.slices = float64(ch.Slices)
	parts, ok := f.groups(ch, e.jobs[0].Schedule.Spec.Ranks)
	if !ok {
		return false
	}
	f.part, f.whole = float64(parts)*chunk, float64(parts*f.n)*chunk
	if g := f.ph.Groups; g.Grid == nil && g.List[0].Parts == nil {
		whole := ch.Chunks
		if w := g.List[0].Whole.Len(); w > 0 {
			whole = w
		}
		f.whole = float64(whole) * chunk
	}
	if e.profile.Reduce > 0 {
		f.gamma = 1e12 / float64(e.profile.Reduce)
	}
	var conns []int32
	for i := range e.Plan.conns {
		if int(e.Plan.conns[i].phase) == phase {
			conns = append(conns, int32(i))
		}
	}
	return f.uniform(e, conns) && f.sharing(e, conns)
}

// groups is the size of all groups of the phase and the chunks of a part; false where
// they differ or leave ranks out.
func (f *phaseForm) groups(ch *schedule.Channel, ranks int) (parts int, ok bool) {
	if g := f.ph.Groups.Grid; g != nil {
		f.n = int(g.Dims[g.Axis])
		parts = ch.Chunks / f.n
		for _, axis := range g.Fixed {
			parts /= int(g.Dims[axis])
		}
		return parts, parts > 0
	}
	total := 0
	f.n = len(f.ph.Groups.List[0].Ranks)
	for _, g := range f.ph.Groups.List {
		total += len(g.Ranks)
		n := 1
		for m := range g.Parts {
			if n = g.Parts[m].Len(); n != g.Parts[0].Len() {
				return 0, false
			}
		}
		if len(g.Ranks) != f.n || parts > 0 && n != parts {
			return 0, false
		}
		parts = n
	}
	return parts, total == ranks
}

// uniform finds the one link of all messages; false where they differ.
func (f *phaseForm) uniform(e *engine, conns []int32) bool {
	for i, c := range conns {
		k := &e.Plan.conns[c]
		r := &e.routes[k.route]
		for _, s := range e.listed(k) {
			m := e.charge(r.class, s)
			alpha, beta := float64(m.alpha), 1e12/min(float64(m.limit)/rateScale, r.solo*m.eff)
			if i == 0 && f.alpha == 0 && f.beta == 0 {
				f.alpha, f.beta = alpha, beta
			} else if alpha != f.alpha || math.Abs(beta-f.beta) > 1e-9*f.beta {
				return false
			}
		}
	}
	return true
}

// sharing finds out whether messages sent at once have links of their own or share a
// port; false where they share anything else.
func (f *phaseForm) sharing(e *engine, conns []int32) bool {
	step := func(int32) int { return 0 }
	if f.ph.Gen == schedule.GenDoubling || f.ph.Gen == schedule.GenBruck { // one partner after another
		step = e.order(conns)
	}
	if e.fits(conns, step) {
		return true
	}
	f.port = true
	switch f.ph.Gen {
	case schedule.GenDirect:
		return e.ports(conns, f.op != collective.Gather && f.op != collective.Reduce, f.op != collective.Scatter &&
			f.op != collective.Broadcast)
	case schedule.GenTree:
		return e.ports(conns, f.op == collective.Broadcast, f.op == collective.Reduce)
	}
	return false
}

// order numbers the connections of each sender.
func (e *engine) order(conns []int32) func(int32) int {
	number := map[int32]int{}
	seen := map[int32]int{}
	for i := range e.Plan.lanes {
		l := &e.Plan.lanes[i]
		for o := l.first; o < l.end; o++ {
			if e.ops[o].kind != schedule.Send {
				continue
			}
			c := e.laneConns[l.conns+e.ops[o].conn]
			if _, ok := number[c]; !ok {
				number[c] = seen[int32(i)]
				seen[int32(i)]++
			}
		}
	}
	return func(c int32) int { return number[c] }
}

// fits reports whether all connections of a step can move at full rate together.
func (e *engine) fits(conns []int32, step func(int32) int) bool {
	type place struct {
		res  int32
		step int
	}
	load := map[place]float64{}
	for _, c := range conns {
		r := &e.routes[e.Plan.conns[c].route]
		for _, u := range r.use {
			at := place{u.res, step(c)}
			if load[at] += r.solo * u.weight; load[at] > e.res[u.res].capacity*(1+1e-9) {
				return false
			}
		}
	}
	return true
}

// ports reports whether every resource that connections share is the port of one rank,
// fully loaded by one message: the way out (where out may be shared) or the way in.
func (e *engine) ports(conns []int32, out, in bool) bool {
	first := map[int32]*route{} // by resource
	sameSrc, sameDst := map[int32]bool{}, map[int32]bool{}
	shared := map[int32]bool{}
	for _, c := range conns {
		r := &e.routes[e.Plan.conns[c].route]
		for _, u := range r.use {
			if math.Abs(r.solo*u.weight-e.res[u.res].capacity) > 1e-9*e.res[u.res].capacity {
				return false
			}
			if f := first[u.res]; f == nil {
				first[u.res], sameSrc[u.res], sameDst[u.res] = r, true, true
			} else {
				shared[u.res] = true
				sameSrc[u.res] = sameSrc[u.res] && f.src == r.src
				sameDst[u.res] = sameDst[u.res] && f.dst == r.dst
			}
		}
	}
	for res := range shared {
		if !(sameSrc[res] && out || sameDst[res] && in) {
			return false
		}
	}
	return true
}
