package block

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// compiler collects the lanes.
type compiler struct {
	s    *schedule.Schedule
	o    Options
	x    *schedule.Expander
	at   *pieces
	p    *Program
	room []int64 // by rank: bytes used of a half of the packet buffer
}

func newCompiler(s *schedule.Schedule, o Options) (*compiler, error) {
	s = coarsen(s)
	c := &compiler{s: s, o: o, x: schedule.NewExpander(s), at: newPieces(s, o), room: make([]int64, s.Spec.Ranks)}
	c.p = &Program{Ranks: s.Spec.Ranks, Instances: o.Instances, Lanes: make([][]Lane, s.Spec.Ranks), Mechanism: o.Mechanism}
	return c, nil
}

// channel compiles one channel for all ranks.
func (c *compiler) channel(ch int) error {
	all := c.strands(ch)
	if c.o.Op == collective.Avg && c.s.Spec.Kind.Reduces() {
		if err := c.markFinal(all); err != nil {
			return err
		}
	}
	for _, st := range all {
		st.fuse(c.o.Mechanism.Flagged())
	}
	if mechanisms[c.o.Mechanism].pushes {
		c.choosePushes(all)
	}
	if c.o.Mechanism.Flagged() {
		c.placePackets(all)
	}
	for k, st := range all {
		c.relax(st)
		for r := range st.steps {
			e := &emission{c: c, st: st, rank: r}
			if err := e.run(); err != nil {
				return fmt.Errorf("rank %d: %w", r, err)
			}
			l := Lane{Before: e.before, Body: e.ops, After: e.after, Slices: c.s.Channels[ch].Slices,
				Unit: c.at.unit(ch) * int64(c.o.Size), Stride: c.at.stride(ch) * int64(c.o.Size)}
			if len(all) > 1 {
				c.linkPhases(&l, st, r, k > 0, k < len(all)-1)
			}
			c.p.Lanes[r] = append(c.p.Lanes[r], l)
		}
	}
	for _, n := range c.room {
		c.p.PacketHalf = max(c.p.PacketHalf, n)
	}
	return nil
}

// scratchUsed is the end of the scratch that any operation names.
func (p *Program) scratchUsed() (end int64) {
	for _, lanes := range p.Lanes {
		for i := range lanes {
			l := &lanes[i]
			for _, op := range l.Body {
				for _, r := range slices.Concat(op.Sources, op.Destinations) {
					if r.Buffer == uint8(schedule.Scratch) {
						end = max(end, r.Offset+int64(l.Slices)*l.Stride)
					}
				}
			}
		}
	}
	return end
}

// linkPhases lets slice p of a phase begin when slice p of the phase before has ended on
// the rank.
func (c *compiler) linkPhases(l *Lane, st *strand, rank int, first, last bool) {
	self := uint32(1) << rank
	if first {
		l.Body = append([]Op{{Kind: Wait, Line: Ready, Peers: self, Lane: st.lane, Value: 1, PerSlice: 1}}, l.Body...)
	}
	if last {
		l.Body = append(l.Body, Op{Kind: Signal, Line: Ready, Peers: self, Lane: st.lane + 1, Value: 1, PerSlice: 1})
	}
}

// placePackets gives every message its own room in the receiver's packet buffer, for all
// slices: nothing is used twice within a launch, so no credit is needed.
func (c *compiler) placePackets(all []*strand) {
	for _, st := range all {
		n := c.at.stride(st.channel) * int64(c.s.Channels[st.channel].Slices) * int64(c.o.Size)
		for r := range st.steps {
			for i := range st.steps[r] {
				if s := &st.steps[r][i]; receives(s.op) && !s.msg.pushed {
					s.msg.region = c.room[r]
					c.room[r] += c.o.Mechanism.packetRoom(n) * int64(s.msg.send.Src.Set.Len())
				}
			}
		}
	}
}

// packetRoom is the bytes that an operation's data take in a packet buffer.
func (op *Op) packetRoom(data int64) int64 {
	if m, ok := op.Kind.Mechanism(); ok {
		return m.packetRoom(data)
	}
	return 0
}

// refs are the places of a location, chunk by chunk, with the bytes to the end of the
// block; −1 without an end.
func (c *compiler) refs(rank, channel int, l schedule.Loc) (out []Ref, limits []int64) {
	l.Set.Each(func(chunk int32) {
		off, limit := c.at.place(rank, l.Buf, channel, chunk)
		if limit >= 0 {
			limit *= int64(c.o.Size)
		}
		out = append(out, Ref{Rank: rank, Buffer: uint8(l.Buf), Offset: off * int64(c.o.Size)})
		limits = append(limits, limit)
	})
	return out, limits
}
