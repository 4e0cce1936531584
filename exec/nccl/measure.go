//go:build cgo

package nccl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/collective"
	"railyard/model/units"
)

// checked is the largest case whose result is compared on the host.
const checked = 4 * units.MiB

// Measure times a case as nccl-tests does: Warmup operations, then Iterations in a
// graph that is replayed back to back, with a mark between replays on every GPU. The
// first replay, which the host's launches stagger, is not counted. float32 results up
// to 4 MiB, out of place, are checked before.
func (b *Bench) Measure(ctx context.Context, c Case) (*Result, error) {
	if c.Size > b.largest {
		return nil, fmt.Errorf("%v: the buffers hold %v", c.Size, b.largest)
	}
	send, recv := b.buffers(c)
	r := &Result{Wrong: -1, Ran: c.Warmup + (c.Replays+1)*c.Iterations}
	var err error
	if c.DType == collective.Float32 && c.Size <= checked && !c.InPlace {
		if r.Wrong, err = b.check(c, send, recv); err != nil {
			return nil, err
		}
		r.Ran++
	}
	streams := b.set.Streams()
	operation := func() error { return b.group.Enqueue(c, send, recv, streams) }
	err = b.set.Outside(func() error {
		if c.Kind != collective.AllToAll { // simulated sends stay queued and run with the next group (seen in NCCL 2.28.3)
			if r.Estimate, err = b.group.Estimate(c, send, recv, streams); err != nil {
				return err
			}
		}
		return repeat(c.Warmup, operation)
	})
	if err != nil {
		return nil, err
	}
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	r.Times, err = b.replay(ctx, c, operation)
	return r, err
}

func repeat(n int, operation func() error) error {
	for range n {
		if err := operation(); err != nil {
			return err
		}
	}
	return nil
}

// replay runs the replays and returns the slowest GPU's time of one operation in each.
func (b *Bench) replay(ctx context.Context, c Case, operation func() error) ([]time.Duration, error) {
	run := func() error { return repeat(c.Iterations, operation) }
	if !c.Stream {
		graphs, destroy, err := b.capture(run)
		defer destroy()
		if err != nil {
			return nil, err
		}
		run = func() error {
			for i, g := range graphs {
				if err := g.Launch(b.set.GPUs[i].Stream); err != nil {
					return err
				}
			}
			return nil
		}
	}
	marks := make([]gpus.Marks, b.GPUs())
	defer gpus.Each(b.set.GPUs, func(g *gpus.GPU) error { return marks[g.Rank].Destroy() })
	err := gpus.Each(b.set.GPUs, func(g *gpus.GPU) (err error) {
		marks[g.Rank], err = gpus.NewMarks(c.Replays + 2)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := b.set.Outside(func() error { return b.queue(marks, run) }); err != nil {
		return nil, err
	}
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	times := make([][]time.Duration, len(marks))
	err = gpus.Each(b.set.GPUs, func(g *gpus.GPU) (err error) {
		times[g.Rank], err = marks[g.Rank].Times()
		return err
	})
	if err != nil {
		return nil, err
	}
	out := gpus.Slowest(times)
	for i := range out {
		out[i] /= time.Duration(c.Iterations)
	}
	return out, nil
}

// capture makes a graph for each GPU of what work queues on all.
func (b *Bench) capture(work func() error) (graphs []driver.Graph, destroy func() error, err error) {
	err = b.set.Outside(func() (err error) {
		graphs, err = driver.CaptureAll(b.set.Streams(), work)
		return err
	})
	return graphs, func() error {
		return b.set.Outside(func() error {
			var errs []error
			for _, g := range graphs {
				errs = append(errs, g.Destroy())
			}
			return errors.Join(errs...)
		})
	}, err
}

// queue puts runs on all GPUs' streams, with a mark before and behind each on every GPU.
func (b *Bench) queue(marks []gpus.Marks, run func() error) error {
	for moment := range marks[0] {
		if moment > 0 {
			if err := run(); err != nil {
				return err
			}
		}
		for i, g := range b.set.GPUs {
			if err := marks[i][moment].Record(g.Stream); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait waits for all streams; a cancelled run ends the communicators.
func (b *Bench) wait(ctx context.Context) error {
	return b.set.Wait(ctx, func() error { return errors.Join(ctx.Err(), b.set.Outside(b.group.abort)) })
}

// check runs the case once on known data.
func (b *Bench) check(c Case, send, recv []driver.Ptr) (int64, error) {
	in, out, share, err := c.counts(b.GPUs())
	if err != nil {
		return 0, err
	}
	bytes := out * int64(c.DType.Size())
	err = gpus.Each(b.set.GPUs, func(g *gpus.GPU) error {
		if err := driver.Upload(send[g.Rank], input(g.Rank, in)); err != nil {
			return err
		}
		return g.Stream.Fill(recv[g.Rank], 0xff, bytes) // NaN
	})
	if err != nil {
		return 0, err
	}
	if err := b.set.Outside(func() error { return b.group.Enqueue(c, send, recv, b.set.Streams()) }); err != nil {
		return 0, err
	}
	bad := make([]int64, b.GPUs())
	err = gpus.Each(b.set.GPUs, func(g *gpus.GPU) error {
		if err := g.Stream.Synchronize(); err != nil {
			return err
		}
		got := make([]byte, bytes)
		if err := driver.Download(got, recv[g.Rank]); err != nil {
			return err
		}
		bad[g.Rank] = wrong(c, b.GPUs(), g.Rank, share, got)
		return nil
	})
	var sum int64
	for _, n := range bad {
		sum += n
	}
	return sum, err
}
