//go:build cgo

package probe

import "time"

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
			if err := from.do(func() error { return s.pairCopies(from, to) }); err != nil {
				return err
			}
		}
	}
	if len(s.gpus) < 2 {
		return nil
	}
	a, b := s.gpus[0], s.gpus[1]
	return a.do(func() error {
		for _, blocks := range []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, a.sms, 2 * a.sms} {
			for _, kind := range []string{"sm_push", "sm_pull"} {
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
		if from.index+to.index == 1 {
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
			blocks := int(min(max(bytes/8192, 1), int64(a.sms)))
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
	return from.timed(often(bytes), func() error { return from.stream.Copy(to.dst.At, from.src.At, bytes) })
}

// smCopy runs on the first GPU: sm_push stores in the other's memory, sm_pull loads from it.
func (s *session) smCopy(kind string, g, other *gpu, blocks int, bytes int64) (time.Duration, error) {
	a := s.args(g)
	a.Bytes = uint64(bytes)
	if kind == "sm_push" {
		a.Dst = uint64(other.dst.At)
	} else {
		a.Src = uint64(other.src.At)
	}
	return g.timed(often(bytes), func() error { return g.launch("copy", shape{blocks, 512}, a) })
}

// copiesAtOnce: every GPU to the next, to its partner and back, and to all others, by
// copy engine and by multiprocessors; rates of one GPU, the slowest.
func (s *session) copiesAtOnce() error {
	n := len(s.gpus)
	if n < 2 {
		return nil
	}
	for _, p := range []struct {
		name   string
		offset []int
	}{{"ring", []int{1}}, {"a2a", steps(n)}} {
		bytes := int64(s.max) / int64(len(p.offset)) / 16 * 16
		moved := bytes * int64(len(p.offset))
		t, err := s.slowestOf(8, func(g *gpu) error {
			for _, o := range p.offset {
				if err := g.stream.Copy(s.gpus[(g.index+o)%n].dst.At, g.src.At, bytes); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.row(p.name+"_ce", "*", "*", 0, moved, gbps(moved, t), "GBps_per_gpu")
		for _, blocks := range []int{16, 32, 64, s.gpus[0].sms} {
			t, err := s.slowestOf(8, func(g *gpu) error {
				for _, o := range p.offset {
					a := s.args(g)
					a.Dst, a.Bytes = uint64(s.gpus[(g.index+o)%n].dst.At), uint64(bytes)
					if err := g.launch("copy", shape{blocks, 512}, a); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			s.row(p.name+"_push", "*", "*", blocks, moved, gbps(moved, t), "GBps_per_gpu")
		}
	}
	return nil
}

// steps are 1 … n−1.
func steps(n int) []int {
	out := make([]int, n-1)
	for i := range out {
		out[i] = i + 1
	}
	return out
}
