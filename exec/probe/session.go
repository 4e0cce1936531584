//go:build cgo

package probe

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/model/measurement"
	"railyard/model/units"
)

//go:embed kernels.cu
var source string

// patience is how long a kernel waits for another GPU before it gives up.
const patience = 2 * time.Second

// kernelNames are the entry points of kernels.cu.
var kernelNames = []string{"nothing", "ping_pong", "copy", "add", "simple_messages", "pull_messages", "ll_messages", "ll_sums", "ll_deals", "ll_dealsums",
	"ll128_messages", "ll128_sums", "ll128_deals", "ll128_dealsums", "words_messages", "words_sums", "words_dealsums",
	"simple_casts", "pull_casts", "ll_casts", "ll128_casts", "relays"}

// session holds the GPUs while they are measured.
type session struct {
	gpus    []*gpu
	abort   *driver.HostMemory
	max     units.Bytes // of a copy
	message units.Bytes // the largest message
	epoch   uint32      // flags raised so far
	rows    []measurement.Link
}

// gpu is a GPU with its thread: all calls go through do.
type gpu struct {
	index    int
	device   driver.Device
	context  *driver.Context
	stream   driver.Stream
	kernels  map[string]driver.Kernel
	sms      int
	turn     uint32          // of the next launch
	overlap  bool            // a kernel may be launched before the one ahead has ended
	src      *driver.Mapping // max bytes
	dst      *driver.Mapping // max bytes
	inbox    *driver.Mapping // for each GPU: two halves of LL packets of the largest message
	marks    *driver.Mapping // for each GPU: a line of flags for each block
	result   *driver.Mapping // of ping_pong, nanoseconds
	counters *driver.Mapping // rounds before a launch, of two by turns, a line for each block
	calls    chan func()
}

const (
	maxBlocks = 512
	flagBytes = 128
	maxGPUs   = 16
)

func open(count int, largest units.Bytes) (*session, error) {
	if err := os.Setenv("CUDA_MODULE_LOADING", "EAGER"); err != nil { // a kernel that loads late could wait for one that waits for it
		return nil, err
	}
	devices, err := driver.Choose(count)
	if err != nil {
		return nil, err
	}
	if len(devices) > maxGPUs {
		return nil, fmt.Errorf("%d GPUs: at most %d are measured together", len(devices), maxGPUs)
	}
	s := &session{max: largest, message: min(largest, 64*units.MiB)}
	for _, d := range devices {
		s.gpus = append(s.gpus, startGPU(d))
	}
	if err := s.prepare(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func startGPU(d driver.Device) *gpu {
	g := &gpu{index: int(d), device: d, kernels: map[string]driver.Kernel{}, calls: make(chan func())}
	go func() {
		runtime.LockOSThread() // the driver keeps the current context by thread
		for call := range g.calls {
			call()
		}
	}()
	return g
}

// do runs a function on the GPU's thread.
func (g *gpu) do(f func() error) error {
	done := make(chan error)
	g.calls <- func() { done <- f() }
	return <-done
}

// each runs a function for all GPUs at once, each on its thread.
func (s *session) each(list []*gpu, f func(g *gpu) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, g := range list {
		wg.Go(func() {
			if err := g.do(func() error { return f(g) }); err != nil {
				errs[i] = fmt.Errorf("GPU %d: %w", g.index, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// prepare compiles and loads the kernels, maps memory for all GPUs and launches each
// kernel once.
func (s *session) prepare() error {
	if err := s.checkPeers(); err != nil {
		return err
	}
	if err := s.each(s.gpus, s.prepareGPU); err != nil {
		return err
	}
	if err := s.gpus[0].do(func() (err error) { s.abort, err = driver.AllocHost(4096); return err }); err != nil {
		return err
	}
	return s.each(s.gpus, func(g *gpu) error {
		for _, name := range kernelNames { // without rounds and bytes: so that none loads late
			if err := g.launch(name, shape{1, 32}, s.args(g)); err != nil {
				return err
			}
		}
		return g.stream.Synchronize()
	})
}

func (s *session) checkPeers() error {
	for _, a := range s.gpus {
		for _, b := range s.gpus {
			if a == b {
				continue
			}
			ok, err := a.device.CanAccess(b.device)
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("GPU %d cannot address the memory of GPU %d: links between such GPUs are not measured", a.index, b.index)
			}
		}
	}
	return nil
}

func (s *session) prepareGPU(g *gpu) error {
	var err error
	if g.context, err = g.device.Retain(); err != nil {
		return err
	}
	if err = g.context.Use(); err != nil {
		return err
	}
	if g.stream, err = driver.NewStream(); err != nil {
		return err
	}
	if g.sms, err = g.device.Attribute(driver.MultiprocessorCount); err != nil {
		return err
	}
	major, err := g.device.Attribute(driver.ComputeCapabilityMajor)
	if err != nil {
		return err
	}
	g.overlap = major >= 9
	arch, err := g.device.Arch()
	if err != nil {
		return err
	}
	code, err := driver.Compile("probe.cu", source, nil, []string{"-arch=" + arch, "-std=c++17", fmt.Sprintf("-DPEERS=%d", max(len(s.gpus)-1, 1))})
	if err != nil {
		return err
	}
	module, err := driver.LoadModule(code)
	if err != nil {
		return err
	}
	for _, name := range kernelNames {
		if g.kernels[name], err = module.Kernel(name); err != nil {
			return err
		}
	}
	return s.allocate(g)
}

func (s *session) allocate(g *gpu) error {
	var users []driver.Device
	for _, x := range s.gpus {
		users = append(users, x.device)
	}
	n := int64(len(s.gpus))
	for _, m := range []struct {
		at    **driver.Mapping
		bytes int64
	}{
		{&g.src, int64(s.max)}, {&g.dst, int64(s.max)}, {&g.inbox, n * s.slot()},
		{&g.marks, n * maxBlocks * flagBytes}, {&g.result, 8}, {&g.counters, maxBlocks * flagBytes},
	} {
		var err error
		if *m.at, err = driver.Map(g.device, m.bytes, users); err != nil {
			return err
		}
		if err = g.stream.Fill((*m.at).At, 0, (*m.at).Size); err != nil {
			return err
		}
	}
	return g.stream.Synchronize()
}

// slot is the room in an inbox for one peer: two halves of packets twice as large as
// their data.
func (s *session) slot() int64 { return 4 * int64(s.message) }

// close ends the session; what the driver holds for this process goes with it.
func (s *session) close() {
	for _, g := range s.gpus {
		g.do(func() error {
			for _, m := range []*driver.Mapping{g.src, g.dst, g.inbox, g.marks, g.result, g.counters} {
				if m != nil {
					m.Free()
				}
			}
			if g.context != nil {
				return g.context.Release()
			}
			return nil
		})
		close(g.calls)
	}
}

// row keeps a measured value.
func (s *session) row(kind, src, dst string, blocks int, bytes int64, value float64, unit string) {
	s.rows = append(s.rows, measurement.Link{Kind: kind, Src: src, Dst: dst, Blocks: blocks, Bytes: units.Bytes(bytes), Value: round(value), Unit: unit})
}

// round keeps four digits after the point: no clock here is better.
func round(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
	return r
}

func (g *gpu) name() string { return strconv.Itoa(g.index) }
