package sim

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
	"railyard/model/units"
)

// costClass is what routes must have in common for equal messages to cost the same.
type costClass struct {
	medium        topology.Medium
	protocol      schedule.Protocol
	inSwitch      bool       // of messages that switches copy or add up
	parts         int32      // of a message that leave at once, in as many channels
	latency       units.Time // what α does not hold
	solo, private float64    // bytes/s
}

// charge is what a message of one size costs on a route of one class.
type charge struct {
	alpha  int64   // ps until its bytes begin to move
	direct int64   // ps until it is there, where it shares nothing
	solo   int64   // the same where it could share but is alone
	limit  int64   // rate that it cannot exceed, whatever it shares
	eff    float64 // of the line rate
	taken  int64   // ps of its receiver's program, and in a row of its sender's
	each   float64 // bytes of its rank's carrier that each of its own takes
	slower float64 // bytes of what nodes share that each takes
	empty  bool    // no bytes have to move
	ahead  bool    // α passes while messages before it move
}

// forever bounds all times: 26 days, which leaves room for sums.
const forever int64 = 1 << 61

func (c *compiler) costClasses() {
	var classes symmetry.Numbering[costClass]
	parts := c.together()
	for i := range c.routes {
		r := &c.routes[i]
		k := costClass{r.full.Medium, c.jobs[r.job].Schedule.Protocol, r.team,
			max(parts[pair{r.job, r.src, r.dst}], 1), c.profile.ExtraLatency(&r.full), r.solo, r.private}
		r.class = int32(classes.Of(k))
	}
	c.classes = classes.All
}

// pair are two ranks between which a job sends.
type pair struct{ job, src, dst int32 }

// together are the channels of a job that lead from one rank to another, where messages of all of them leave at once.
func (c *compiler) together() map[pair]int32 {
	type part struct {
		pair
		channel int32
	}
	if !slices.ContainsFunc(c.profile.Curves, func(x cost.Curve) bool { return x.Part > 0 }) {
		return nil // of millions of connections none has to be looked at
	}
	seen, parts := map[part]bool{}, map[pair]int32{}
	for i := range c.conns {
		k := &c.conns[i]
		r := &c.routes[k.route]
		if c.profile.Transfer(r.full.Medium, string(c.jobs[r.job].Schedule.Protocol), 0).Part == 0 {
			continue
		}
		of := part{pair{r.job, r.src, r.dst}, k.channel}
		if !seen[of] {
			seen[of] = true
			parts[of.pair] += c.channelsOf(k.channel)
		}
	}
	return parts
}

// table holds the costs of a run by class and size, filled as they are needed.
type table struct {
	bytes   []units.Bytes // by size
	work    []int64       // by size: ps to combine what has been received
	sums    []int64       // by size: ps to combine what lies here
	copies  []int64       // by size: ps to copy
	costs   []charge      // by class × size
	known   []bool
	carried units.Bytes // see carried.go
	level   cost.Level  // what memory costs in this run
	levels  bool        // the profile has levels
}

// sumTraffic is how many bytes a kernel moves for each that it adds: it reads two and writes one.
const sumTraffic = 3

// fill computes the sizes for the run; costs follow on demand. Steps are counted
// without local work.
func (t *table) fill(p *Plan, chunk []units.Bytes, steps bool) {
	n := len(p.sizes)
	t.bytes, t.work, t.sums, t.copies = resize(t.bytes, n), resize(t.work, n), resize(t.sums, n), resize(t.copies, n)
	for i, s := range p.sizes {
		b := s.bytes(chunk[s.shape])
		reduce, copied := p.profile.Local(string(p.jobs[p.strands[s.shape].job].Schedule.Protocol))
		t.bytes[i] = b
		switch {
		case steps:
			t.work[i], t.sums[i], t.copies[i] = 0, 0, 0
		case t.levels:
			pass := t.level.Pass(s.fresh)
			t.work[i] = max(over(b, pass.Combine)-over(b, pass.Copy), 0)
			t.sums[i], t.copies[i] = over(b, t.level.Input.Combine), over(b, t.level.Input.Copy)
		default:
			t.work[i], t.copies[i] = over(b, reduce), over(b, copied)
			if t.sums[i] = t.work[i]; s.summed {
				t.sums[i] = over(b, sumTraffic*p.profile.Sum)
			}
		}
	}
	t.costs, t.known = resize(t.costs, n*len(p.classes)), resize(t.known, n*len(p.classes))
	clear(t.known)
}

// local is the time of an operation's local work.
func (t *table) local(k schedule.OpKind, size int32) int64 {
	switch k {
	case schedule.RecvReduce:
		return t.work[size]
	case schedule.Reduce:
		return t.sums[size]
	case schedule.Copy:
		return t.copies[size]
	}
	return 0
}

// resize is a slice of n elements, not cleared; it reuses memory where there is enough.
func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}

// charge is the cost of a message.
func (e *engine) charge(class, size int32) *charge {
	i := int(class)*len(e.sizes) + int(size)
	if !e.table.known[i] {
		e.table.known[i] = true
		e.table.costs[i] = e.price(&e.classes[class], e.table.bytes[size], e.sizes[size].fresh)
	}
	return &e.table.costs[i]
}

// price asks the profile.
func (e *engine) price(k *costClass, bytes units.Bytes, fresh bool) charge {
	if e.opts.countSteps {
		return charge{alpha: 1, direct: 1, solo: 1, limit: unlimited, eff: 1, each: 1, slower: 1, empty: true}
	}
	protocol := string(k.protocol)
	if k.inSwitch {
		protocol = cost.InSwitch(protocol)
	}
	t := e.paced(e.profile.Transfer(k.medium, protocol, bytes))
	if e.table.carried > bytes {
		t = t.Among(e.profile.Transfer(k.medium, protocol, e.table.carried))
	}
	slower := cmp.Or(t.Slower, 1)
	t, each := t.On(k.solo, bytes, int(k.parts))
	if e.table.levels {
		t.Cap, t.Efficiency = e.fetched(k, fresh)
	}
	c := charge{alpha: int64(t.Alpha + k.latency), eff: t.Efficiency, each: each, slower: slower, ahead: t.Ahead,
		taken: int64(min(t.Receive, t.Alpha))}
	c.alpha -= c.taken
	limit := math.Inf(1)
	for _, most := range []float64{float64(t.Cap), float64(t.Node) / slower, float64(t.NodeWay) / slower, float64(t.Carrier) / each} {
		if most > 0 {
			limit = min(limit, most)
		}
	}
	solo := min(limit, k.solo*c.eff)
	limit = min(limit, k.private*c.eff)
	c.limit = fixedRate(limit)
	c.empty = bytes == 0 || e.opts.NoTransfer
	c.direct, c.solo = c.alpha, c.alpha
	if !c.empty {
		c.direct += duration(float64(bytes), limit)
		c.solo += duration(float64(bytes), solo)
	}
	if e.opts.NoContention {
		c.direct = c.solo
	}
	return c
}

// fetched is what a core reaches that copies out of another one's memory while the others
// rest, and the share of the bus that all reach together.
func (e *engine) fetched(k *costClass, fresh bool) (alone units.Rate, share float64) {
	l := &e.table.level
	pass := l.Pass(fresh)
	together := float64(pass.Copy) * float64(e.topo.NumRanks())
	return units.Rate(float64(l.Alone) * float64(pass.Copy) / float64(l.Input.Copy)), min(1, together/k.solo)
}

// duration is how long bytes take at a rate, in picoseconds, rounded up: exactly where
// both are whole numbers, else after forgiving 1e-6 of a picosecond for the rounding
// of the quotient.
func duration(bytes, rate float64) int64 {
	const whole = 1 << 53
	switch {
	case bytes <= 0 || math.IsInf(rate, 1):
		return 0
	case rate < whole && bytes < whole && rate == math.Trunc(rate) && bytes == math.Trunc(bytes):
		return min(int64(units.Bytes(bytes).Over(units.Rate(rate))), forever)
	}
	t := math.Ceil(bytes*1e12/rate - 1e-6)
	if !(t < float64(forever)) {
		return forever
	}
	return int64(t)
}

// over is the time of local work; free where the profile has no rate.
func over(b units.Bytes, r units.Rate) int64 {
	if r == 0 {
		return 0
	}
	return min(int64(b.Over(r)), forever)
}
