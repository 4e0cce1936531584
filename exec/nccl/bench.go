//go:build cgo

package nccl

import (
	"context"
	"errors"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/collective"
	"railyard/model/units"
)

// Bench holds GPUs with buffers while NCCL is measured on them.
type Bench struct {
	set        *gpus.Set
	send, recv []*driver.Mapping
	group      *Group
	largest    units.Bytes
}

// Run calls f with a bench of so many GPUs (0: all) and buffers for cases up to largest.
func Run(ctx context.Context, ranks int, largest units.Bytes, s Setting, f func(ctx context.Context, b *Bench) error) error {
	set, err := gpus.Open(gpus.Options{Ranks: ranks})
	if err != nil {
		return err
	}
	b := &Bench{set: set, send: make([]*driver.Mapping, len(set.GPUs)), recv: make([]*driver.Mapping, len(set.GPUs)), largest: largest}
	if err = b.connect(s); err == nil {
		err = f(ctx, b)
	}
	if end := b.close(); err == nil {
		err = end
	}
	return err
}

// GPUs is how many are used.
func (b *Bench) GPUs() int { return len(b.set.GPUs) }

func (b *Bench) connect(s Setting) error {
	if b.GPUs() < 2 {
		return errors.New("collectives need two GPUs")
	}
	err := gpus.Each(b.set.GPUs, func(g *gpus.GPU) error {
		if err := g.Reserve(&b.send[g.Rank], int64(b.largest)); err != nil {
			return err
		}
		return g.Reserve(&b.recv[g.Rank], int64(b.largest))
	})
	if err != nil {
		return err
	}
	return b.set.Outside(func() error {
		if b.group, err = Connect(b.set.Devices, s); err != nil || !s.Windows {
			return err
		}
		for _, list := range [][]*driver.Mapping{b.send, b.recv} {
			if err := b.group.Register(addresses(list), list[0].Size); err != nil {
				return err
			}
		}
		return nil
	})
}

func addresses(list []*driver.Mapping) []driver.Ptr {
	out := make([]driver.Ptr, len(list))
	for i, m := range list {
		out[i] = m.At
	}
	return out
}

func (b *Bench) close() error {
	var err error
	if b.group != nil {
		err = b.set.Outside(b.group.Close)
	}
	return errors.Join(err, b.set.Close())
}

// buffers are the ranks' inputs and outputs; in place they share memory as NCCL asks.
func (b *Bench) buffers(c Case) (send, recv []driver.Ptr) {
	send, recv = addresses(b.send), addresses(b.recv)
	if !c.InPlace {
		return send, recv
	}
	n := b.GPUs()
	_, _, share, _ := c.counts(n)
	for rank := range n {
		offset := driver.Ptr(int64(rank) * share * int64(c.DType.Size()))
		switch c.Kind {
		case collective.AllGather:
			send[rank] = recv[rank] + offset
		case collective.ReduceScatter:
			recv[rank] = send[rank] + offset
		default:
			send[rank] = recv[rank]
		}
	}
	return send, recv
}
