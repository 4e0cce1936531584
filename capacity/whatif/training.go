// Package whatif answers what a change of a machine does to a workload or to a
// collective: when all goes on as it was planned, and when it is planned again.
package whatif

import (
	"context"
	"errors"
	"fmt"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/model/units"
	"railyard/model/workload"
)

// Training is a step before and after a change.
type Training struct {
	Before  *step.Result
	Kept    *step.Result // the same layout on the changed machine; nil: it does not run there
	Planned *step.Result // the best layout found there; never slower than Kept
	Why     string       // why nothing is kept
	Unfit   string       // why no other layout than the kept one was found
	Idle    int          // GPUs of the changed machine that the new layout leaves out
	Larger  error        // why the largest part that replicas fill is not taken; nil where it is
}

// Slowdown is how much longer a unit of work takes after the change; nil after is 0.
func Slowdown(before, after *step.Result) float64 {
	if after == nil {
		return 0
	}
	return before.UnitsPerSecond() / after.UnitsPerSecond()
}

// Machines are what training runs on before and after a change. Fewer is the changed
// machine without so many more nodes; nil where none can be left out. Without it the
// layout is searched however many GPUs there are: on another machine, not what is left of the first.
type Machines struct {
	Before, After *step.Predictor
	Fewer         func(nodes int) (*step.Predictor, error)
}

// Train asks the question for a layout. The new one comes from a search of the space;
// but where GPUs are lost, replicas are left out and the global batch follows, as elastic
// training does it.
func Train(ctx context.Context, m Machines, w *workload.Workload, l step.Layout, space search.Space, o search.Options) (*Training, error) {
	before, err := step.Run(m.Before, w, l, step.Options{})
	if err != nil {
		return nil, err
	}
	t := &Training{Before: before}
	was, is := m.Before.Machine().Topology.NumRanks(), m.After.Machine().Topology.NumRanks()
	switch {
	case is < was && m.Fewer != nil:
		t.Why = units.Counted(was-is, "GPU") + " lost: the job stops"
		return t, t.shrink(m, w, l)
	case is != was:
		t.Why = fmt.Sprintf("the layout is for %s, not %d", units.Counted(was, "GPU"), is)
	default:
		var unfit error
		if t.Kept, unfit, err = run(m.After, w, l); err != nil {
			return nil, err
		}
		if unfit != nil {
			t.Why = unfit.Error()
		}
	}
	return t, t.search(ctx, m.After, w, space, o)
}

// run predicts a step; unfit says why the layout does not fit the machine.
func run(p *step.Predictor, w *workload.Workload, l step.Layout) (r *step.Result, unfit, err error) {
	if unfit = l.Check(w, p.Machine().Topology.NumRanks()); unfit != nil {
		return nil, unfit, nil
	}
	r, err = step.Run(p, w, l, step.Options{})
	var large *step.TooLarge
	if errors.As(err, &large) {
		return nil, err, nil
	}
	return r, nil, err
}

// search takes the best layout of the space.
func (t *Training) search(ctx context.Context, p *step.Predictor, w *workload.Workload, space search.Space, o search.Options) error {
	r, err := search.Run(ctx, p, w, space, o)
	var unfit *search.Unfit
	if errors.As(err, &unfit) && t.Kept != nil {
		t.Planned, t.Unfit = t.Kept, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	t.Planned = r.Best[0]
	if t.Kept != nil && Slowdown(t.Kept, t.Planned) > 1 {
		t.Planned = t.Kept
	}
	return nil
}

// maxFewer bounds how many nodes are left out in the search for a machine that replicas
// fill.
const maxFewer = 64

// shrink finds the largest part of the changed machine that whole replicas fill.
func (t *Training) shrink(m Machines, w *workload.Workload, l step.Layout) error {
	left := m.After.Machine().Topology.NumRanks()
	for k := range maxFewer {
		p, err := m.Fewer(k)
		if err != nil {
			return err
		}
		if p == nil {
			break
		}
		n := p.Machine().Topology.NumRanks()
		next, ok := elastic(l, n)
		if !ok {
			continue
		}
		planned, unfit, err := run(p, w, next)
		if err != nil {
			return fmt.Errorf("after the loss: %w", err)
		}
		if unfit == nil {
			t.Planned, t.Idle = planned, left-n
			return nil
		}
		if t.Larger == nil {
			t.Larger = fmt.Errorf("%s: %w", next.String(), unfit)
		}
	}
	if t.Larger != nil {
		return fmt.Errorf("after the loss: %w", t.Larger)
	}
	return fmt.Errorf("no replica of %s fits what is left (%d GPUs)", l.String(), left)
}

// elastic is a layout with as many replicas as fill so many GPUs, and the nearest global
// batch that these divide.
func elastic(l step.Layout, ranks int) (step.Layout, bool) {
	replica := l.Ranks() / l.Data
	if ranks < replica || ranks%replica != 0 {
		return l, false
	}
	unit := l.MicroBatch
	if l.Virtual > 1 {
		unit *= l.Pipeline
	}
	batch := l.GlobalBatch
	l.Data = ranks / replica
	unit *= l.Data
	l.GlobalBatch = max((batch+unit/2)/unit, 1) * unit
	return l, true
}
