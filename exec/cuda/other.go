//go:build cgo

package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/block"
)

// Reserve makes input and output memory for operations of up to so many bytes; runs that
// need no more leave it where it is.
func (n *Node) Reserve(ctx context.Context, bytes int64) error {
	return n.reserve(ctx, bytes+3*guardBytes, bytes+3*guardBytes, 0)
}

// GPUs is how many there are: fewer than ranks where these share them.
func (n *Node) GPUs() int { return len(n.set.Devices) }

// Devices are the GPUs, each once: ranks that share one come after the first of each.
func (n *Node) Devices() []driver.Device { return n.set.Devices }

// Buffers are the ranks' inputs and outputs as runs use them, and how large they are.
func (n *Node) Buffers() (input, output []driver.Ptr, bytes int64) {
	for _, g := range n.gpus {
		input, output = append(input, g.input.At), append(output, g.output.At)
		bytes = min(g.input.Size, g.output.Size)
	}
	return input, output, bytes
}

// Outside runs a library's calls for all GPUs on one thread, the first GPU's, and puts
// that thread's context back.
func (n *Node) Outside(work func() error) error { return n.set.Outside(work) }

// Enqueue puts one operation of a library on streams: of all ranks, called on one thread,
// or of one rank alone.
type Enqueue struct {
	All func(input, output []driver.Ptr, streams []driver.Stream) error
	One func(rank int, input, output driver.Ptr, stream driver.Stream) error
}

// Other times a library's operation as schedules are timed: same memory, streams, threads,
// graphs, gate and events. It is not checked.
func (n *Node) Other(ctx context.Context, cfg Config, enqueue Enqueue) (*Result, error) {
	out, err := n.other(ctx, cfg, enqueue)
	return out, n.after(err)
}

func (n *Node) other(ctx context.Context, cfg Config, enqueue Enqueue) (*Result, error) {
	out := &Result{Wrong: -1}
	var err error
	if out.Ranks, err = n.otherGraph(ctx, cfg, enqueue); err != nil {
		return nil, err
	}
	out.Times = gpus.Slowest(out.Ranks)
	for i := 0; cfg.Stream && i < cfg.Replays; i++ {
		t, err := n.loop(ctx, cfg, func(g *gpu, _ int) error {
			return enqueue.One(g.Rank, g.input.At+guardBytes, g.output.At+guardBytes, g.Stream)
		})
		err = errors.Join(err, n.each(func(g *gpu) error { return g.Use() })) // which the library may have changed
		if err != nil {
			return nil, err
		}
		out.Stream = append(out.Stream, t)
	}
	return out, n.gather(ctx, out)
}

func (n *Node) otherGraph(ctx context.Context, cfg Config, enqueue Enqueue) ([][]time.Duration, error) {
	input, output, _ := n.Buffers()
	streams := n.set.Streams()
	for i := range n.gpus {
		input[i], output[i] = input[i]+guardBytes, output[i]+guardBytes
	}
	several := func(count int) error {
		for range count {
			if err := enqueue.All(input, output, streams); err != nil {
				return err
			}
		}
		return nil
	}
	if err := n.Outside(func() error { return several(max(cfg.Warmup, 1)) }); err != nil {
		return nil, err
	}
	if err := n.settle(ctx); err != nil {
		return nil, err
	}
	var graphs []driver.Graph
	err := n.Outside(func() (err error) {
		graphs, err = driver.CaptureAll(streams, func() error { return several(cfg.Iterations) })
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(graphs) != len(n.gpus) || len(graphs) > block.MaxRanks {
		return nil, fmt.Errorf("%d graphs for %d GPUs", len(graphs), len(n.gpus))
	}
	return n.replay(ctx, cfg, graphs)
}
