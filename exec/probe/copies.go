//go:build cgo

package probe

import (
	"time"

	"railyard/exec/cuda/driver"
)

// pairBlocks is enough blocks for all pairs to reach a link's rate.
const pairBlocks = 64

// copies: one GPU to another by copy engine and by multiprocessors, all pairs at the
// largest size, the first pair against blocks and size.
func (s *session) copies() error {
	for _, from := range s.gpus {
		for _, to := range s.gpus {
			if from == to {
				continue
			}
			if err := from.Do(func() error { return s.pairCopies(from, to) }); err != nil {
				return err
			}
		}
	}
	if len(s.gpus) < 2 {
		return nil
	}
	a, b := s.gpus[0], s.gpus[1]
	return a.Do(func() error {
		for _, blocks := range []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, a.Multiprocessors, 2 * a.Multiprocessors} {
			for _, kind := range []string{"sm_push", "sm_pull", "sm_pull_add"} {
				t, err := s.smCopy(kind, a, b, blocks, int64(s.max))
				if err != nil {
					return err
				}
				s.row(kind, a.name(), b.name(), blocks, int64(s.max), gbps(int64(s.max), t), "GBps")
			}
		}
		return s.copiesBySize(a, b)
	})
}

func (s *session) pairCopies(from, to *gpu) error {
	size := int64(s.max)
	t, err := s.engineCopy(from, to, size)
	if err != nil {
		return err
	}
	s.row("ce_uni", from.name(), to.name(), 0, size, gbps(size, t), "GBps")
	for _, kind := range []string{"sm_push", "sm_pull"} {
		if from.Rank+to.Rank == 1 {
			continue // the first pair is measured block by block
		}
		if t, err = s.smCopy(kind, from, to, pairBlocks, size); err != nil {
			return err
		}
		s.row(kind, from.name(), to.name(), pairBlocks, size, gbps(size, t), "GBps")
	}
	return nil
}

func (s *session) copiesBySize(a, b *gpu) error {
	for bytes := int64(64); bytes <= int64(s.max); bytes *= 4 {
		t, err := s.engineCopy(a, b, bytes)
		if err != nil {
			return err
		}
		s.row("ce_uni_time", a.name(), b.name(), 0, bytes, us(t), "us")
		for _, kind := range []string{"sm_push", "sm_pull"} {
			blocks := int(min(max(bytes/8192, 1), int64(a.Multiprocessors)))
			if t, err = s.smCopy(kind, a, b, blocks, bytes); err != nil {
				return err
			}
			s.row(kind+"_time", a.name(), b.name(), blocks, bytes, us(t), "us")
		}
	}
	return nil
}

// often is how many copies of a size are timed together.
func often(bytes int64) int { return int(max(2, min(20, (1<<28)/bytes))) }

func (s *session) engineCopy(from, to *gpu, bytes int64) (time.Duration, error) {
	return from.timed(often(bytes), func() error { return from.Stream.Copy(to.dst.At, from.src.At, bytes) })
}

// smCopy runs on the first GPU: sm_push stores in the other's memory, sm_pull loads from
// it, sm_pull_add adds what it loads to its own.
func (s *session) smCopy(kind string, g, other *gpu, blocks int, bytes int64) (time.Duration, error) {
	a := s.args(g)
	a.Bytes = uint64(bytes)
	kernel := "copy"
	switch kind {
	case "sm_push":
		a.Dst = uint64(other.dst.At)
	case "sm_pull_add":
		kernel = "add"
		fallthrough
	case "sm_pull":
		a.Src = uint64(other.src.At)
	}
	return g.timed(often(bytes), func() error { return g.launch(kernel, shape{blocks, 512}, a) })
}

// copiesAtOnce: every GPU to the next, and a share to each of the others, by copy engine
// and by multiprocessors; rates of one GPU, the slowest.
func (s *session) copiesAtOnce() error {
	n := len(s.gpus)
	if n < 2 {
		return nil
	}
	size := int64(s.max)
	ring := func(g *gpu) *gpu { return s.gpus[(g.Rank+1)%n] }
	t, err := s.slowestOf(s.gpus, 8, func(g *gpu) error { return g.Stream.Copy(ring(g).dst.At, g.src.At, size) })
	if err != nil {
		return err
	}
	s.row("ring_ce", "*", "*", 0, size, gbps(size, t), "GBps_per_gpu")
	for _, blocks := range []int{16, 32, 64, s.gpus[0].Multiprocessors} {
		t, err := s.slowestOf(s.gpus, 8, func(g *gpu) error {
			a := s.args(g)
			a.Dst, a.Bytes = uint64(ring(g).dst.At), uint64(size)
			return g.launch("copy", shape{blocks, 512}, a)
		})
		if err != nil {
			return err
		}
		s.row("ring_push", "*", "*", blocks, size, gbps(size, t), "GBps_per_gpu")
	}
	return s.engineAll()
}

// engineAll copies a share to each other GPU at once, each on a stream of its own.
func (s *session) engineAll() error {
	n := len(s.gpus)
	share := int64(s.max) / int64(n-1) / 16 * 16
	moved := share * int64(n-1)
	t, err := s.slowestOf(s.gpus, 8, func(g *gpu) error {
		return g.copies(n-1, func(i int, on driver.Stream) error {
			return on.Copy(s.gpus[(g.Rank+1+i)%n].dst.At, g.src.At, share)
		})
	})
	if err != nil {
		return err
	}
	s.row("a2a_ce", "*", "*", 0, moved, gbps(moved, t), "GBps_per_gpu")
	return nil
}

// copies are so many side by side, each on a stream of its own.
func (g *gpu) copies(n int, one func(i int, on driver.Stream) error) error {
	return g.Fork(g.beside[:n], func() error {
		for i, on := range g.beside[:n] {
			if err := one(i, on); err != nil {
				return err
			}
		}
		return nil
	})
}

// steps are 1 … n−1.
func steps(n int) []int {
	out := make([]int, n-1)
	for i := range out {
		out[i] = i + 1
	}
	return out
}
