package step

import (
	"railyard/model/units"
	"railyard/model/workload"
)

// Estimate is what is known of a layout before its step is played.
type Estimate struct {
	Memory Memory
	Time   units.Time // no step can be shorter; 0 where it does not fit
}

// Bound checks a layout and its memory, and bounds its step from below: a stage has to do
// all its passes, the first one can begin only after the stages before it have passed a
// micro-batch on, and the step ends only after they have taken its gradients back. What
// replicas exchange, transfers between stages and waiting in between are left out;
// without communicate all communication is, which needs no routes and is much quicker.
func Bound(p *Predictor, w *workload.Workload, l Layout, communicate bool) (Estimate, error) {
	b, m, err := prepare(p, w, &l, Options{AllowOverflow: true})
	if err != nil || !m.Fits() {
		return Estimate{Memory: m}, err
	}
	b.silent = !communicate
	t, err := b.bound()
	return Estimate{m, t}, err
}

func (b *builder) bound() (units.Time, error) {
	var before, least units.Time // passes of a micro-batch through the first chunks of the stages before
	for i := range b.stages {
		s := &b.stages[i]
		var all, first units.Time
		for c, chunk := range s.chunks {
			for _, backward := range []bool{false, true} {
				w, err := b.work(chunk, backward)
				if err != nil {
					return 0, err
				}
				all += w.time * units.Time(b.l.MicroBatches())
				if c == 0 {
					first += w.time
				}
			}
		}
		least = max(least, before+all)
		before += first
	}
	return least + b.update(), nil
}
