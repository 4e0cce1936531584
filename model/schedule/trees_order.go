package schedule

import (
	"cmp"
	"slices"
)

// Loop is a part of a program, ops[First:End], that runs so many times.
type Loop struct{ First, End, Times int }

// treeOrder is in which order a rank sends and receives. Plans of long pipelines come to
// repeat themselves, piece by piece, so that only a short one is played, and what a rank
// does in a period in the middle of it is done once for each further piece.
type treeOrder struct {
	steps []treeStep
	Loop  // of steps
}

// treeStep is a hop on which a rank sends or receives the next piece.
type treeStep int32

func (s treeStep) hop() int32     { return int32(s >> 1) }
func (s treeStep) receives() bool { return s&1 == 1 }

// treeOrdering puts a rank's steps in order.
type treeOrdering struct {
	*treeWriter
	steps    []treeStep
	sent     []int // by outgoing connection: messages
	received int32
}

func (x *treeOrdering) order() treeOrder {
	conns, received := x.outgoing[x.rank], x.plan.arrived[x.rank]
	n := len(received)
	for _, c := range conns {
		n += len(x.plan.conns[c].order)
	}
	x.steps, x.sent = make([]treeStep, 0, n), make([]int, len(conns))
	x.send()
	if n == len(x.steps) {
		x.inTime()
	}
	for _, h := range received {
		x.received++
		x.add(treeStep(h<<1 | 1))
		x.send()
	}
	return treeOrder{x.steps, Loop{Times: 1}}
}

func (x *treeOrdering) add(s treeStep) {
	x.steps = append(x.steps, s)
	x.ops = x.ops[:0] // only what is there counts
	x.do(s)
}

// send sends what can be sent on each connection.
func (x *treeOrdering) send() {
	for i, c := range x.outgoing[x.rank] {
		k := &x.plan.conns[c]
		for x.sent[i] < len(k.order) {
			h := k.order[x.sent[i]]
			if _, there := x.source(x.plan.hopAt(h), *x.piece(h)); !there || x.received < k.after[x.sent[i]] {
				break
			}
			x.add(treeStep(h << 1))
			x.sent[i]++
		}
	}
}

// inTime sorts the sends of a rank that receives nothing, and so sends all at once, by when
// they begin.
func (x *treeOrdering) inTime() {
	type timed struct {
		at   int64
		step treeStep
	}
	var list []timed
	for _, c := range x.outgoing[x.rank] {
		k := &x.plan.conns[c]
		for i, h := range k.order {
			list = append(list, timed{k.starts[i], treeStep(h << 1)})
		}
	}
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	for i := range list {
		x.steps[i] = list[i].step
	}
}

// settled is in how many pieces pipelines are played that have more: half of that until
// what ranks do repeats itself, and a quarter in which it has to.
const settled = 64

// repeat makes orders of so many pieces of which all ranks do more; false where some rank
// does not repeat itself. What happens in a period is the same for all: messages that
// are received in it. So all of a later period is as much later.
func (w *treeProgram) repeat(more int) bool {
	for r := range w.orders {
		o := &w.orders[r]
		first, ok := w.period(r)
		if !ok || !o.repeats(first, w.hopsOf(r)) {
			return false
		}
		o.Loop = Loop{First: first, End: first + w.hopsOf(r), Times: 1 + more}
	}
	return true
}

// hopsOf counts the hops on which a rank sends or receives.
func (w *treeProgram) hopsOf(rank int) int {
	n := len(w.plan.arrived[rank]) / settled
	for _, c := range w.outgoing[rank] {
		n += len(w.plan.conns[c].hops)
	}
	return n
}

// period is a rank's first step in the middle; false where it receives more or less than
// a piece of each hop in the time that one takes.
func (w *treeProgram) period(rank int) (first int, ok bool) {
	p, o := w.plan, &w.orders[rank]
	began := p.period * settled / 2
	came := p.came[rank]
	if len(came) == 0 { // nothing tells it when to send
		return len(o.steps) / 2, len(o.steps)%2 == 0
	}
	n, _ := slices.BinarySearch(came, began)
	m, _ := slices.BinarySearch(came, began+p.period)
	if m-n != len(came)/settled {
		return 0, false
	}
	for n > 0 || !o.steps[first].receives() {
		if o.steps[first].receives() {
			n--
		}
		first++
	}
	return first, true
}

// repeats reports whether the n steps from one on are done again and again, each of them
// once a period.
func (o *treeOrder) repeats(first, n int) bool {
	end := first + settled/4*n
	if end > len(o.steps) || !slices.Equal(o.steps[first:end-n], o.steps[first+n:end]) {
		return false
	}
	sorted := slices.Clone(o.steps[first : first+n])
	slices.Sort(sorted)
	return len(slices.Compact(sorted)) == n
}
