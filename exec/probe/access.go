//go:build cgo

package probe

import (
	"time"

	"railyard/exec/cuda/driver"
	"railyard/model/measurement"
	"railyard/model/units"
)

// apart is for how many pieces there is room, for each that is used: kernels.cu has the same.
const apart = 8

// patternCodes are what kernels.cu calls patterns.
var patternCodes = map[string]uint32{measurement.Coalesced: 0, measurement.Strided: 1, measurement.Scattered: 2, measurement.Misaligned: 3}

// accesses are the patterns that are measured, with the bytes of their pieces: powers of two.
func accesses() (out []measurement.Access) {
	add := func(pattern string, pieces ...units.Bytes) {
		for _, stores := range []bool{false, true} {
			for _, piece := range pieces {
				out = append(out, measurement.Access{Stores: stores, Pattern: pattern, Piece: piece})
			}
		}
	}
	add(measurement.Coalesced, 16)
	add(measurement.Misaligned, 1, 2, 4, 8)
	for _, pattern := range []string{measurement.Strided, measurement.Scattered} {
		add(pattern, 16, 32, 64, 128, 256, 1024, 4096)
	}
	return out
}

// access: copies whose places on one side lie apart, in a GPU's own memory and, where there is another GPU, in its: rows such as
// local_load_strided_p64, whose bytes are those that are copied. The grid is that of schedules.
func (s *session) access() error {
	g := s.gpus[0]
	peers := s.gpus[:min(2, len(s.gpus))]
	return g.Do(func() error {
		for _, other := range peers {
			for _, x := range accesses() {
				for bytes := units.MiB; bytes*apart <= s.max; bytes *= 32 {
					x.Peer = other != g
					t, err := s.accessed(g, other, x, int64(bytes))
					if err != nil {
						return err
					}
					s.row(x.Kind(), g.name(), other.name(), g.Multiprocessors, int64(bytes), gbps(int64(bytes), t), "GBps")
				}
			}
		}
		return nil
	})
}

// accessed copies on g: what lies apart lies at the other, which may be g.
func (s *session) accessed(g, other *gpu, x measurement.Access, bytes int64) (time.Duration, error) {
	a := s.args(g)
	a.Bytes, a.First, a.Warmup = uint64(bytes), uint32(x.Piece), patternCodes[x.Pattern]
	if x.Stores {
		a.Mode, a.Dst = 1, uint64(other.dst.At)
	} else {
		a.Src = uint64(other.src.At)
	}
	kernel := "placed"
	if x.Pattern == measurement.Misaligned {
		kernel = "placed_misaligned"
	}
	return g.timed(20, func() error { return g.launch(kernel, shape{g.Multiprocessors, 512}, a) })
}

// memory: what taking memory and giving it back costs by each allocator, and how fast a GPU copies within what it has got.
func (s *session) memory() error {
	g := s.gpus[0]
	return g.Do(func() error {
		for bytes := units.MiB; bytes <= s.max; bytes *= 16 {
			for _, how := range allocators {
				if err := s.allocated(g, how, int64(bytes)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// allocator takes memory on a GPU, and gives what it took back.
type allocator struct {
	name string
	take func(g *gpu, bytes int64) (at driver.Ptr, back func() error, err error)
}

var allocators = []allocator{
	{measurement.Plain, func(_ *gpu, bytes int64) (driver.Ptr, func() error, error) {
		at, err := driver.Alloc(bytes)
		return at, at.Free, err
	}},
	{measurement.Pool, func(g *gpu, bytes int64) (driver.Ptr, func() error, error) {
		at, err := g.Stream.Alloc(bytes)
		return at, func() error { return g.Stream.Free(at) }, err
	}},
	{measurement.Mapped, func(g *gpu, bytes int64) (driver.Ptr, func() error, error) {
		m, err := driver.Map(g.Device, bytes, []driver.Device{g.Device})
		if err != nil {
			return 0, nil, err
		}
		return m.At, m.Free, nil
	}},
}

// allocations is how often memory is taken and given back for one time.
const allocations = 9

// allocated times an allocator, and copies half of its memory to the other half.
func (s *session) allocated(g *gpu, how allocator, bytes int64) error {
	var times []time.Duration
	for i := range allocations + 1 { // a first time has more to do, and is not that of a program that runs
		began := time.Now()
		at, back, err := how.take(g, bytes)
		if err != nil {
			return err
		}
		taken := time.Since(began)
		if i == allocations {
			a := s.args(g)
			a.Src, a.Dst, a.Bytes = uint64(at), uint64(at)+uint64(bytes/2), uint64(bytes/2)
			t, err := g.timed(20, func() error { return g.launch("copy", shape{4 * g.Multiprocessors, 512}, a) })
			if err != nil {
				return err
			}
			s.row(measurement.CopyIn+how.name, g.name(), g.name(), 4*g.Multiprocessors, bytes/2, gbps(bytes/2, t), "GBps")
		}
		began = time.Now()
		if err := back(); err != nil {
			return err
		}
		if 0 < i && i < allocations {
			times = append(times, taken+time.Since(began))
		}
		if err := g.Stream.Synchronize(); err != nil {
			return err
		}
	}
	s.row(measurement.AllocBy+how.name, g.name(), g.name(), 0, bytes, us(measurement.Summarise(times).Median), "us")
	return nil
}
