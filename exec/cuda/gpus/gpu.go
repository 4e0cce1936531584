//go:build cgo

package gpus

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"railyard/exec/cuda/driver"
)

// GPU is what one rank has of a GPU: a thread, on which everything runs that is for it.
type GPU struct {
	Rank            int
	Device          driver.Device
	Stream          driver.Stream
	Arch            string // such as sm_90
	Major           int    // of the compute capability
	Multiprocessors int
	Overlap         bool // a kernel can be launched while the one ahead of it runs (sm_90)
	side            []driver.Stream
	order           driver.Event // of streams that follow one another
	context         *driver.Context
	users           []driver.Device    // of its memory
	memory          []**driver.Mapping // what Reserve made
	calls           chan func()
}

// start gives a rank its thread, since the driver keeps the current context by thread.
func start(rank int, on driver.Device, users []driver.Device) *GPU {
	g := &GPU{Rank: rank, Device: on, users: users, calls: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for call := range g.calls {
			call()
		}
	}()
	return g
}

func (g *GPU) open() (err error) {
	if g.context, err = g.Device.Retain(); err != nil {
		return err
	}
	if err = g.context.Use(); err != nil {
		return err
	}
	if g.Arch, err = g.Device.Arch(); err != nil {
		return err
	}
	if g.Major, err = g.Device.Attribute(driver.ComputeCapabilityMajor); err != nil {
		return err
	}
	g.Overlap = g.Major >= 9
	if g.Multiprocessors, err = g.Device.Attribute(driver.MultiprocessorCount); err != nil {
		return err
	}
	if g.Stream, err = driver.NewStream(); err != nil {
		return err
	}
	g.order, err = driver.NewEvent(false)
	return err
}

func (g *GPU) close() error {
	if g.context == nil {
		return nil
	}
	var errs []error
	for _, m := range g.memory {
		if *m != nil {
			errs = append(errs, (*m).Free())
		}
	}
	return errors.Join(append(errs, g.context.Release())...)
}

// Do runs work on the rank's thread and waits for it.
func (g *GPU) Do(work func() error) error {
	done := make(chan error)
	g.calls <- func() { done <- work() }
	return <-done
}

// Use makes the GPU's context current again, on its thread, after a library's calls.
func (g *GPU) Use() error { return g.context.Use() }

// Reserve makes memory of at least so many bytes that all GPUs of the set can address; what is
// large enough stays. It runs on the rank's thread; no kernel may use the memory meanwhile. Close
// frees it.
func (g *GPU) Reserve(at **driver.Mapping, bytes int64) (err error) {
	if *at != nil && (*at).Size >= bytes {
		return nil
	}
	if *at != nil {
		if err := (*at).Free(); err != nil {
			return err
		}
		*at = nil
	}
	if !slices.Contains(g.memory, at) {
		g.memory = append(g.memory, at)
	}
	*at, err = driver.Map(g.Device, bytes, g.users)
	return err
}

// On is the GPU itself: what embeds one has it, too.
func (g *GPU) On() *GPU { return g }

// Each runs work for several ranks at once, each on its thread, and waits for all.
func Each[G interface{ On() *GPU }](list []G, work func(G) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, g := range list {
		wg.Go(func() {
			if err := g.On().Do(func() error { return work(g) }); err != nil {
				errs[i] = fmt.Errorf("GPU %d: %w", g.On().Rank, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
