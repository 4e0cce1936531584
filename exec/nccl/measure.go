//go:build cgo

package nccl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"railyard/exec/cuda/driver"
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
	if c.Kind != collective.AllToAll { // simulated sends stay queued and run with the next group (seen in NCCL 2.28.3)
		if r.Estimate, err = b.group.Estimate(c, send, recv, b.streams); err != nil {
			return nil, err
		}
	}
	operation := func() error { return b.group.Enqueue(c, send, recv, b.streams) }
	for range c.Warmup {
		if err := operation(); err != nil {
			return nil, err
		}
	}
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	r.Times, err = b.replay(ctx, c, operation)
	return r, err
}

// replay runs the replays and returns the slowest GPU's time of one operation in each.
func (b *Bench) replay(ctx context.Context, c Case, operation func() error) ([]time.Duration, error) {
	batch := func() error {
		for range c.Iterations {
			if err := operation(); err != nil {
				return err
			}
		}
		return nil
	}
	run := batch
	if !c.Stream {
		graphs, err := driver.CaptureAll(b.streams, batch)
		defer func() {
			for _, g := range graphs {
				g.Destroy()
			}
		}()
		if err != nil {
			return nil, err
		}
		run = func() error {
			for i, g := range graphs {
				if err := g.Launch(b.streams[i]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	marks, err := b.marks(c.Replays + 2)
	defer marks.destroy()
	if err != nil {
		return nil, err
	}
	for i := range c.Replays + 1 {
		if err := marks.record(i, b.streams); err != nil {
			return nil, err
		}
		if err := run(); err != nil {
			return nil, err
		}
	}
	if err := marks.record(c.Replays+1, b.streams); err != nil {
		return nil, err
	}
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	return marks.times(c.Iterations)
}

// wait waits for all streams, and looks for a cancelled run meanwhile.
func (b *Bench) wait(ctx context.Context) error {
	for _, s := range b.streams {
		for {
			done, err := s.Done()
			if err != nil {
				return err
			}
			if done {
				break
			}
			if err := ctx.Err(); err != nil {
				return errors.Join(err, b.group.abort())
			}
		}
	}
	return nil
}

// eventMarks are events by moment and GPU.
type eventMarks [][]driver.Event

func (b *Bench) marks(moments int) (eventMarks, error) {
	var out eventMarks
	for range moments {
		var now []driver.Event
		for _, c := range b.contexts {
			if err := c.Use(); err != nil {
				return out, err
			}
			e, err := driver.NewEvent(true)
			if err != nil {
				return out, err
			}
			now = append(now, e)
		}
		out = append(out, now)
	}
	return out, nil
}

func (m eventMarks) record(moment int, streams []driver.Stream) error {
	for i, s := range streams {
		if err := m[moment][i].Record(s); err != nil {
			return err
		}
	}
	return nil
}

// times are those of the moments after the first, of the slowest GPU, by operation.
func (m eventMarks) times(operations int) ([]time.Duration, error) {
	var out []time.Duration
	for i := 2; i < len(m); i++ {
		var slowest time.Duration
		for gpu := range m[i] {
			t, err := m[i][gpu].Since(m[i-1][gpu])
			if err != nil {
				return nil, err
			}
			slowest = max(slowest, t)
		}
		out = append(out, slowest/time.Duration(operations))
	}
	return out, nil
}

func (m eventMarks) destroy() {
	for _, now := range m {
		for _, e := range now {
			e.Destroy()
		}
	}
}

// check runs the case once on known data.
func (b *Bench) check(c Case, send, recv []driver.Ptr) (int64, error) {
	n := len(b.devices)
	in, out, share, err := c.counts(n)
	if err != nil {
		return 0, err
	}
	for rank, ctx := range b.contexts {
		if err := ctx.Use(); err != nil {
			return 0, err
		}
		if err := driver.Upload(send[rank], input(rank, in)); err != nil {
			return 0, err
		}
		if err := b.streams[rank].Fill(recv[rank], 0xff, out*int64(c.DType.Size())); err != nil { // NaN
			return 0, err
		}
	}
	if err := b.group.Enqueue(c, send, recv, b.streams); err != nil {
		return 0, err
	}
	var bad int64
	for rank, ctx := range b.contexts {
		if err := ctx.Use(); err != nil {
			return 0, err
		}
		if err := b.streams[rank].Synchronize(); err != nil {
			return 0, err
		}
		got := make([]byte, out*int64(c.DType.Size()))
		if err := driver.Download(got, recv[rank]); err != nil {
			return 0, err
		}
		bad += wrong(c, n, rank, share, got)
	}
	return bad, nil
}
