//go:build cgo

package probe

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/measurement"
	"railyard/model/units"
)

//go:embed kernels.cu
var source string

// patience is how long a kernel waits for another GPU before it gives up.
const patience = 2 * time.Second

// kernelNames are the entry points of kernels.cu.
var kernelNames = []string{"nothing", "ping_pong", "copy", "add", "simple_messages", "pull_messages", "ll_messages", "ll_sums",
	"ll_deals", "ll_dealsums", "ll128_messages", "ll128_sums", "ll128_deals", "ll128_dealsums", "words_messages",
	"words_sums", "words_dealsums", "simple_casts", "pull_casts", "ll_casts", "ll128_casts", "relays", "placed",
	"placed_misaligned"}

// session holds the GPUs while they are measured.
type session struct {
	set     *gpus.Set
	gpus    []*gpu
	max     units.Bytes // of a copy
	message units.Bytes // the largest message
	epoch   uint32      // flags raised so far
	rows    []measurement.Link
}

// gpu is a GPU with what is measured on it.
type gpu struct {
	*gpus.GPU
	kernels  map[string]driver.Kernel
	turn     uint32          // of the next launch
	beside   []driver.Stream // of the GPU's own, one for each other GPU
	src      *driver.Mapping // max bytes
	dst      *driver.Mapping // max bytes
	inbox    *driver.Mapping // for each GPU: two halves of LL packets of the largest message
	marks    *driver.Mapping // for each GPU: a line of flags for each block
	result   *driver.Mapping // of ping_pong, nanoseconds
	counters *driver.Mapping // rounds before a launch, of two by turns, a line for each block
}

const (
	maxBlocks = 512
	flagBytes = 128
	maxGPUs   = 16
)

func open(count int, largest units.Bytes) (*session, error) {
	set, err := gpus.Open(gpus.Options{Ranks: count, Eager: true})
	if err != nil {
		return nil, err
	}
	s := &session{set: set, max: largest, message: min(largest, 64*units.MiB)}
	for _, g := range set.GPUs {
		s.gpus = append(s.gpus, &gpu{GPU: g, kernels: map[string]driver.Kernel{}})
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.set.Close())
	}
	return s, nil
}

// prepare compiles and loads the kernels, maps memory for all GPUs and launches each
// kernel once.
func (s *session) prepare() error {
	if len(s.gpus) > maxGPUs {
		return fmt.Errorf("%d GPUs: at most %d are measured together", len(s.gpus), maxGPUs)
	}
	if err := gpus.Each(s.gpus, s.load); err != nil {
		return err
	}
	return gpus.Each(s.gpus, func(g *gpu) error {
		for _, name := range kernelNames { // without rounds and bytes: so that none loads late
			if err := g.launch(name, shape{1, 32}, s.args(g)); err != nil {
				return err
			}
		}
		return g.Stream.Synchronize()
	})
}

func (s *session) load(g *gpu) error {
	code, err := driver.Compile("probe.cu", source, nil, []string{"-arch=" + g.Arch, "-std=c++17",
		fmt.Sprintf("-DPEERS=%d", max(len(s.gpus)-1, 1))})
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
	if g.beside, err = g.Side(len(s.gpus) - 1); err != nil {
		return err
	}
	return s.allocate(g)
}

func (s *session) allocate(g *gpu) error {
	n := int64(len(s.gpus))
	for _, m := range []struct {
		at    **driver.Mapping
		bytes int64
	}{
		{&g.src, int64(s.max)}, {&g.dst, int64(s.max)}, {&g.inbox, n * s.slot()},
		{&g.marks, n * maxBlocks * flagBytes}, {&g.result, 8}, {&g.counters, maxBlocks * flagBytes},
	} {
		if err := g.Reserve(m.at, m.bytes); err != nil {
			return err
		}
		if err := g.Stream.Fill((*m.at).At, 0, (*m.at).Size); err != nil {
			return err
		}
	}
	return g.Stream.Synchronize()
}

// slot is the room in an inbox for one peer: two halves of packets twice as large as
// their data.
func (s *session) slot() int64 { return 4 * int64(s.message) }

// row keeps a measured value.
func (s *session) row(kind, src, dst string, blocks int, bytes int64, value float64, unit string) {
	s.rows = append(s.rows, measurement.Link{Kind: kind, Src: src, Dst: dst, Blocks: blocks, Bytes: units.Bytes(bytes),
		Value: round(value), Unit: unit})
}

// round keeps four digits after the point: no clock here is better.
func round(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
	return r
}

func (g *gpu) name() string { return strconv.Itoa(g.Rank) }
