package step

import (
	"cmp"
	"fmt"
	"math"

	"railyard/internal/heap"
	"railyard/model/units"
	"railyard/model/workload"
)

// task is a stretch of computation of a stage, with the communication inside it.
type task struct {
	*work
	slot    slot
	block   workload.Block // where it is one block's
	convert units.Time     // packing of gradients, on top of the work
	from    int            // stage whose task must have ended, −1: none
	after   int            // its task
	travel  units.Time     // from there to here
	needs   int            // transfers that must have ended: those before this number
	begins  []transfer     // transfers that may start when it starts
	ends    []transfer     // transfers that may start when it ends
}

// work is what tasks do: passes of blocks, one after the other.
type work struct {
	time, compute units.Time
	busy          [2]units.Time // of time, communication on scale-up links and on the network
	parts         []*pass
}

func (w *work) add(p *pass) {
	w.time, w.compute = w.time+p.time, w.compute+p.compute
	w.busy[0], w.busy[1] = w.busy[0]+p.busy[0], w.busy[1]+p.busy[1]
	w.parts = append(w.parts, p)
}

// length is how long a task takes alone.
func (t *task) length() units.Time { return t.time + t.convert }

// transfer is communication beside the computation, on a stage's own stream.
type transfer struct {
	time units.Time
	net  int     // index into busy: which links it uses
	sms  float64 // share of the multiprocessors that it takes
	name string
}

// lane is a pipeline stage while the engine runs.
type lane struct {
	tasks   []task
	ended   []units.Time // by task
	started []units.Time
	next    int // task that runs or waits
	running bool
	left    float64 // of the running task, picoseconds alone
	queue   []transfer
	done    int // transfers that have ended
	moving  bool
	rest    float64 // of the moving transfer
	moved   []moved
	now     units.Time    // until when left and rest are settled
	waited  [2]units.Time // for other stages, for transfers
	idle    units.Time    // since when it has waited
	version int
	last    units.Time // when the last transfer ended
}

type moved struct {
	transfer
	start, end units.Time
}

// The engine plays all stages at once. A stage has two streams: its tasks in order, and
// its transfers in order. Where both use the same links (scale-up or network), they share
// them: with a share ρ of a task's time spent on the transfer's links, both go at
// 1/(1+ρ) of their pace, which takes as long as moving the same bytes one after the
// other, and hides what does not collide. A transfer's kernel also takes multiprocessors:
// what the task computes meanwhile is slower by as many.
type engine struct {
	lanes  []lane
	events *heap.Heap[event]
	wake   map[[2]int][][2]int // (stage, task) → tasks that wait for it
}

// run plays the lanes and returns when the last has ended.
func (e *engine) run() (units.Time, error) {
	e.wake, e.events = map[[2]int][][2]int{}, heap.New(event.before)
	for s := range e.lanes {
		l := &e.lanes[s]
		l.ended, l.started = make([]units.Time, len(l.tasks)), make([]units.Time, len(l.tasks))
		for i := range l.ended {
			l.ended[i] = -1
		}
	}
	for s := range e.lanes {
		e.settle(s, 0)
	}
	for e.events.Len() > 0 {
		x := e.events.Pop()
		if x.version == e.lanes[x.stage].version || x.wake {
			e.settle(x.stage, x.at)
		}
	}
	return e.finish()
}

func (e *engine) finish() (units.Time, error) {
	var end units.Time
	for s := range e.lanes {
		l := &e.lanes[s]
		if l.next < len(l.tasks) || l.moving || len(l.queue) > 0 {
			return 0, fmt.Errorf("deadlock: pipeline stage %d waits at task %d of %d", s, l.next, len(l.tasks))
		}
		end = max(end, l.now)
	}
	return end, nil
}

// settle brings a stage up to a moment and starts what can start.
func (e *engine) settle(s int, at units.Time) {
	l := &e.lanes[s]
	l.advance(at)
	for changed := true; changed; {
		changed = false
		if l.moving && l.rest < 1 {
			l.moving, changed = false, true
			l.moved[len(l.moved)-1].end = at
			l.done++
			l.last = at
		}
		if !l.moving && len(l.queue) > 0 {
			l.moving, changed = true, true
			l.rest = float64(l.queue[0].time)
			l.moved = append(l.moved, moved{l.queue[0], at, 0})
			l.queue = l.queue[1:]
		}
		if l.running && l.left < 1 {
			changed = true
			e.end(s, at)
		}
		if !l.running && l.next < len(l.tasks) && e.ready(s, at) {
			changed = true
			e.begin(s, at)
		}
	}
	e.schedule(s)
}

// begin starts the next task.
func (e *engine) begin(s int, at units.Time) {
	l := &e.lanes[s]
	t := &l.tasks[l.next]
	l.running, l.left = true, float64(t.length())
	l.started[l.next] = at
	l.queue = append(l.queue, t.begins...)
	if wait := at - l.idle; wait > 0 {
		arrived := units.Time(0)
		if t.from >= 0 {
			arrived = max(e.lanes[t.from].ended[t.after]+t.travel, l.idle)
		}
		other := max(arrived-l.idle, 0)
		l.waited[0] += other
		l.waited[1] += wait - other
	}
}

// end finishes the running task and wakes who waits for it.
func (e *engine) end(s int, at units.Time) {
	l := &e.lanes[s]
	l.running, l.idle = false, at
	l.ended[l.next] = at
	l.queue = append(l.queue, l.tasks[l.next].ends...)
	key := [2]int{s, l.next}
	l.next++
	for _, w := range e.wake[key] {
		e.events.Push(event{at: at + e.lanes[w[0]].tasks[w[1]].travel, stage: w[0], wake: true})
	}
	delete(e.wake, key)
}

// ready reports whether the next task of a stage may start; if it waits for another
// stage's task, it will be woken.
func (e *engine) ready(s int, at units.Time) bool {
	l := &e.lanes[s]
	t := &l.tasks[l.next]
	if l.done < t.needs {
		return false
	}
	if t.from < 0 {
		return true
	}
	ended := e.lanes[t.from].ended[t.after]
	if ended >= 0 {
		if ended+t.travel > at {
			e.events.Push(event{at: ended + t.travel, stage: s, wake: true})
			return false
		}
		return true
	}
	key := [2]int{t.from, t.after}
	me := [2]int{s, l.next}
	if list := e.wake[key]; len(list) == 0 || list[len(list)-1] != me {
		e.wake[key] = append(list, me)
	}
	return false
}

// pace is the speed of the task and of the transfer: 1 where they are not in one
// another's way.
func (l *lane) pace() (task, transfer float64) {
	if !l.running || !l.moving {
		return 1, 1
	}
	t, x := &l.tasks[l.next], &l.moved[len(l.moved)-1].transfer
	if t.length() == 0 {
		return 1, 1
	}
	links := float64(t.busy[x.net]) / float64(t.length())
	compute := float64(t.compute+t.convert) / float64(t.length())
	return 1 / (1 + links + compute*slower(x.sms)), 1 / (1 + links)
}

// contention is how much longer computation takes beside a transfer for each share of the
// multiprocessors that this takes: both want the memory and the power, too. Computation is
// slower by 18.9 % in the mean and 40 % at most with all (arXiv 2507.03114); this fits the 34
// steps of FSDP in validation/steps.csv.
const contention = 3

// slower is how much longer computation takes, in parts of its time.
func slower(sms float64) float64 { return contention * sms }

// advance moves both streams on to a moment.
func (l *lane) advance(at units.Time) {
	task, transfer := l.pace()
	if l.running {
		l.left -= float64(at-l.now) * task
	}
	if l.moving {
		l.rest -= float64(at-l.now) * transfer
	}
	l.now = max(at, l.now)
}

// schedule puts the stage's next change on the list.
func (e *engine) schedule(s int) {
	l := &e.lanes[s]
	l.version++
	next := math.Inf(1)
	task, transfer := l.pace()
	if l.running {
		next = l.left / task
	}
	if l.moving {
		next = min(next, l.rest/transfer)
	}
	if !math.IsInf(next, 1) {
		at := l.now + units.Time(math.Ceil(max(next, 0)))
		e.events.Push(event{at: at, stage: s, version: l.version})
	}
}

// event is a moment at which a stage changes.
type event struct {
	at      units.Time
	stage   int
	version int
	wake    bool
}

// before orders events: by time, stage and version.
func (a event) before(b event) bool {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.stage, b.stage), cmp.Compare(a.version, b.version)) < 0
}
