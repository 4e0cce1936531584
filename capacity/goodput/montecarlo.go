package goodput

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"railyard/internal/heap"
)

func slowestFirst(causes []Cause) []Cause {
	var out []Cause
	for _, c := range causes {
		if !c.stops() && c.rate() > 0 && c.Repair > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	return out
}

// Simulate plays so many hours of the same rules as Analytic, whose result is what is expected, with random failures.
// The same seed gives the same result.
func Simulate(causes []Cause, p Plan, hours float64, seed uint64) (expected, played Result, err error) {
	if expected, err = Analytic(causes, p); err != nil {
		return expected, played, err
	}
	run := &play{random: rand.New(rand.NewPCG(seed, 0x7261696c)), causes: slowestFirst(causes), plan: p,
		stops: stopRate(causes), interval: expected.Interval}
	run.play(hours)
	played = Result{Interval: expected.Interval, MTBF: math.Inf(1),
		Goodput: run.work / run.now, Checkpoints: run.checkpoints / run.now, Slowed: run.slowed / run.now}
	played.Lost = max(0, 1-played.Goodput-played.Checkpoints-played.Slowed)
	if run.failures > 0 {
		played.MTBF, played.StopsADay = run.now/float64(run.failures), float64(run.failures)/run.now*24
	}
	return expected, played, nil
}

// play is a run under way; all in hours.
type play struct {
	random   *rand.Rand
	causes   []Cause // those that slow, slowest first
	plan     Plan
	stops    float64
	interval float64

	now, nextStop             float64
	faults                    *heap.Heap[event] // coming failures and repairs of the slowing causes
	broken                    []int             // by cause: parts under repair
	work, checkpoints, slowed float64
	failures                  int
}

// event is a failure (or the end of a repair) of a slowing cause.
type event struct {
	at     float64
	cause  int
	repair bool
}

func (r *play) play(hours float64) {
	r.broken, r.faults = make([]int, len(r.causes)), heap.New(func(a, b event) bool { return a.at < b.at })
	for i, c := range r.causes {
		r.faults.Push(event{at: r.random.ExpFloat64() / c.rate(), cause: i})
	}
	r.nextStop = r.untilStop()
	segment := r.interval
	if math.IsInf(segment, 1) {
		segment = hours
	}
	for r.now < hours {
		r.segment(segment)
	}
}

func (r *play) untilStop() float64 {
	if r.stops == 0 {
		return math.Inf(1)
	}
	return r.now + r.random.ExpFloat64()/r.stops
}

// segment works until a checkpoint is written, however often it has to start anew. Work
// is what the healthy machine would need hours for.
func (r *play) segment(work float64) {
	for {
		slowed, ok := r.train(work)
		if ok {
			start := r.now
			if r.pass(r.plan.Checkpoint) {
				r.work += work
				r.slowed += slowed
				r.checkpoints += r.now - start
				return
			}
		}
		r.restart()
	}
}

// train does work; false if a failure stopped it. slowed is the time on top of the healthy one.
func (r *play) train(work float64) (slowed float64, ok bool) {
	for left := work; left > 0; {
		factor := r.factor()
		end, change := r.now+left*factor, r.nextChange()
		switch {
		case r.nextStop <= end && r.nextStop <= change:
			r.now = r.nextStop
			return 0, false
		case end <= change:
			slowed += left * (factor - 1)
			r.now = end
			return slowed, true
		}
		did := (change - r.now) / factor
		left -= did
		slowed += did * (factor - 1)
		r.now = change
		r.apply()
	}
	return slowed, true
}

// pass lets time go by that does not depend on the machine's speed; false if a failure came.
func (r *play) pass(hours float64) bool {
	end := r.now + hours
	failed := r.nextStop <= end
	if failed {
		end = r.nextStop
	}
	for r.nextChange() <= end {
		r.now = r.nextChange()
		r.apply()
	}
	r.now = end
	return !failed
}

func (r *play) restart() {
	for {
		r.failures++
		r.nextStop = r.untilStop()
		if r.pass(r.plan.Restart) {
			return
		}
	}
}

func (r *play) factor() float64 {
	for i, n := range r.broken {
		if n > 0 {
			return r.causes[i].Slowdown
		}
	}
	return 1
}

func (r *play) nextChange() float64 {
	if r.faults.Len() == 0 {
		return math.Inf(1)
	}
	return r.faults.Least().at
}

func (r *play) apply() {
	e := r.faults.Pop()
	if e.repair {
		r.broken[e.cause]--
		return
	}
	c := r.causes[e.cause]
	r.broken[e.cause]++
	r.faults.Push(event{at: e.at + c.Repair, cause: e.cause, repair: true})
	r.faults.Push(event{at: e.at + r.random.ExpFloat64()/c.rate(), cause: e.cause})
}
