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

// Machines are what training runs on before and after a change. Part is the changed machine without so many more GPUs, as search.Left
// takes it; nil where After is another machine, not what is left of the first: its layout is searched however many GPUs there are.
type Machines struct {
	Before, After *step.Predictor
	Part          func(idle int) (*step.Predictor, error)
	Free          bool // the layout is searched on what is left as well; otherwise only replicas are left out
}

// Train asks the question for a layout. The new one comes from a search of the space; but where GPUs are lost and the layout is
// given, replicas are left out and the global batch follows, as elastic training does it.
func Train(ctx context.Context, m Machines, w *workload.Workload, l step.Layout, space search.Space, o search.Options) (*Training, error) {
	before, err := step.Run(m.Before, w, l, step.Options{})
	if err != nil {
		return nil, err
	}
	t := &Training{Before: before}
	was, is := m.Before.Machine().Topology.NumRanks(), m.After.Machine().Topology.NumRanks()
	switch {
	case is < was && m.Part != nil:
		t.Why = units.Counted(was-is, "GPU") + " lost: the job stops"
		return t, t.shrink(ctx, m, w, l, space, o)
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

// shrink uses what is left of a machine: with the layout's replicas, or where the layout is free, with the best that there is.
func (t *Training) shrink(ctx context.Context, m Machines, w *workload.Workload, l step.Layout, space search.Space,
	o search.Options) error {
	left := search.Left{All: m.After, Part: m.Part}
	var best *search.Part
	var err error
	if m.Free {
		best, err = left.Search(ctx, w, space, o)
	} else {
		best, err = replicas(left, w, l)
	}
	if err != nil {
		return fmt.Errorf("after the loss: %w", err)
	}
	t.Planned, t.Idle, t.Larger = best.Result, best.Idle, best.Larger
	return nil
}

// replicas are as many of a layout's as what is left holds, of all its GPUs or of whole nodes.
func replicas(left search.Left, w *workload.Workload, l step.Layout) (*search.Part, error) {
	n, whole, node := left.Counts()
	replica := l.Ranks() / l.Data
	if n < replica {
		return nil, fmt.Errorf("no replica of %s fits what is left (%d GPUs)", l.String(), n)
	}
	sizes := []int{n - n%replica}
	for k := range min(maxFewer, whole/node) {
		part := whole - k*node
		sizes = append(sizes, part-part%replica)
	}
	return left.Best(sizes, func(p *step.Predictor) (*step.Result, error) {
		next := elastic(l, p.Machine().Topology.NumRanks())
		r, unfit, err := run(p, w, next)
		if unfit != nil {
			return nil, &search.Unfit{Why: fmt.Errorf("%s: %w", next.String(), unfit)}
		}
		return r, err
	})
}

// elastic is a layout with as many replicas as fill so many GPUs, and the nearest global
// batch that these divide.
func elastic(l step.Layout, ranks int) step.Layout {
	replica := l.Ranks() / l.Data
	unit := l.MicroBatch
	if l.Virtual > 1 {
		unit *= l.Pipeline
	}
	batch := l.GlobalBatch
	l.Data = ranks / replica
	unit *= l.Data
	l.GlobalBatch = max((batch+unit/2)/unit, 1) * unit
	return l
}
