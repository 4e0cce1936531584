//go:build cgo

package probe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"railyard/exec/cuda/driver"
)

const maxPeers = maxGPUs - 1

// args is the kernels' argument block, field by field.
type args struct {
	Src, Dst                                  uint64
	Inbox, Outbox, Flags, Theirs              [maxPeers]uint64
	Result, Abort, Bytes, Deadline            uint64
	Peers, Rounds, Warmup, Epoch, Mode, First uint32
}

func (a *args) encode() []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, a); err != nil {
		panic(err) // the structure has a fixed size
	}
	return b.Bytes()
}

// args fills in what all kernels need.
func (s *session) args(g *gpu) *args {
	return &args{Src: uint64(g.src.At), Dst: uint64(g.dst.At), Result: uint64(g.result.At), Abort: uint64(s.abort.At), Deadline: uint64(patience.Nanoseconds())}
}

// connect adds the box and the flags that g fills at one peer and those that another
// peer fills here.
func (s *session) connect(a *args, g, to, from *gpu) {
	box := func(at, by *gpu) uint64 { return uint64(at.inbox.At) + uint64(by.index)*uint64(s.slot()) }
	flags := func(at, by *gpu) uint64 { return uint64(at.marks.At) + uint64(by.index)*maxBlocks*flagBytes }
	i := a.Peers
	a.Outbox[i], a.Theirs[i] = box(to, g), flags(to, g)
	a.Inbox[i], a.Flags[i] = box(g, from), flags(g, from)
	a.Peers++
}

// shape is the grid of a launch.
type shape struct{ blocks, threads int }

func (g *gpu) launch(kernel string, d shape, a *args) error {
	return g.kernels[kernel].Launch(g.stream, driver.Dim{Blocks: d.blocks, Threads: d.threads}, a.encode())
}

// rounds is how often a message or flag goes and how often before that untimed.
type rounds struct{ timed, warmup uint32 }

// together launches kernels that wait for one another, all at once, and returns the
// nanoseconds that a round took the slowest block.
func (s *session) together(kernel string, list []*gpu, d shape, r rounds, fill func(g *gpu, a *args)) (float64, error) {
	slowest := make([]uint64, len(list))
	epoch := s.epoch
	s.epoch += r.timed + r.warmup
	err := s.each(list, func(g *gpu) error {
		a := s.args(g)
		a.Epoch, a.Rounds, a.Warmup = epoch, r.timed, r.warmup
		fill(g, a)
		if err := g.launch(kernel, d, a); err != nil {
			return err
		}
		if err := g.stream.Synchronize(); err != nil {
			return err
		}
		raw := make([]byte, 8*d.blocks)
		if err := driver.Download(raw, g.result.At); err != nil {
			return err
		}
		i := slices.Index(list, g)
		for b := range d.blocks {
			slowest[i] = max(slowest[i], binary.LittleEndian.Uint64(raw[8*b:]))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(s.abort.Bytes) != 0 {
		return 0, fmt.Errorf("%s: a GPU waited longer than %v for another", kernel, patience)
	}
	return float64(slices.Max(slowest)) / float64(r.timed), nil
}

// graphRuns is how often a captured graph is run to find its best time.
const graphRuns = 5

// timed captures work n times in a graph and returns the time of one, the best of
// several runs. It runs on the GPU's thread.
func (g *gpu) timed(n int, work func() error) (time.Duration, error) {
	graph, err := g.stream.Capture(func() error {
		for range n {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer graph.Destroy()
	var marks [2]driver.Event
	for i := range marks {
		if marks[i], err = driver.NewEvent(true); err != nil {
			return 0, err
		}
		defer marks[i].Destroy()
	}
	best := time.Duration(0)
	for run := range graphRuns + 1 {
		if err := marks[0].Record(g.stream); err != nil {
			return 0, err
		}
		if err := graph.Launch(g.stream); err != nil {
			return 0, err
		}
		if err := marks[1].Record(g.stream); err != nil {
			return 0, err
		}
		if err := g.stream.Synchronize(); err != nil {
			return 0, err
		}
		t, err := marks[1].Since(marks[0])
		if err != nil {
			return 0, err
		}
		if run > 0 && (best == 0 || t < best) { // the first warms up
			best = t
		}
	}
	return best / time.Duration(n), nil
}

// slowestOf times work on all GPUs at once and returns the slowest one's time.
func (s *session) slowestOf(n int, work func(g *gpu) error) (time.Duration, error) {
	times := make([]time.Duration, len(s.gpus))
	err := s.each(s.gpus, func(g *gpu) (err error) {
		times[g.index], err = g.timed(n, func() error { return work(g) })
		return err
	})
	return slices.Max(times), err
}

func us(t time.Duration) float64 { return float64(t.Nanoseconds()) / 1e3 }

func gbps(bytes int64, t time.Duration) float64 { return float64(bytes) / float64(t.Nanoseconds()) }
