//go:build cgo

package cuda

import (
	"context"
	"encoding/json"
	"time"

	"railyard/exec/cuda/gpus"
)

// gather makes one result of those of all processes: of each time the longest, of wrong elements the sum.
func (n *Node) gather(ctx context.Context, r *Result) error {
	if n.others == nil {
		return nil
	}
	all, err := exchange(ctx, n.others, *r)
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

// exchange gives every process what all have.
func exchange[V any](ctx context.Context, o *Others, mine V) ([]V, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := o.Exchange(ctx, text)
	if err != nil {
		return nil, err
	}
	out := make([]V, len(all))
	for i, text := range all {
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
