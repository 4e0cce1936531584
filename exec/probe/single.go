//go:build cgo

package probe

import (
	"fmt"
	"time"

	"railyard/exec/cuda/driver"
)

// launches: an empty kernel in a graph, in a graph where it may start before the one
// ahead has ended, and launched one by one by the host.
func (s *session) launches() error {
	g := s.gpus[0]
	const many = 200
	return g.Do(func() error {
		for _, overlap := range []bool{false, true} {
			a := driver.Bytes(s.args(g))
			t, err := g.timed(many, func() error {
				return g.kernels["nothing"].Launch(g.Stream, driver.Dim{Blocks: 1, Threads: 32, Overlap: overlap}, a)
			})
			if err != nil {
				return err
			}
			kind := map[bool]string{false: "launch_graph", true: "launch_graph_overlap"}[overlap]
			s.row(kind, g.name(), g.name(), 1, 0, us(t), "us")
		}
		began := time.Now()
		for range many {
			if err := g.launch("nothing", shape{1, 32}, s.args(g)); err != nil {
				return err
			}
		}
		if err := g.Stream.Synchronize(); err != nil {
			return err
		}
		s.row("launch_stream", g.name(), g.name(), 1, 0, us(time.Since(began))/many, "us")
		return nil
	})
}

// local: copying and adding up in one GPU's memory, in and beyond its cache.
func (s *session) local() error {
	g := s.gpus[0]
	return g.Do(func() error {
		for _, kernel := range []string{"copy", "add"} {
			for bytes := int64(64 << 10); bytes <= int64(s.max); bytes *= 16 {
				a := s.args(g)
				a.Bytes = uint64(bytes)
				d := shape{int(min(bytes/16/512+1, int64(4*g.Multiprocessors))), 512}
				t, err := g.timed(20, func() error { return g.launch(kernel, d, a) })
				if err != nil {
					return err
				}
				s.row("local_"+kernel, g.name(), g.name(), d.blocks, bytes, gbps(bytes, t), "GBps")
			}
		}
		return nil
	})
}

// hostCopies: pinned memory to a GPU and back.
func (s *session) hostCopies() error {
	g := s.gpus[0]
	return g.Do(func() error {
		size := int(min(int64(s.max), 64<<20))
		host, err := driver.AllocHost(size)
		if err != nil {
			return fmt.Errorf("pinned memory: %w", err)
		}
		defer host.Free()
		for bytes := 4; bytes <= size; bytes *= 8 {
			in, err := g.timed(10, func() error { return g.Stream.CopyFromHost(g.dst.At, host.Bytes[:bytes]) })
			if err != nil {
				return err
			}
			out, err := g.timed(10, func() error { return g.Stream.CopyToHost(host.Bytes[:bytes], g.dst.At) })
			if err != nil {
				return err
			}
			s.row("h2d_time", "host", g.name(), 0, int64(bytes), us(in), "us")
			s.row("d2h_time", g.name(), "host", 0, int64(bytes), us(out), "us")
		}
		return nil
	})
}
