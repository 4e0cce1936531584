//go:build cgo

package cuda

import (
	"context"
	"errors"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
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

// Streams are the ranks' of this process.
func (n *Node) Streams() []driver.Stream { return n.set.Streams() }

// Outside runs a library's calls for all GPUs on one thread, the first GPU's, and puts
// that thread's context back.
func (n *Node) Outside(work func() error) error { return n.set.Outside(work) }

// Enqueue puts one operation of a library on streams: of all of this process's ranks, called on one thread,
// or of one rank alone, on its own.
type Enqueue struct {
	All func(input, output []driver.Ptr, streams []driver.Stream) error
	One func(rank int, input, output driver.Ptr, stream driver.Stream) error
}

// Other checks and times a library's operation as Run does schedules: same memory, streams, threads,
// graphs, gate and events. What Config.Checks asks for should be exact: libraries round otherwise than the kernels, of which the
// third check's bound is.
func (n *Node) Other(ctx context.Context, spec collective.Spec, cfg Config, enqueue Enqueue) (*Result, error) {
	m, err := newMemory(ctx, n, &schedule.Schedule{Spec: spec}, cfg, needs{control: block.EpochWords * block.FlagLine})
	if err != nil {
		return nil, err
	}
	return n.run(ctx, &libraryOp{m: m, enqueue: enqueue}, cfg)
}

// libraryOp is a library's operation.
type libraryOp struct {
	m       *memory
	enqueue Enqueue
}

func (o *libraryOp) memory() *memory { return o.m }

func (o *libraryOp) close() error { return nil }

func (o *libraryOp) buffers(g *gpu) (input, output driver.Ptr) {
	return o.m.at(g.place, int(schedule.Input)), o.m.at(g.place, int(schedule.Output))
}

func (o *libraryOp) launch(g *gpu, _ int) error {
	input, output := o.buffers(g)
	return errors.Join(o.enqueue.One(g.Rank, input, output, g.Stream), g.Use()) // which the library may have changed
}

// graphs records operations of all GPUs on one thread.
func (o *libraryOp) graphs(count int) (graphs []driver.Graph, err error) {
	n := o.m.n
	var input, output []driver.Ptr
	for _, g := range n.gpus {
		in, out := o.buffers(g)
		input, output = append(input, in), append(output, out)
	}
	streams := n.Streams()
	err = n.Outside(func() (err error) {
		graphs, err = driver.CaptureAll(streams, func() error {
			for range count {
				if err := o.enqueue.All(input, output, streams); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	})
	return graphs, err
}
