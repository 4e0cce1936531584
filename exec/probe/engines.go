//go:build cgo

package probe

import (
	"fmt"

	"railyard/exec/cuda/driver"
)

// engineMessages: messages by copy engine, as schedules send them: kernels that tell the
// peers and wait for them before the first copies and behind those of every round. Rows
// such as copy_ring. There are none of copies to several peers: schedules queue them one
// after another, and side by side they take nearly twice as long.
func (s *session) engineMessages(p pattern) error {
	for bytes := int64(1 << 20); bytes*int64(len(p.offset)) <= int64(s.max); bytes *= 2 {
		for _, rounds := range []int{1, manyRounds} {
			n := int(max(2, min(8, (32<<20)/bytes)))
			if err := s.count(p.gpus, 1); err != nil {
				return err
			}
			s.epoch += uint32(n * (rounds + 1) * (replays + 1))
			t, err := s.slowestOf(p.gpus, n, func(g *gpu) error {
				meet := func() error { return g.launch("simple_messages", shape{1, 32}, s.round(p, g, 0, 1)) }
				if err := meet(); err != nil {
					return err
				}
				for range rounds {
					err := g.copies(len(p.offset), func(i int, on driver.Stream) error {
						to := p.gpus[(g.Rank+p.offset[i])%len(p.gpus)]
						return on.Copy(to.dst.At+driver.Ptr(int64(i)*bytes), g.src.At, bytes)
					})
					if err != nil {
						return err
					}
					if err := meet(); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("copy_%s, %d bytes: %w", p.name, bytes, err)
			}
			s.row(p.kind("copy", rounds), "*", "*", 0, bytes, us(t), "us")
		}
	}
	return nil
}
