package sim

import (
	"math"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
)

// link is the α-β-γ model of a message between any two ranks: α + s·β, and γ for each
// byte combined. Hockney, "The communication challenge for MPP", 1994.
type link struct {
	alpha float64 // ps
	beta  float64 // ps per byte
	gamma float64 // ps per byte
}

// message is the time of one message.
func (l link) message(bytes float64) float64 { return l.alpha + bytes*l.beta }

// ClosedForm is the textbook time of a schedule, where its assumptions hold: one
// channel, one slice, one phase over all ranks, every route alike, and no two
// messages of a step on one link. ok is false where they do not hold. It shares
// nothing with the event engine but the chunk sizes.
func (p *Plan) ClosedForm(size units.Bytes) (units.Time, bool) {
	l, ok := p.uniform(size)
	if !ok {
		return 0, false
	}
	ch := &p.sched.Channels[0]
	ph := &ch.Phases[0]
	n := p.sched.Spec.Ranks
	chunk := float64(p.sched.ChunkBytes(0, size))
	t, ok := closedForm(ph, n, chunk, chunk*float64(ch.Chunks), l)
	return p.profile.Launch + units.Time(math.Ceil(t)), ok
}

// uniform is the link model where all routes are alike.
func (p *Plan) uniform(size units.Bytes) (link, bool) {
	if len(p.sched.Channels) != 1 || p.sched.Channels[0].Slices != 1 || len(p.sched.Channels[0].Phases) != 1 || len(p.routes) == 0 {
		return link{}, false
	}
	if g := p.sched.Channels[0].Phases[0].Groups; g.Grid != nil || len(g.List) != 1 || len(g.List[0].Ranks) != p.sched.Spec.Ranks {
		return link{}, false
	}
	e := p.newEngine()
	e.reset(size, Options{})
	var first link
	for i := range p.routes {
		c := e.costOf(int32(i), p.msgs[0].bytes(e.chunk[0]))
		f := flow{cap: c.rate, eff: c.efficiency}
		l := link{alpha: float64(c.alpha), beta: 1e12 / solo(e, p.routes[i].use, &f)}
		if p.profile.Reduce > 0 {
			l.gamma = 1e12 / float64(p.profile.Reduce)
		}
		if i == 0 {
			first = l
		} else if math.Abs(l.beta-first.beta) > 1e-9*first.beta || l.alpha != first.alpha {
			return link{}, false
		}
	}
	return first, len(p.profile.Curves) == 0 || len(p.profile.Curves[0].Segments) == 1
}

// closedForm gives the formulas; chunk is one rank's part, whole the channel's bytes.
func closedForm(ph *schedule.Phase, n int, chunk, whole float64, l link) (float64, bool) {
	steps := float64(n - 1)
	log := math.Ceil(math.Log2(float64(n)))
	pow2 := n&(n-1) == 0
	switch ph.Gen {
	case schedule.GenRing:
		return ring(ph.Op, steps, chunk, whole, l)
	case schedule.GenTree:
		if ph.Parents != nil && ph.Op == collective.Broadcast {
			return treeBroadcast(ph.Parents, whole, l), true
		}
		if isChain(ph.Parents) {
			return ring(ph.Op, steps, chunk, whole, l)
		}
	case schedule.GenDoubling:
		if pow2 {
			return doubling(ph.Op, n, chunk, whole, l)
		}
	case schedule.GenBruck:
		if ph.Op == collective.Barrier { // its all-gather sends ranges that wrap in two messages
			return log * l.alpha, true
		}
	}
	return 0, false
}

// treeBroadcast: a parent sends to all of its children at once, so that each gets its
// share of the parent's link; the last leaf decides.
func treeBroadcast(parents []int32, whole float64, l link) float64 {
	children := make([]float64, len(parents))
	for _, p := range parents {
		if p >= 0 {
			children[p]++
		}
	}
	var last float64
	for v := range parents {
		var t float64
		for p := parents[v]; p >= 0; p = parents[p] {
			t += l.alpha + children[p]*whole*l.beta
		}
		last = max(last, t)
	}
	return last
}

// isChain reports whether a tree is the chain 0 → 1 → 2 → ….
func isChain(parents []int32) bool {
	for p, parent := range parents {
		if int(parent) != p-1 {
			return false
		}
	}
	return len(parents) > 0
}

// ring: Patarasuk, Yuan 2009.
func ring(op collective.Kind, steps, chunk, whole float64, l link) (float64, bool) {
	switch op {
	case collective.AllGather:
		return steps * l.message(chunk), true
	case collective.ReduceScatter:
		return steps * (l.message(chunk) + chunk*l.gamma), true
	case collective.AllReduce:
		return steps * (2*l.message(chunk) + chunk*l.gamma), true
	case collective.Broadcast:
		return steps * l.message(whole), true
	case collective.Reduce:
		return steps * (l.message(whole) + whole*l.gamma), true
	}
	return 0, false
}

// doubling: recursive halving and doubling, Thakur et al. 2005.
func doubling(op collective.Kind, n int, chunk, whole float64, l link) (float64, bool) {
	log, steps := math.Log2(float64(n)), float64(n-1)
	switch op {
	case collective.AllReduce:
		return log * (l.message(whole) + whole*l.gamma), true
	case collective.ReduceScatter:
		return log*l.alpha + steps*chunk*(l.beta+l.gamma), true
	case collective.AllGather:
		return log*l.alpha + steps*chunk*l.beta, true
	}
	return 0, false
}
