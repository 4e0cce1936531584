//go:build cgo

package nccl

import (
	"context"
	"errors"

	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/model/collective"
	"railyard/model/units"
)

// Baseline is NCCL on the GPUs, memory and streams of a node that runs schedules too.
type Baseline struct {
	node   *cuda.Node
	groups map[bool]*Group // by whether the memory is registered as symmetric windows
}

// NewBaseline connects the node's GPUs and registers its memory, which must stay where it
// is (cuda.Node.Reserve).
func NewBaseline(node *cuda.Node) (*Baseline, error) {
	b := &Baseline{node: node, groups: map[bool]*Group{}}
	return b, node.Outside(func() error {
		for _, windows := range []bool{false, true} {
			g, err := Connect(node.Devices(), Setting{Windows: windows})
			if err != nil {
				return err
			}
			b.groups[windows] = g
		}
		input, output, bytes := node.Buffers()
		return errors.Join(b.groups[true].Register(input, bytes), b.groups[true].Register(output, bytes))
	})
}

// Time is what NCCL's own choice takes for an operation, on registered windows or not, as
// cuda.Node.Run measures: in graphs, and on streams where cfg asks for it, launched from a
// thread for each GPU.
func (b *Baseline) Time(ctx context.Context, kind collective.Kind, cfg cuda.Config, windows bool) (*cuda.Result, error) {
	c := Case{Kind: kind, Size: units.Bytes(cfg.Count * int64(cfg.DType.Size())), DType: cfg.DType, Op: cfg.Op}
	g := b.groups[windows]
	if _, _, _, err := c.counts(g.ranks); err != nil {
		return nil, err
	}
	return b.node.Other(ctx, cfg, cuda.Enqueue{
		All: func(send, recv []driver.Ptr, streams []driver.Stream) error { return g.Enqueue(c, send, recv, streams) },
		One: func(rank int, send, recv driver.Ptr, stream driver.Stream) error {
			return g.EnqueueOne(c, rank, send, recv, stream)
		},
	})
}

// Close gives the communicators back.
func (b *Baseline) Close() error {
	return b.node.Outside(func() error {
		var errs []error
		for _, g := range b.groups {
			errs = append(errs, g.Close())
		}
		return errors.Join(errs...)
	})
}
