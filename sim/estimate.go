package sim

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// Steps is the length of the longest chain of messages each of which cannot begin
// before the one before it has arrived. It does not depend on the size.
func (p *Plan) Steps() (int64, error) {
	if p.steps < 0 {
		e, err := p.play(p.each(0), Options{countSteps: true})
		if err != nil {
			return 0, err
		}
		p.steps = e.last
	}
	return p.steps, nil
}

// slack is what estimates give away for rounding: of floating-point sums, and of times by shares of links.
const slack = 1 - 1e-7

// LowerEstimate never exceeds the time that Run predicts, for a fraction of its work: nothing is earlier than where every transfer has its
// route to itself, a connection's messages come one after the other, a program's local work is done in
// sequence, and each resource has to carry all of its bytes, those of connections that one stands for as well. Connections and
// resources have nothing to carry before the first message comes: pipelines have to be filled. Operations in a row (see row.go) fill them
// once.
func (p *Plan) LowerEstimate(size units.Bytes) units.Time {
	e, row := p.newEngine(), p.rowed()
	e.reset(p.each(size), Options{NoContention: !row})
	if row {
		return units.Time(float64(e.busiest()) * slack)
	}
	launched := p.launched()
	x := newEstimator(e)
	x.alone()
	x.busy()
	x.work()
	x.loaded(false)
	return launched + units.Time(min(x.most*slack, float64(forever)))
}

// busiest is how long what is busy longest with an operation is: where operations follow one another, while others wait for messages.
func (e *engine) busiest() int64 {
	x := newEstimator(e)
	x.row, x.most = true, x.launched
	x.busy()
	x.work()
	if !e.opts.NoTransfer {
		x.loaded(e.opts.NoContention)
	}
	return int64(math.Ceil(min(x.most, float64(forever))))
}

func newEstimator(e *engine) *estimator {
	return &estimator{e: e, launched: float64(e.launched()), load: make([]resourceLoad, len(e.res)), seqs: map[pricedSequence]*seqCost{}}
}

// busy counts what each connection is busy with.
func (x *estimator) busy() {
	for i := range x.e.Plan.conns {
		x.conn(int32(i))
	}
}

// loaded counts what each resource is busy with; without contention, only what sets the pace of operations that follow one another.
func (x *estimator) loaded(paceAlone bool) {
	for i, l := range x.load {
		r := &x.e.res[i]
		if l.weight > 0 && (!paceAlone || r.pace > 0) {
			x.most = max(x.most, l.first+l.weight*1e12/r.inTheLongRun())
		}
	}
}

type estimator struct {
	e        *engine
	launched float64 // ps
	most     float64 // ps
	row      bool    // operations follow one another
	underWay bool    // of a run, what is left counts
	load     []resourceLoad
	seqs     map[pricedSequence]*seqCost
}

// resourceLoad is what a resource has to carry, and from when on.
type resourceLoad struct {
	weight float64 // bytes over efficiency
	first  float64 // ps after the launch
}

// pricedSequence is a cost class and a sequence.
type pricedSequence struct {
	class    int32
	messages sequence
}

// seqCost is what a slice of a connection's messages costs.
type seqCost struct {
	n          int64
	alpha      float64 // the least of those that pass while others move, as the first has at least; 0 where there are none
	next       float64 // the most of all
	all, least carried // all messages, and each at least
}

// carried is what messages take of what they pass through.
type carried struct {
	time   float64 // alone on its route, one after the other; α that passes while others move is none of it
	bytes  float64
	shared float64 // bytes of what nodes share
	weight float64 // bytes over efficiency
	each   float64 // what they take of their ranks' carriers
}

func (c *carried) add(o *carried, times float64) {
	c.time += times * o.time
	c.bytes += times * o.bytes
	c.shared += times * o.shared
	c.weight += times * o.weight
	c.each += times * o.each
}

func (c *carried) least(o *carried) carried {
	return carried{min(c.time, o.time), min(c.bytes, o.bytes), min(c.shared, o.shared), min(c.weight, o.weight), min(c.each, o.each)}
}

// of is what the last so many messages take, at least.
func (c *seqCost) of(messages int64) carried {
	a, l := &c.all, &c.least
	slices, more := float64(messages/c.n), float64(messages%c.n)
	return carried{a.time*slices + l.time*more, a.bytes*slices + l.bytes*more, a.shared*slices + l.shared*more,
		a.weight*slices + l.weight*more, a.each*slices + l.each*more}
}

// conn counts a connection's messages, of a run that is under way those that do not move yet.
func (x *estimator) conn(i int32) {
	k := &x.e.Plan.conns[i]
	r, c := &x.e.routes[k.route], x.cost(k)
	first, alone, n := 0.0, c.alpha, k.messages.total()*int64(x.e.strand(k.channel).slices)
	switch {
	case x.underWay:
		n -= x.e.conns[i].moved
		first, alone = float64(x.e.now)-x.launched, -c.next // the next one may be about to move
	case x.row:
		alone = 0
	default:
		first = float64(x.e.begun[i]) - x.launched
	}
	all := c.of(n)
	x.most = max(x.most, first+alone+all.time)
	for _, u := range r.use {
		l, weight := &x.load[u.res], all.weight
		switch side := x.e.res[u.res].node; {
		case side != nil && side.carrier:
			weight = all.each
		case side != nil && side.paces:
			weight = all.bytes
		case side != nil:
			weight = all.shared
		}
		if l.weight == 0 || first < l.first {
			l.first = first
		}
		l.weight += weight * u.weight * float64(u.count)
	}
}

// cost is what a slice of a connection's messages costs.
func (x *estimator) cost(k *conn) *seqCost {
	class := x.e.routes[k.route].class
	key := pricedSequence{class, k.messages}
	if c, ok := x.seqs[key]; ok {
		return c
	}
	c := &seqCost{n: k.messages.total(), alpha: math.Inf(1)}
	for i, s := range x.e.listed(k) {
		m, times := x.e.charge(class, s), float64(k.messages.loop.times(int32(i)))
		busy, first := m.solo, int64(0)
		if m.ahead {
			busy, first = m.solo-m.alpha, m.alpha
		}
		bytes := float64(x.e.table.bytes[s])
		one := carried{float64(busy), bytes, bytes * m.slower, bytes / m.eff, bytes * m.each}
		if c.least = one.least(&c.least); i == 0 {
			c.least = one
		}
		c.alpha, c.next = min(c.alpha, float64(first)), max(c.next, float64(m.alpha))
		c.all.add(&one, times)
	}
	x.seqs[key] = c
	return c
}

// maxAlone is about how many operations an estimate plays.
const maxAlone = 100_000

// alone plays a run without contention, of long ones the first slices: there are no choices in it, so that a message that
// shares links delays others and never makes way for them. Only this sees chains of messages that wait for one another, such as rings.
// Processors take what comes first, and programs that messages keep take those together that come together, so that what comes sooner may
// end later; of these, nothing is known.
func (x *estimator) alone() {
	e := x.e
	e.begun = slices.Repeat([]int64{int64(x.launched)}, len(e.conns))
	if e.serial() || e.takes {
		return
	}
	share := min(1, float64(maxAlone)/float64(max(1, e.Work())))
	for i := range e.lanes {
		e.lanes[i].slices = max(1, int32(share*float64(e.lanes[i].slices)))
	}
	for i := range e.begun {
		e.begun[i] = notBegun
	}
	e.begins()
	for len(e.q.heap) > 0 && e.q.heap[0].at < forever && e.handled < maxAlone {
		e.next()
	}
	for i := range e.begun {
		e.begun[i] = min(e.begun[i], e.now) // later, if not yet
	}
	x.most = max(x.most, float64(e.now)-x.launched)
}

const notBegun = math.MaxInt64

// work counts the local work of each program.
func (x *estimator) work() {
	if x.e.table.levels { // what work costs depends on what is received, which programs do not say
		return
	}
	done := map[int32]int64{} // by first operation: work a slice
	for i := range x.e.Plan.lanes {
		l := &x.e.Plan.lanes[i]
		w, ok := done[l.first]
		if !ok {
			for i, o := range x.e.ops[l.first:l.end] {
				w += l.loop.times(int32(i)) * x.e.table.local(o.kind, o.size)
			}
			done[l.first] = w
		}
		x.most = max(x.most, float64(w)*float64(x.e.strand(l.channel).slices))
	}
}

// unpriced warns of media that a fitted profile has no curve for.
func (p *Plan) unpriced() []string {
	if len(p.profile.Curves) == 0 {
		return nil
	}
	var out []string
	type priced struct {
		medium   topology.Medium
		protocol schedule.Protocol
	}
	seen := map[priced]bool{}
	for _, k := range p.classes {
		what := priced{k.medium, k.protocol}
		if seen[what] || p.profile.Covers(k.medium, string(k.protocol)) {
			continue
		}
		seen[what] = true
		out = append(out, fmt.Sprintf("profile %s has no %s curve for %s: the topology's line rates were used", p.profile.Name, k.protocol,
			k.medium))
	}
	return out
}
