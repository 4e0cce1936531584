//go:build cgo

package cuda

import (
	"context"
	"time"

	"railyard/exec/cuda/gpus"
)

// gather makes one result of those of all processes: of each time the longest, of wrong elements the sum.
func (n *Node) gather(ctx context.Context, r *Result) error {
	if n.others == nil {
		return nil
	}
	all, err := Tell(ctx, n.others.Processes, *r)
	if err != nil {
		return err
	}
	var ranks [][]time.Duration
	for i, one := range all {
		if i != n.others.Own && r.Wrong >= 0 {
			r.Wrong += one.Wrong
		}
		ranks = append(ranks, one.Ranks...)
		for k, t := range one.Stream {
			r.Stream[k] = max(r.Stream[k], t)
		}
	}
	if r.Ranks = ranks; len(r.Times) > 0 {
		r.Times = gpus.Slowest(ranks)
	}
	return nil
}
