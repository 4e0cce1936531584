//go:build cgo

package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
)

// Node is this machine's GPUs, ready to run.
type Node struct {
	gpus     []*gpu
	share    int                // most ranks on a GPU
	host     *driver.HostMemory // abort word, then the report
	Deadline time.Duration      // of a single wait on a GPU
	gates    uint32             // opened so far
}

// gpu is one rank.
type gpu struct {
	rank    int
	device  driver.Device
	ctx     *driver.Context
	arch    string
	sms     int
	overlap bool // a kernel can be launched while the one ahead of it runs (sm_90)
	jobs    chan func()
	stream  driver.Stream
	side    []driver.Stream // more streams, for copies
	marks   []driver.Event
	input   *driver.Mapping
	output  *driver.Mapping
	pool    *driver.Mapping
	counter driver.Ptr
	began   driver.Event
	ended   driver.Event
	modules map[string]driver.Module
}

// The places in host memory.
const (
	abortAt  = 0
	gateAt   = 64
	reportAt = 128
)

// Open takes the first ranks GPUs. The error says in one line what is missing.
func Open(ranks int) (*Node, error) { return OpenShared(ranks, 1) }

// OpenShared puts up to share ranks on each GPU, ranks that follow one another on different ones:
// to check what needs more ranks than there are GPUs. Times mean nothing then.
func OpenShared(ranks, share int) (*Node, error) {
	if ranks < 1 || ranks > block.MaxRanks {
		return nil, fmt.Errorf("%d ranks: the kernels address 1 to %d", ranks, block.MaxRanks)
	}
	if share < 1 {
		return nil, fmt.Errorf("%d ranks on each GPU: must be at least 1", share)
	}
	if share > 1 {
		if err := sideBySide(); err != nil {
			return nil, err
		}
	}
	devices := gpusFor(ranks, share)
	if _, err := driver.Choose(devices); err != nil {
		return nil, err
	}
	if err := reachable(devices); err != nil {
		return nil, err
	}
	node := &Node{share: share, Deadline: 10 * time.Second}
	for r := range ranks { // neighbours are on different GPUs, so that most messages go over links
		node.gpus = append(node.gpus, &gpu{rank: r, device: driver.Device(r % devices), jobs: make(chan func()), modules: map[string]driver.Module{}})
		go node.gpus[r].serve()
	}
	err := node.each(func(g *gpu) error { return g.open() })
	if err == nil {
		err = node.gpus[0].do(func() (err error) {
			node.host, err = driver.AllocHost(4096)
			return err
		})
	}
	if err != nil {
		node.Close()
		return nil, err
	}
	return node, nil
}

// sideBySide lets kernels of several ranks run on one GPU at once, though they wait for one another:
// their streams have queues of their own, and none is loaded while others run.
func sideBySide() error {
	return errors.Join(os.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32"), os.Setenv("CUDA_MODULE_LOADING", "EAGER"))
}

// reachable checks that every GPU can address every other's memory and is new enough.
func reachable(ranks int) error {
	for a := range ranks {
		d := driver.Device(a)
		arch, err := d.Arch()
		if err != nil {
			return err
		}
		if major, _ := d.Attribute(driver.ComputeCapabilityMajor); major < 7 {
			name, _ := d.Name()
			return fmt.Errorf("GPU %d (%s) is %s: the kernels need sm_70 or newer", a, name, arch)
		}
		if v, _ := d.Attribute(driver.VirtualMemorySupported); v == 0 {
			return fmt.Errorf("GPU %d cannot map memory of its peers (no virtual memory management)", a)
		}
		for b := range ranks {
			if a == b {
				continue
			}
			if ok, err := d.CanAccess(driver.Device(b)); err != nil {
				return err
			} else if !ok {
				return fmt.Errorf("GPU %d cannot access the memory of GPU %d: no NVLink or PCIe peer access between them", a, b)
			}
		}
	}
	return nil
}

// serve runs the GPU's jobs on one thread, which has its context.
func (g *gpu) serve() {
	runtime.LockOSThread()
	for job := range g.jobs {
		job()
	}
}

// do runs a job on the GPU's thread and waits.
func (g *gpu) do(work func() error) error {
	done := make(chan error)
	g.jobs <- func() { done <- work() }
	return <-done
}

// each runs a job on all GPUs' threads at once and waits for all.
func (n *Node) each(work func(*gpu) error) error {
	errs := make([]error, len(n.gpus))
	var wg sync.WaitGroup
	for i, g := range n.gpus {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := g.do(func() error { return work(g) }); err != nil {
				errs[i] = fmt.Errorf("GPU %d: %w", g.rank, err)
			}
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (g *gpu) open() (err error) {
	d := g.device
	if g.ctx, err = d.Retain(); err != nil {
		return err
	}
	if err = g.ctx.Use(); err != nil {
		return err
	}
	if g.arch, err = d.Arch(); err != nil {
		return err
	}
	major, err := d.Attribute(driver.ComputeCapabilityMajor)
	if err != nil {
		return err
	}
	g.overlap = major >= 9
	if g.sms, err = d.Attribute(driver.MultiprocessorCount); err != nil {
		return err
	}
	if g.stream, err = driver.NewStream(); err != nil {
		return err
	}
	for range block.MaxRanks {
		s, err := driver.NewStream()
		if err != nil {
			return err
		}
		g.side = append(g.side, s)
	}
	for range 256 {
		e, err := driver.NewEvent(false)
		if err != nil {
			return err
		}
		g.marks = append(g.marks, e)
	}
	if g.began, err = driver.NewEvent(true); err != nil {
		return err
	}
	if g.ended, err = driver.NewEvent(true); err != nil {
		return err
	}
	g.counter, err = driver.Alloc(256)
	return err
}

// Close gives everything back.
func (n *Node) Close() {
	_ = n.each(func(g *gpu) error {
		if g.ctx == nil {
			return nil
		}
		_ = driver.Synchronize()
		for _, m := range []*driver.Mapping{g.input, g.output, g.pool} {
			if m != nil {
				_ = m.Free()
			}
		}
		return g.ctx.Release()
	})
	for _, g := range n.gpus {
		close(g.jobs)
	}
	n.gpus = nil
}

// Ranks is the number of GPUs.
func (n *Node) Ranks() int { return len(n.gpus) }

// GPU is the name of this machine's GPUs, "" where there are none.
func GPU() string {
	if driver.Load() != nil {
		return ""
	}
	name, _ := driver.Device(0).Name() // "" matches no profile
	return name
}

// Multiprocessors is the number that each GPU has.
func (n *Node) Multiprocessors() int { return n.gpus[0].sms }

// Driver describes the machine for a measurement's head: GPU, driver API, compiler.
func (n *Node) Driver() string {
	name, _ := driver.Device(0).Name()
	nvrtc, _ := driver.LoadCompiler()
	return fmt.Sprintf("%s ×%d, driver %s, CUDA %d.%d, NVRTC %s", name, len(n.gpus), driver.ModuleVersion(), driver.Version()/1000, driver.Version()%1000/10, nvrtc)
}

// reserve makes input and output memory of at least so many bytes on every GPU, and a
// pool; what is large enough stays.
func (n *Node) reserve(input, output, pool int64) error {
	if err := n.each(func(g *gpu) error { return driver.Synchronize() }); err != nil {
		return err
	}
	return n.each(func(g *gpu) error {
		for _, m := range []struct {
			at   **driver.Mapping
			want int64
		}{{&g.input, input}, {&g.output, output}, {&g.pool, pool}} {
			if *m.at != nil && (*m.at).Size >= m.want {
				continue
			}
			if *m.at != nil {
				if err := (*m.at).Free(); err != nil {
					return err
				}
				*m.at = nil
			}
			var err error
			if *m.at, err = driver.Map(g.device, m.want, n.Devices()); err != nil {
				return err
			}
		}
		return nil
	})
}

// abort ends all kernels that wait.
func (n *Node) abort() { atomic.StoreUint32(n.word(abortAt), 1) }

func (n *Node) word(at int) *uint32 { return (*uint32)(unsafe.Pointer(&n.host.Bytes[at])) }

// failure is the error of an aborted run; nil where there was none. It clears the word:
// whoever aborted must load programs anew.
func (n *Node) failure(ctx context.Context) error {
	if atomic.LoadUint32(n.word(abortAt)) == 0 {
		return nil
	}
	defer func() {
		clear(n.host.Bytes[reportAt:])
		atomic.StoreUint32(n.word(abortAt), 0)
	}()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r := n.host.Bytes[reportAt:]
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(r[4*i:]) }
	if u(0) == 0 {
		return errors.New("a kernel aborted")
	}
	want, got := binary.LittleEndian.Uint64(r[32:]), binary.LittleEndian.Uint64(r[40:])
	return fmt.Errorf("deadline of %v passed: rank %d, block %d, operation %d (%s), slice %d: waits for %s of %s %d: flag wanted %#x, got %#x",
		n.Deadline, u(1), u(2), u(3), [...]string{"multi", "signal", "wait", "ll_put", "ll_reduce", "line_put", "line_reduce", "word_put", "word_reduce"}[u(6)%9], u(4),
		map[bool]string{true: "a packet", false: [...]string{"message", "release"}[u(7)%2]}[u(6) >= 4],
		map[bool]string{true: "packet source", false: "rank"}[u(6) >= 4], u(5), want, got)
}

// settle waits for the streams of all GPUs; when ctx ends it aborts what runs.
func (n *Node) settle(ctx context.Context) error {
	aborted := false
	for _, g := range n.gpus {
		for {
			var done bool
			err := g.do(func() (err error) {
				done, err = g.stream.Done()
				return err
			})
			if err != nil {
				return fmt.Errorf("GPU %d: %w", g.rank, err)
			}
			if done {
				break
			}
			if ctx.Err() != nil && !aborted {
				n.abort()
				aborted = true
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	return n.failure(ctx)
}
