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
	x.loaded(false)
	return launched + units.Time(min(x.most*slack, float64(forever)))
}

// busiest is how long what is busy longest with an operation is: where operations follow one another, while others wait for messages.
func (e *engine) busiest() int64 {
	x := newEstimator(e)
	x.row, x.most = true, x.launched
	x.busy()
	if !e.opts.NoTransfer {
		x.loaded(e.opts.NoContention)
	}
	return int64(math.Ceil(min(x.most, float64(forever))))
}

func newEstimator(e *engine) *estimator {
	return &estimator{e: e, launched: float64(e.launched()), load: make([]resourceLoad, len(e.res)), seqs: map[pricedSequence]seqCost{}}
}

// busy counts what each connection and program is busy with.
func (x *estimator) busy() {
	for i := range x.e.Plan.conns {
		x.conn(int32(i))
	}
	x.work()
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
	load     []resourceLoad
	seqs     map[pricedSequence]seqCost
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
	time   float64 // alone on its route, one after the other; α that passes while others move is none of it
	alpha  float64 // the least of those, as the first has at least; 0 where there are none
	bytes  float64
	shared float64 // bytes of what nodes share
	weight float64 // bytes over efficiency
	each   float64 // what they take of their ranks' carriers
}

// conn counts a connection's messages.
func (x *estimator) conn(i int32) {
	k := &x.e.Plan.conns[i]
	r, first := &x.e.routes[k.route], 0.0
	if !x.row {
		first = float64(x.e.begun[i]) - x.launched
	}
	key := pricedSequence{r.class, k.messages}
	c, ok := x.seqs[key]
	if !ok {
		c.alpha = math.Inf(1)
		for i, s := range x.e.listed(k) {
			m, times := x.e.charge(r.class, s), float64(k.messages.loop.times(int32(i)))
			busy, first := m.solo, int64(0)
			if m.ahead {
				busy, first = m.solo-m.alpha, m.alpha
			}
			c.alpha = min(c.alpha, float64(first))
			c.time += times * float64(busy)
			c.bytes += times * float64(x.e.table.bytes[s])
			c.shared += times * float64(x.e.table.bytes[s]) * m.slower
			c.weight += times * float64(x.e.table.bytes[s]) / m.eff
			c.each += times * float64(x.e.table.bytes[s]) * m.each
		}
		x.seqs[key] = c
	}
	n, alone := float64(x.e.strand(k.channel).slices), first
	if !x.row {
		alone += c.alpha
	}
	x.most = max(x.most, alone+c.time*n)
	for _, u := range r.use {
		l, weight := &x.load[u.res], c.weight
		switch side := x.e.res[u.res].node; {
		case side != nil && side.carrier:
			weight = c.each
		case side != nil && side.paces:
			weight = c.bytes
		case side != nil:
			weight = c.shared
		}
		if l.weight == 0 || first < l.first {
			l.first = first
		}
		l.weight += weight * n * u.weight * float64(u.count)
	}
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
