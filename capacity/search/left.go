package search

import (
	"context"
	"errors"
	"slices"

	"railyard/capacity/step"
	"railyard/model/workload"
)

// Left is what is left of a machine that has lost GPUs.
type Left struct {
	All  *step.Predictor
	Part func(idle int) (*step.Predictor, error) // without so many of its GPUs, first of those in nodes that have lost some
}

// Part is how what is left is used best.
type Part struct {
	Predictor *step.Predictor
	Result    *step.Result
	Searched  int   // layouts looked at
	Idle      int   // GPUs left out
	Larger    error // why a larger part is not taken, where that does not fit
}

// Counts are how many GPUs are left, how many of them are in nodes that have lost none, and how many such a node has.
func (l Left) Counts() (left, whole, node int) {
	t := l.All.Machine().Topology
	gpus := make([]int, t.NumNodes())
	for r := range t.NumRanks() {
		gpus[t.NodeOf(r)]++
	}
	node = slices.Max(gpus)
	for _, n := range gpus {
		if n == node {
			whole += n
		}
	}
	return t.NumRanks(), whole, node
}

// Search takes the best layout of a space on parts of what is left. Axes other than data have powers of two of ranks, so the parts
// are the largest that these divide: the fewer GPUs idle, the fewer ways there are to divide the rest.
func (l Left) Search(ctx context.Context, w *workload.Workload, space Space, o Options) (*Part, error) {
	left, whole, _ := l.Counts()
	var sizes []int
	for unit := 1; unit <= left; unit *= 2 {
		sizes = append(sizes, left-left%unit, whole-whole%unit)
	}
	searched := 0
	best, err := l.Best(sizes, func(p *step.Predictor) (*step.Result, error) {
		r, err := Run(ctx, p, w, space, o)
		if err != nil {
			return nil, err
		}
		searched += r.Layouts
		return r.Best[0], nil
	})
	if best != nil {
		best.Searched = searched
	}
	return best, err
}

// Best is the fastest step on parts of these sizes; smaller ones than the nodes that have lost nothing are for what fits on no larger.
// What does not fit on a part is an *Unfit; where it fits on none, the error is that of the largest.
func (l Left) Best(sizes []int, try func(*step.Predictor) (*step.Result, error)) (*Part, error) {
	left, whole, _ := l.Counts()
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	var best *Part
	var larger error
	for _, n := range slices.Backward(sizes) {
		if n < 1 || best != nil && n < whole {
			break
		}
		x, err := l.try(left-n, try)
		var unfit *Unfit
		switch {
		case errors.As(err, &unfit):
			if larger == nil && best == nil {
				larger = err
			}
		case err != nil:
			return nil, err
		case best == nil || x.Result.UnitsPerSecond() > best.Result.UnitsPerSecond():
			best = x
		}
	}
	if best == nil {
		return nil, larger
	}
	best.Larger = larger
	return best, nil
}

// try looks at the part without so many GPUs.
func (l Left) try(idle int, try func(*step.Predictor) (*step.Result, error)) (*Part, error) {
	p := l.All
	if idle > 0 {
		var err error
		if p, err = l.Part(idle); err != nil {
			return nil, err
		}
	}
	r, err := try(p)
	return &Part{Predictor: p, Result: r, Idle: idle}, err
}
