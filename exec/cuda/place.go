//go:build cgo

package cuda

import (
	"context"
	"fmt"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
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
	empty                  byte // what packet buffers hold before the first launch
	ctx                    context.Context
}

// needs are what a program takes of the pool, in bytes.
type needs struct {
	scratch, half, control, plan int64
	empty                        byte
}

// newMemory lays out and reserves. Pool: control, packets, plans, scratch.
func newMemory(ctx context.Context, n *Node, s *schedule.Schedule, cfg Config, want needs) (*memory, error) {
	m := &memory{n: n, cfg: cfg, s: s, layout: schedule.NewLayout(s, cfg.Count, 1), half: want.half, empty: want.empty, ctx: ctx}
	up := func(v int64) int64 { return (v + 511) / 512 * 512 }
	m.packets = up(want.control)
	m.plan = m.packets + up(2*want.half)
	m.scratch = m.plan + up(want.plan)
	var in, out int64
	for r := range s.Spec.Ranks {
		in = max(in, m.layout.Elements(r, schedule.Input)*int64(cfg.DType.Size()))
		out = max(out, m.layout.Elements(r, schedule.Output)*int64(cfg.DType.Size()))
	}
	around := 2*guardBytes + cfg.Offset + 512
	if cfg.InPlace {
		in, out = 0, max(in, out)
	}
	if err := n.reserve(ctx, in+around, out+around, m.scratch+up(want.scratch)+512); err != nil {
		return nil, fmt.Errorf("memory for %d elements: %w", cfg.Count, err)
	}
	return m, n.agree(ctx, m.clear()) // no flag is raised before all are cleared
}

// loaded does what loading takes on each GPU of all processes, which go on together or not at all.
func (m *memory) loaded(work func(g *gpu) error) error { return m.n.agree(m.ctx, m.n.each(work)) }

// clear zeroes flags, empties packet buffers and sets the count of launches; no kernel may run.
func (m *memory) clear() error {
	var words [block.EpochWords * block.FlagLine]byte // the first two launches read the last two
	words[2*block.FlagLine], words[3*block.FlagLine] = 1, 2
	return m.n.each(func(g *gpu) error {
		if err := g.Stream.Fill(g.pool.At, 0, m.packets); err != nil {
			return err
		}
		if n := m.plan - m.packets; n > 0 {
			if err := g.Stream.Fill(g.pool.At+driver.Ptr(m.packets), m.empty, n); err != nil {
				return err
			}
		}
		if err := g.Stream.Synchronize(); err != nil {
			return err
		}
		if err := driver.Upload(g.pool.At, words[:]); err != nil {
			return err
		}
		return driver.Synchronize()
	})
}

// at is the buffer of a rank of the node, by its place there.
func (m *memory) at(place, buffer int) driver.Ptr {
	g := m.n.reach[place]
	switch buffer {
	case int(schedule.Input), int(schedule.Output):
		at := g.output.At
		if b := schedule.Buffer(buffer); m.cfg.InPlace {
			at += driver.Ptr(m.layout.Shift(m.n.number(place), b) * int64(m.cfg.DType.Size()))
		} else if b == schedule.Input {
			at = g.input.At
		}
		return at + guardBytes + driver.Ptr(m.cfg.Offset)
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

// address is ref's, as the kernels read it.
func (m *memory) address(r block.Ref) uint64 { return uint64(m.ref(r)) }

// parameter is that of a rank of the node, of so many lanes with so many blocks each.
func (m *memory) parameter(place, lanes, instances int) *parameter {
	host := uint64(m.n.set.Host.At)
	return &parameter{Control: uint64(m.at(place, block.ControlBuffer)), Abort: host, Report: host + reportAt,
		Deadline: uint64(m.n.Deadline.Nanoseconds()), PacketHalf: uint64(m.half),
		Rank: uint32(place), Ranks: uint32(m.s.Spec.Ranks), Lanes: uint32(lanes), Instances: uint32(instances),
		JitterSeed: uint32(m.cfg.Seed), JitterNS: uint32(m.cfg.Jitter.Nanoseconds()), Advance: 1}
}

// table is where all ranks' buffers are, for plans of constants.
func (m *memory) table(p *parameter) {
	for r := range m.n.reach {
		for b := range block.ControlBuffer + 1 {
			p.Base[r*buffers+b] = uint64(m.at(r, b))
		}
	}
}
