//go:build cgo

package gpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"railyard/exec/cuda/driver"
)

// Set is the GPUs of all ranks.
type Set struct {
	GPUs    []*GPU
	Devices []driver.Device    // each once: ranks that share one come after the first of each
	Host    *driver.HostMemory // 4 KiB that all GPUs address; the first word is that of Abort
}

// Options say which GPUs a set has.
type Options struct {
	Ranks int  // on the first GPUs; 0: one on each
	First int  // GPU that is the first one, where there are as many behind it
	Share int  // most ranks on a GPU; ranks that follow one another are on different ones
	Eager bool // kernels are loaded at once: one that loads late could wait for one that waits for it
}

// Open takes the GPUs. The error says in one line what is missing.
func Open(o Options) (*Set, error) {
	if err := o.environment(); err != nil {
		return nil, err
	}
	devices, err := o.choose()
	if err != nil {
		return nil, err
	}
	if err := reachable(devices); err != nil {
		return nil, err
	}
	s := &Set{Devices: devices}
	for r := range max(o.Ranks, len(devices)) {
		s.GPUs = append(s.GPUs, start(r, devices[r%len(devices)], devices))
	}
	err = Each(s.GPUs, (*GPU).open)
	if err == nil {
		err = s.GPUs[0].Do(func() (err error) {
			s.Host, err = driver.AllocHost(HostBytes)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// choose takes the GPUs. Those of processes that share a machine follow one another, unless each sees its own alone.
func (o Options) choose() ([]driver.Device, error) {
	count := devicesFor(o.Ranks, max(o.Share, 1))
	if o.First > 0 {
		if all, err := driver.Choose(o.First + count); err == nil {
			return all[o.First:], nil
		}
	}
	return driver.Choose(count)
}

// Share makes a page of a descriptor the host memory that the GPUs address: all processes that map it hear of one
// another's aborts. Nothing may run. The descriptor may be closed afterwards.
func (s *Set) Share(fd int) error {
	page, err := syscall.Mmap(fd, 0, HostBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("a page to share: %w", err)
	}
	return s.GPUs[0].Do(func() error {
		shared, err := driver.Pin(page)
		if err != nil {
			return err
		}
		own := s.Host
		s.Host = shared
		return own.Free()
	})
}

// HostBytes is the size of a set's host memory.
const HostBytes = 4096

// environment is set before the driver is loaded. Kernels of several ranks that wait for one
// another run on one GPU at once where their streams have queues of their own.
func (o Options) environment() error {
	var errs []error
	if o.Share > 1 {
		errs = append(errs, os.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32"))
	}
	if o.Share > 1 || o.Eager {
		errs = append(errs, os.Setenv("CUDA_MODULE_LOADING", "EAGER"))
	}
	return errors.Join(errs...)
}

// reachable checks that every GPU can address every other's memory.
func reachable(devices []driver.Device) error {
	for _, a := range devices {
		if v, err := a.Attribute(driver.VirtualMemorySupported); err != nil {
			return err
		} else if v == 0 {
			return fmt.Errorf("GPU %d cannot map memory of its peers (no virtual memory management)", a)
		}
		for _, b := range devices {
			if a == b {
				continue
			}
			if ok, err := a.CanAccess(b); err != nil {
				return err
			} else if !ok {
				return fmt.Errorf("GPU %d cannot access the memory of GPU %d: no NVLink or PCIe peer access between them", a, b)
			}
		}
	}
	return nil
}

// Close waits for what runs and gives everything back.
func (s *Set) Close() error {
	var errs []error
	if s.Host != nil {
		errs = append(errs, Each(s.GPUs, func(*GPU) error { return driver.Synchronize() }), s.GPUs[0].Do(s.Host.Free))
	}
	errs = append(errs, Each(s.GPUs, (*GPU).close))
	for _, g := range s.GPUs {
		close(g.calls)
	}
	s.GPUs = nil
	return errors.Join(errs...)
}

// Outside runs a library's calls for all GPUs on one thread, the first GPU's, and puts
// that thread's context back.
func (s *Set) Outside(work func() error) error {
	g := s.GPUs[0]
	return g.Do(func() error {
		err := work()
		if back := g.context.Use(); err == nil {
			err = back
		}
		return err
	})
}

// Streams are the ranks'.
func (s *Set) Streams() (out []driver.Stream) {
	for _, g := range s.GPUs {
		out = append(out, g.Stream)
	}
	return out
}

// Word is a number in host memory that GPUs read or write.
func (s *Set) Word(at int) *uint32 { return (*uint32)(unsafe.Pointer(&s.Host.Bytes[at])) }

// Abort ends all kernels that wait. A kernel whose own wait takes too long does the same.
func (s *Set) Abort() { atomic.StoreUint32(s.Word(0), 1) }

// Aborted reports whether someone did; Resume takes it back.
func (s *Set) Aborted() bool { return atomic.LoadUint32(s.Word(0)) != 0 }

// Resume lets kernels wait again.
func (s *Set) Resume() { atomic.StoreUint32(s.Word(0), 0) }

// Wait waits for the streams of all GPUs. When ctx ends it calls abort, once, to end what runs;
// where that fails it does not wait any longer.
func (s *Set) Wait(ctx context.Context, abort func() error) error {
	aborted := false
	for _, g := range s.GPUs {
		for {
			var done bool
			err := g.Do(func() (err error) {
				done, err = g.Stream.Done()
				return err
			})
			if err != nil {
				return fmt.Errorf("GPU %d: %w", g.Rank, err)
			}
			if done {
				break
			}
			if ctx.Err() != nil && !aborted {
				aborted = true
				if err := abort(); err != nil {
					return err
				}
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	return nil
}
