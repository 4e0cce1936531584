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
	node  *cuda.Node
	group *Group
}

// NewBaseline connects the node's GPUs, all of this process; symmetric windows are its memory, which must then stay where it is
// (cuda.Node.Reserve).
func NewBaseline(node *cuda.Node, s Setting) (*Baseline, error) {
	if err := Open(); err != nil {
		return nil, err
	}
	b := &Baseline{node: node}
	return b, node.Outside(func() (err error) {
		if b.group, err = Connect(node.Devices(), s); err != nil || !s.Windows {
			return err
		}
		return b.register()
	})
}

// Over is NCCL on the GPUs of several processes, all of which call it.
func Over(ctx context.Context, p cuda.Processes, node *cuda.Node, s Setting) (*Mesh, *Baseline, error) {
	m, err := Meet(ctx, p, node, 1, s)
	if err != nil {
		return nil, nil, err
	}
	b := m.Baseline(node)
	if s.Windows {
		err = node.Outside(b.register)
	}
	return m, b, err
}

// register makes symmetric windows of the node's memory.
func (b *Baseline) register() error {
	input, output, bytes := b.node.Buffers()
	return errors.Join(b.group.Register(input, bytes), b.group.Register(output, bytes))
}

// Time is what NCCL's own choice takes for an operation, as cuda.Node.Run measures: in graphs, and on streams where cfg asks
// for it, launched from a thread for each GPU. Results are checked where they are exact and cfg asks for it.
func (b *Baseline) Time(ctx context.Context, spec collective.Spec, cfg cuda.Config) (*cuda.Result, error) {
	c := Case{Spec: spec, Count: cfg.Count, DType: cfg.DType, Op: cfg.Op}
	if _, err := c.argument(); err != nil {
		return nil, err
	}
	if spec.Kind == collective.AllToAll && cfg.InPlace {
		return nil, errors.New("NCCL has no all_to_all in place")
	}
	if !c.Exact() {
		cfg.Checks = 0
	}
	return b.node.Other(ctx, spec, cfg, cuda.Enqueue{
		All: func(send, recv []driver.Ptr, streams []driver.Stream) error {
			return b.group.Enqueue(c, send, recv, streams)
		},
		One: func(rank int, send, recv driver.Ptr, stream driver.Stream) error {
			return b.group.EnqueueOne(c, rank, send, recv, stream)
		},
	})
}

// Estimate is what NCCL says that an operation takes, without running it; 0 where it does not say, as it does of all_to_all, whose
// simulated sends stay queued and run with the next group (seen in NCCL 2.28.3), and where other processes' ranks take part.
func (b *Baseline) Estimate(spec collective.Spec, cfg cuda.Config) (t units.Time, err error) {
	if spec.Kind == collective.AllToAll || len(b.group.comms) < b.group.ranks {
		return 0, nil
	}
	send, recv, _ := b.node.Buffers()
	c := Case{Spec: spec, Count: cfg.Count, DType: cfg.DType, Op: cfg.Op}
	err = b.node.Outside(func() (err error) {
		t, err = b.group.Estimate(c, send, recv, b.node.Streams())
		return err
	})
	return t, err
}

// Close gives the communicators back.
func (b *Baseline) Close() error { return b.node.Outside(b.group.Close) }
