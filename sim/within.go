package sim

import (
	"errors"

	"railyard/model/units"
)

// errTooLate says that a run was given up as it cannot end within a time.
var errTooLate = errors.New("the run ends too late")

// within is how a run stands that is given up where it cannot end within a time: what does not move yet, and what is left of what does,
// has to pass through the resources on its way, as in an estimate (see LowerEstimate).
type within struct {
	look  int64 // with how many messages brought to look next whether it can
	left  *estimator
	least int64 // it does not end before
}

// looksWithin is how often a run looks at most.
const looksWithin = 64

// TimeWithin predicts the duration, or where that is more than most, a time that is more than most as well and that it does not fall
// below, for less work.
func (p *Plan) TimeWithin(size units.Bytes, most units.Time) (units.Time, error) {
	e := p.newEngine()
	if !p.rowed() && most < units.Time(forever) {
		e.most = int64(most)
	}
	_, err := p.play(p.each(size), Options{})
	e.most = 0
	switch {
	case errors.Is(err, errTooLate):
		return units.Time(e.until.least), nil
	case err != nil:
		return 0, err
	}
	return units.Time(e.last), nil
}

// tooLate reports whether a run cannot end within its time, as far as is known. Once all lanes have ended, what is left of events is out of
// date.
func (e *engine) tooLate() bool {
	if e.most == 0 || e.over == len(e.lanes) {
		return false
	}
	w := &e.until
	if w.least = max(w.least, e.q.heap[0].at); w.least <= e.most && e.brought >= w.look {
		all, _ := e.messages()
		w.look = e.brought + max(all/looksWithin, int64(len(e.conns)))
		w.least = max(w.least, e.soonest())
	}
	return w.least > e.most
}

// soonest is when a run under way ends at the earliest.
func (e *engine) soonest() int64 {
	x := e.until.left
	if x == nil {
		x = newEstimator(e)
		x.underWay, e.until.left = true, x
	}
	x.most = 0
	for i := range x.load {
		x.load[i] = resourceLoad{first: float64(e.now) - x.launched}
	}
	x.busy()
	e.share.remain(e, x.load)
	x.loaded(false)
	return int64(x.launched + x.most*slack)
}

// remain adds what is left of messages under way to what resources carry.
func (s *sharing) remain(e *engine, load []resourceLoad) {
	for i := range s.flows {
		f := &s.flows[i]
		if f.messages == 0 {
			continue
		}
		moved := f.moved(s, e.now)
		left := f.soonest.end.above(moved).bytes()
		for _, m := range f.later {
			left += m.end.above(moved).bytes()
		}
		for _, u := range s.of(f) {
			load[u.res].weight += left * float64(u.load/uint64(f.messages)) / weightScale
		}
	}
}

// bytes are those that have moved.
func (a amount) bytes() float64 { return (float64(a.hi)*(1<<64) + float64(a.lo)) / workScale }
