//go:build cgo

package probe

import (
	"fmt"
	"slices"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/measurement"
)

const maxPeers = maxGPUs - 1

// peer and args are the kernels' argument block, field by field.
type peer struct{ Inbox, Outbox, Flags, Theirs uint64 }

type args struct {
	Src, Dst, Bytes, Counters  uint64
	Peers, Rounds              uint32
	Abort, Deadline, Result    uint64
	Peer                       [maxPeers]peer
	Warmup, Epoch, Mode, First uint32
	Turn, Pad                  uint32
}

// args fills in what all kernels need.
func (s *session) args(g *gpu) *args {
	return &args{Src: uint64(g.src.At), Dst: uint64(g.dst.At), Result: uint64(g.result.At), Counters: uint64(g.counters.At),
		Abort: uint64(s.set.Host.At), Deadline: uint64(patience.Nanoseconds())}
}

// connect adds the box and the flags that g fills at one peer and those that another
// peer fills here.
func (s *session) connect(a *args, g, to, from *gpu) {
	box := func(at, by *gpu) uint64 { return uint64(at.inbox.At) + uint64(by.Rank)*uint64(s.slot()) }
	flags := func(at, by *gpu) uint64 { return uint64(at.marks.At) + uint64(by.Rank)*maxBlocks*flagBytes }
	a.Peer[a.Peers] = peer{Inbox: box(g, from), Outbox: box(to, g), Flags: flags(g, from), Theirs: flags(to, g)}
	a.Peers++
}

// shape is the grid of a launch.
type shape struct{ blocks, threads int }

func (g *gpu) launch(kernel string, d shape, a *args) error {
	return g.kernels[kernel].Launch(g.Stream, driver.Dim{Blocks: d.blocks, Threads: d.threads}, driver.Bytes(a))
}

// follow launches a kernel that waits by itself for the one ahead of it.
func (g *gpu) follow(kernel string, d shape, a *args) error {
	return g.kernels[kernel].Launch(g.Stream, driver.Dim{Blocks: d.blocks, Threads: d.threads, Overlap: g.Overlap}, driver.Bytes(a))
}

// measured captures work n times in a graph and replays it back to back, with a mark
// between replays; it returns the time of one work in each replay but the first, which
// the host's launches stagger. It runs on the GPU's thread.
func (g *gpu) measured(n, replays int, work func() error) ([]time.Duration, error) {
	graph, err := g.Stream.Capture(func() error {
		for range n {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer graph.Destroy()
	marks, err := gpus.NewMarks(replays + 2)
	defer marks.Destroy()
	if err != nil {
		return nil, err
	}
	for i, m := range marks {
		if err := m.Record(g.Stream); err != nil {
			return nil, err
		}
		if i <= replays {
			if err := graph.Launch(g.Stream); err != nil {
				return nil, err
			}
		}
	}
	if err := g.Stream.Synchronize(); err != nil {
		return nil, err
	}
	out, err := marks.Times()
	for i := range out {
		out[i] /= time.Duration(n)
	}
	return out, err
}

// replays is how often a graph is replayed.
const replays = 7

// timed is the median time of work done n times in a graph, on one GPU.
func (g *gpu) timed(n int, work func() error) (time.Duration, error) {
	times, err := g.measured(n, replays, work)
	if err != nil {
		return 0, err
	}
	return measurement.Summarise(times).Median, nil
}

// slowestOf times work on several GPUs at once: the median over replays of the slowest
// GPU's time.
func (s *session) slowestOf(list []*gpu, n int, work func(g *gpu) error) (time.Duration, error) {
	times := make([][]time.Duration, len(list))
	err := gpus.Each(list, func(g *gpu) (err error) {
		times[slices.Index(list, g)], err = g.measured(n, replays, func() error { return work(g) })
		return err
	})
	if err != nil {
		return 0, err
	}
	if s.set.Aborted() {
		return 0, fmt.Errorf("a GPU waited longer than %v for another", patience)
	}
	return measurement.Summarise(gpus.Slowest(times)).Median, nil
}

func us(t time.Duration) float64 { return float64(t.Nanoseconds()) / 1e3 }

func gbps(bytes int64, t time.Duration) float64 { return float64(bytes) / float64(t.Nanoseconds()) }
