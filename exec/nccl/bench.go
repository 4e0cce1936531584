//go:build cgo

package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"railyard/exec/cuda/driver"
	"railyard/model/collective"
	"railyard/model/units"
)

// Bench holds GPUs with buffers while NCCL is measured on them.
type Bench struct {
	devices    []driver.Device
	contexts   []*driver.Context
	streams    []driver.Stream
	send, recv []*driver.Mapping
	group      *Group
	largest    units.Bytes
}

// Run calls f with a bench of so many GPUs (0: all) and buffers for cases up to
// largest, on a thread of its own.
func Run(ctx context.Context, gpus int, largest units.Bytes, s Setting, f func(ctx context.Context, b *Bench) error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: contexts stay with the thread, which ends here
		b, err := newBench(gpus, largest, s)
		if err == nil {
			err = f(ctx, b)
		}
		if b != nil {
			if end := b.close(); err == nil {
				err = end
			}
		}
		done <- err
	}()
	return <-done
}

// GPUs is how many are used.
func (b *Bench) GPUs() int { return len(b.devices) }

func newBench(gpus int, largest units.Bytes, s Setting) (*Bench, error) {
	devices, err := driver.Choose(gpus)
	if err != nil {
		return nil, err
	}
	if len(devices) < 2 {
		return nil, errors.New("collectives need two GPUs")
	}
	b := &Bench{devices: devices, largest: largest}
	for _, d := range b.devices {
		if err := b.add(d); err != nil {
			return b, fmt.Errorf("GPU %d: %w", d, err)
		}
	}
	if b.group, err = Connect(b.devices, s); err != nil || !s.Windows {
		return b, err
	}
	for _, list := range [][]*driver.Mapping{b.send, b.recv} {
		if err := b.group.Register(addresses(list), list[0].Size); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (b *Bench) add(d driver.Device) error {
	c, err := d.Retain()
	if err != nil {
		return err
	}
	b.contexts = append(b.contexts, c)
	if err := c.Use(); err != nil {
		return err
	}
	s, err := driver.NewStream()
	if err != nil {
		return err
	}
	b.streams = append(b.streams, s)
	for _, list := range []*[]*driver.Mapping{&b.send, &b.recv} {
		m, err := driver.Map(d, int64(b.largest), b.devices)
		if err != nil {
			return err
		}
		*list = append(*list, m)
	}
	return nil
}

func addresses(list []*driver.Mapping) []driver.Ptr {
	out := make([]driver.Ptr, len(list))
	for i, m := range list {
		out[i] = m.At
	}
	return out
}

func (b *Bench) close() error {
	var errs []error
	if b.group != nil {
		errs = append(errs, b.group.Close())
	}
	for _, list := range [][]*driver.Mapping{b.send, b.recv} {
		for _, m := range list {
			errs = append(errs, m.Free())
		}
	}
	for _, c := range b.contexts {
		errs = append(errs, c.Release())
	}
	return errors.Join(errs...)
}

// buffers are the ranks' inputs and outputs; in place they share memory as NCCL asks.
func (b *Bench) buffers(c Case) (send, recv []driver.Ptr) {
	send, recv = addresses(b.send), addresses(b.recv)
	if !c.InPlace {
		return send, recv
	}
	n := len(b.devices)
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
