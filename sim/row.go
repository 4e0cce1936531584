package sim

import "railyard/model/topology"

// Operations in a row: where costs are of operations that follow one another (see cost.Curve), they are played so, each rank beginning
// one when it has ended the one before, as kernels on a stream do, and an operation takes what they come apart: the root of a broadcast
// runs ahead of those that hear of it, and ranks of a ring that has slow hops begin before others have ended. Each rank waits for all
// lanes of its own, a group, and until the last message that it sends has taken of its program what it takes of the receiver's. The
// first operations fill what they pass through, so many as the plan is deep: the second half of those played counts, and twice as many
// are played until that changes what one takes by no more than one part in settledTo, or mostInARow are.
const (
	leastInARow = 8
	mostInARow  = 64
	settledTo   = 200
)

// row is how far each group has come.
type row struct {
	left   []int32 // by group: lanes that have not ended; nil: one operation is played
	done   []int32 // by group: operations
	ended  []int   // by operation: how many groups have
	ends   []int64 // by group and operation: when it did
	busy   []int64 // by group: until when its programs send
	lanes  [][]int32
	groups int
	period int64 // what an operation takes, as far as is known
	over   bool  // it is
}

// rowed reports whether costs are of operations in a row. Of several jobs each is played once: which operation of one meets which of
// another is not known.
func (p *Plan) rowed() bool {
	return len(p.jobs) == 1 && p.profile.Transfer(topology.Network, string(p.jobs[0].Schedule.Protocol), 0).Row
}

// group names the group of each lane after its rank's first one.
func (c *compiler) group() {
	if !c.rowed() {
		return
	}
	first := map[int32]int32{}
	for i := range c.lanes {
		l := &c.lanes[i]
		if _, ok := first[l.rank]; !ok {
			first[l.rank] = int32(i)
		}
		l.group = first[l.rank]
	}
}

// groups are the lanes of each group; nil where operations do not follow one another. Groups are named after a lane of theirs.
func (p *Plan) groups() [][]int32 {
	if !p.rowed() {
		return nil
	}
	out := make([][]int32, len(p.lanes))
	for i := range p.lanes {
		g := p.lanes[i].group
		out[g] = append(out[g], int32(i))
	}
	return out
}

func (r *row) reset(e *engine) {
	r.left, r.over, r.period, r.groups = r.left[:0], false, 0, 0
	if e.opts.countSteps || !e.rowed() {
		return
	}
	if r.lanes == nil {
		r.lanes = e.groups()
	}
	for _, lanes := range r.lanes {
		r.left = append(r.left, int32(len(lanes)))
		r.groups += min(len(lanes), 1)
	}
	r.done, r.ended, r.ends = resize(r.done, len(r.left)), resize(r.ended, mostInARow), resize(r.ends, mostInARow*len(r.left))
	r.busy = resize(r.busy, len(r.left))
	clear(r.done)
	clear(r.ended)
	clear(r.busy)
}

// sends notes that a lane sends a message: its program is busy with it meanwhile, beside what it receives.
func (r *row) sends(e *engine, l, c, size int32) {
	if len(r.left) > 0 && c >= 0 {
		g := e.Plan.lanes[l].group
		r.busy[g] = max(r.busy[g], e.now+e.charge(e.conns[c].class, size).taken)
	}
}

// end notes that a lane has; with the last one of its group, the next operation begins.
func (r *row) end(e *engine, l int32) {
	if len(r.left) == 0 {
		return
	}
	g := e.Plan.lanes[l].group
	if r.left[g]--; r.left[g] > 0 {
		return
	}
	n, end := r.done[g], max(e.now, r.busy[g])
	r.ends[int(g)*mostInARow+int(n)] = end
	if r.ended[n]++; r.ended[n] == r.groups {
		r.settle(int64(n + 1))
	}
	if r.done[g]++; r.done[g] < mostInARow && !r.over {
		r.left[g] = int32(len(r.lanes[g]))
		e.q.push(end+int64(e.launched()), newEvent(wake, l, 0))
	}
}

// settle finds what each of n operations, which all have ended, takes; they are enough where half of them say the same.
func (r *row) settle(n int64) {
	if n < leastInARow/2 || n&(n-1) != 0 {
		return
	}
	before := r.period
	r.period = 0
	for g, lanes := range r.lanes {
		if ends := r.ends[g*mostInARow:]; len(lanes) > 0 {
			r.period = max(r.period, (ends[n-1]-ends[n/2-1])/(n/2))
		}
	}
	off := max(r.period-before, before-r.period)
	r.over = n == mostInARow || n >= leastInARow && off <= r.period/settledTo
}

// again begins the next operation of a lane's group.
func (r *row) again(e *engine, l int32) {
	lanes := r.lanes[e.Plan.lanes[l].group]
	for _, i := range lanes {
		s := &e.lanes[i]
		s.rewind()
		s.slice, s.waiting = 0, s.before >= 0
	}
	for _, i := range lanes {
		if e.lanes[i].before < 0 {
			e.advance(i)
		}
	}
}

// one makes one operation of those that were played: what some are ahead with at first is not left out of what all take in the long run.
func (r *row) one(e *engine) {
	r.period = max(r.period, e.busiest())
	e.last, e.ends[0] = r.period, r.period
	n := e.inPlan()
	e.events, e.sends = e.events*n/max(e.sends, 1), n
}

// inPlan is how many messages an operation has.
func (e *engine) inPlan() (n int64) {
	for i := range e.conns {
		k := &e.conns[i]
		n += int64(k.times) * int64(e.strand(e.Plan.conns[i].channel).slices) * (int64(k.messages.end) + k.messages.extra())
	}
	return n
}
