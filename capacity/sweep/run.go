package sweep

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"

	"railyard/capacity/journal"
)

// Answer answers the question with fields set as a point says. It runs on several
// goroutines at once.
type Answer func(ctx context.Context, set []string) (any, error)

// Run answers the points of a shard that the journal lacks, on all cores, and writes their
// rows in order of points, so that the same sweep gives the same bytes however it was
// interrupted. A point without an answer gets a row that says why. progress is told how
// many points of how many have theirs; it may be nil.
func Run(ctx context.Context, j *Journal, axes []Axis, shard journal.Shard, answer Answer, progress func(done, of int)) error {
	total, err := Count(axes)
	if err != nil {
		return err
	}
	points := shard.Points(total)
	var open []int
	for _, p := range points {
		if !j.done[p] {
			open = append(open, p)
		}
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	had := len(points) - len(open)
	progress(had, len(points))
	ctx, stop := context.WithCancel(ctx)
	rows, wait := work(ctx, axes, open, answer)
	defer wait()
	defer stop()
	for i := range open {
		select {
		case row := <-rows[i%len(rows)]:
			if row.err != nil {
				return row.err
			}
			if err := j.Add(row.Row); err != nil {
				return err
			}
			progress(had+i+1, len(points))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

type result struct {
	Row
	err error
}

// work has a goroutine for each core; the k-th answers every k-th open point in order, so
// that reading the channels in turn gives the points in order.
func work(ctx context.Context, axes []Axis, open []int, answer Answer) ([]chan result, func()) {
	n := max(1, min(runtime.GOMAXPROCS(0), len(open)))
	out := make([]chan result, n)
	var all sync.WaitGroup
	for k := range n {
		out[k] = make(chan result, 16)
		all.Go(func() {
			for i := k; i < len(open); i += n {
				r, stopped := solve(ctx, axes, open[i], answer)
				if stopped {
					return
				}
				select {
				case out[k] <- r:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return out, all.Wait
}

func solve(ctx context.Context, axes []Axis, point int, answer Answer) (r result, stopped bool) {
	r.Point, r.Set = point, Point(axes, point)
	value, err := answer(ctx, r.Set)
	if ctx.Err() != nil {
		return r, true
	}
	if err != nil {
		r.Error = err.Error()
		return r, false
	}
	r.Answer, r.err = json.Marshal(value)
	return r, false
}
