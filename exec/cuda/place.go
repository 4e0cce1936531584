//go:build cgo

package cuda

import (
	"fmt"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// guardBytes are kept free, and poisoned, on both sides of input and output.
const guardBytes = 4096

// memory is where a run's buffers lie: the same on every rank but for the base.
type memory struct {
	n                      *Node
	cfg                    Config
	s                      *schedule.Schedule
	layout                 *schedule.Layout
	scratch, packets, plan int64 // offsets in the pool
	half                   int64
}

// newMemory lays out and reserves. Pool: control, packets, plans, scratch.
func newMemory(n *Node, s *schedule.Schedule, cfg Config, scratch, half, control, plans int64) (*memory, error) {
	m := &memory{n: n, cfg: cfg, s: s, layout: schedule.NewLayout(s, cfg.Count, 1), half: half}
	up := func(v int64) int64 { return (v + 511) / 512 * 512 }
	m.packets = up(control)
	m.plan = m.packets + up(2*half)
	m.scratch = m.plan + up(plans)
	var in, out int64
	for r := range s.Spec.Ranks {
		in = max(in, m.layout.Elements(r, schedule.Input)*int64(cfg.DType.Size()))
		out = max(out, m.layout.Elements(r, schedule.Output)*int64(cfg.DType.Size()))
	}
	around := 2*guardBytes + cfg.Offset + 512
	if cfg.InPlace {
		in, out = 0, max(in, out)
	}
	if err := n.reserve(in+around, out+around, m.scratch+up(scratch)+512); err != nil {
		return nil, fmt.Errorf("memory for %d elements: %w", cfg.Count, err)
	}
	return m, m.clear()
}

// clear zeroes flags and packets and sets the count of launches; no kernel may run.
func (m *memory) clear() error {
	first := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	return m.n.each(func(g *gpu) error {
		if err := g.stream.Fill(g.pool.At, 0, m.plan); err != nil {
			return err
		}
		if err := g.stream.Synchronize(); err != nil {
			return err
		}
		if err := driver.Upload(g.pool.At, first); err != nil {
			return err
		}
		return driver.Synchronize()
	})
}

// at is a rank's buffer.
func (m *memory) at(rank, buffer int) driver.Ptr {
	g := m.n.gpus[rank]
	_, block0 := m.layout.Block(0, schedule.Output, 0)
	shift := driver.Ptr(int64(rank) * block0 * int64(m.cfg.DType.Size()))
	switch buffer {
	case int(schedule.Input):
		if m.cfg.InPlace {
			at := g.output.At + guardBytes + driver.Ptr(m.cfg.Offset)
			if m.s.Spec.Kind == collective.AllGather {
				at += shift
			}
			return at
		}
		return g.input.At + guardBytes + driver.Ptr(m.cfg.Offset)
	case int(schedule.Output):
		at := g.output.At + guardBytes + driver.Ptr(m.cfg.Offset)
		if m.cfg.InPlace && m.s.Spec.Kind == collective.ReduceScatter {
			at += shift
		}
		return at
	case int(schedule.Scratch):
		return g.pool.At + driver.Ptr(m.scratch)
	case block.PacketBuffer:
		return g.pool.At + driver.Ptr(m.packets)
	}
	return g.pool.At
}

// ref is the address of a place.
func (m *memory) ref(r block.Ref) driver.Ptr {
	return m.at(r.Rank, int(r.Buffer)) + driver.Ptr(r.Offset)
}

// parameter is a rank's, with all addresses.
func (m *memory) parameter(rank int) parameter {
	p := newParameter(m.n, rank, m.n.Deadline)
	for r := range m.n.gpus {
		for b := range block.ControlBuffer + 1 {
			p.base(r, b, m.at(r, b))
		}
	}
	p.long(halfAt, uint64(m.half))
	p.word(jitterAt, uint32(m.cfg.Seed))
	p.word(jitterAt+4, uint32(m.cfg.Jitter.Nanoseconds()))
	return p
}
