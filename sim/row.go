package sim

import "railyard/model/topology"

// Operations in a row: where costs are of operations that follow one another (see cost.Curve), so many are played, each rank beginning
// one when it has ended the one before, as kernels on a stream do, and an operation takes what they come apart: the root of a broadcast
// runs ahead of those that hear of it, and ranks of a ring that has slow hops begin before others have ended. Each rank waits for all
// lanes of its own, a group. Of so many, the first ones fill what they pass through.
const (
	inARow  = 12
	filling = 4
)

// row is how far each group has come.
type row struct {
	left  []int32 // by group: lanes that have not ended; nil: one operation is played
	done  []int32 // by group: operations
	ends  []int64 // by operation: when the last group ended it
	lanes [][]int32
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
	r.left, r.ends = r.left[:0], r.ends[:0]
	if e.opts.countSteps || !e.rowed() {
		return
	}
	if r.lanes == nil {
		r.lanes = e.groups()
	}
	for _, lanes := range r.lanes {
		r.left = append(r.left, int32(len(lanes)))
	}
	r.done, r.ends = resize(r.done, len(r.left)), resize(r.ends, inARow)
	clear(r.done)
}

// ended notes that a lane has; with the last one of its group, the next operation begins.
func (r *row) ended(e *engine, l int32) {
	if len(r.left) == 0 {
		return
	}
	g := e.Plan.lanes[l].group
	if r.left[g]--; r.left[g] > 0 {
		return
	}
	r.ends[r.done[g]] = e.now
	if r.done[g]++; r.done[g] < inARow {
		r.left[g] = int32(len(r.lanes[g]))
		e.q.push(e.now+int64(e.launched()), newEvent(wake, l, 0))
	}
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

// period makes one operation of those that were played.
func (r *row) period(e *engine) {
	if len(r.left) == 0 {
		return
	}
	e.last = (r.ends[inARow-1] - r.ends[filling-1]) / (inARow - filling)
	e.ends[0] = e.last
	e.sends, e.events = e.sends/inARow, e.events/inARow
}
