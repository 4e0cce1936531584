package block

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// compiler makes lanes.
type compiler struct {
	s           *schedule.Schedule
	o           Options
	x           *schedule.Expander
	at          *pieces
	packetBytes []int64 // by rank: bytes used of a half of the packet buffer
	slotBytes   []int64 // by rank: bytes used of a launch's slots
	node        []int   // of each rank, where proxies carry messages between nodes
}

// newCompiler is that of a schedule that has been made ready for the options.
func newCompiler(s *schedule.Schedule, o Options) *compiler {
	s, x := s.Coarse() // one operation instead of many of consecutive chunks
	return &compiler{s: s, o: o, x: x, at: newPieces(s, x, o), packetBytes: make([]int64, s.Spec.Ranks),
		slotBytes: make([]int64, s.Spec.Ranks)}
}

// program is an empty one for so many ranks.
func (c *compiler) program(ranks int) *Program {
	return &Program{Ranks: ranks, Instances: c.o.Instances, Lanes: make([][]Lane, ranks), Mechanism: c.o.Mechanism, Node: c.node,
		Bells: make([][]Bell, ranks)}
}

// marked are strands whose operations know what the whole schedule makes of them.
func (c *compiler) marked(all []*strand) ([]*strand, error) {
	for _, st := range all {
		st.markElsewhere()
	}
	if c.o.Op == collective.Avg && c.s.Spec.Kind.Reduces() {
		return all, c.markFinal(all)
	}
	return all, nil
}

// lanes appends strands of a channel, one behind the other, to a program, whose first lane has a number.
func (c *compiler) lanes(p *Program, first int, all []*strand) error {
	first += len(p.Lanes[0])
	for k, st := range all {
		st.lane = first + k
		c.markCrossing(st)
		st.fuse(c.o.Mechanism.Flagged())
	}
	if mechanisms[c.o.Mechanism].pushes {
		c.choosePushes(all)
	}
	if c.o.Mechanism.Flagged() {
		c.placePackets(all)
	}
	for _, st := range all {
		c.placeSlots(st)
		c.bells(p, st)
	}
	for k, st := range all {
		c.relax(st)
		for r := range st.steps {
			e := &emission{c: c, st: st, rank: r}
			if err := e.run(); err != nil {
				return fmt.Errorf("channel %d: rank %d: %w", st.channel, st.ranks[r], err)
			}
			l := Lane{Before: e.before, Body: e.ops, After: e.after, Slices: st.slices,
				Unit: c.at.unit(st.channel) * int64(c.o.Size), Stride: c.at.stride(st.channel) * int64(c.o.Size)}
			if len(all) > 1 {
				c.linkPhases(&l, st, r, k > 0 && !st.apart, k < len(all)-1 && !all[k+1].apart)
			}
			p.Lanes[r] = append(p.Lanes[r], l)
		}
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
		n := c.pieceEnd(st)
		for r := range st.steps {
			packetBytes := &c.packetBytes[st.ranks[r]]
			for i := range st.steps[r] {
				if s := &st.steps[r][i]; receives(s.op) && !s.msg.pushed && !s.msg.crosses {
					s.msg.region = *packetBytes
					*packetBytes += c.o.Mechanism.packetBytes(n) * int64(s.msg.send.Src.Set.Len())
				}
			}
		}
	}
}

// packetBytes is the bytes that an operation's data take in a packet buffer.
func (op *Op) packetBytes(data int64) int64 {
	if m, ok := op.Kind.Mechanism(); ok {
		return m.packetBytes(data)
	}
	return 0
}

// refs are the places of a location in the memory of a strand's rank, chunk by chunk, with the bytes to the end of the
// block; −1 without an end.
func (c *compiler) refs(st *strand, rank int, l schedule.Loc) (out []Ref, limits []int64) {
	skip := int64(st.slice) * c.at.stride(st.channel)
	l.Set.Each(func(chunk int32) {
		off, limit := c.at.place(st.ranks[rank], l.Buf, st.channel, chunk)
		if limit >= 0 {
			limit = max(limit-skip, 0) * int64(c.o.Size)
		}
		out = append(out, Ref{Rank: rank, Buffer: uint8(l.Buf), Offset: (off + skip) * int64(c.o.Size)})
		limits = append(limits, limit)
	})
	return out, limits
}
