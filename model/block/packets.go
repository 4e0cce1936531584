package block

import (
	"slices"

	"railyard/model/schedule"
)

// put sends a message in packets: with the operation that made the data, or that sends
// the same data elsewhere, where there is one.
func (e *emission) put(m *message) error {
	src, limits := e.c.refs(e.st, e.rank, m.send.Src)
	dst := e.packets(m)
	for i := range src {
		limit := limits[i]
		if limit < 0 {
			limit = e.c.pieceEnd(e.st)
		}
		if at := e.sender(src[i]); at >= 0 && e.ops[at].Limit == limit {
			e.ops[at].PacketTargets = append(e.ops[at].PacketTargets, dst[i])
			continue
		}
		e.add(Op{Kind: e.c.o.Mechanism.form(LLPut), Sources: []Ref{src[i]}, PacketTargets: []Ref{dst[i]}, Limit: limit})
	}
	return nil
}

// pieceEnd is the limit of operations between places without an end: all of a strand's slices.
func (c *compiler) pieceEnd(st *strand) int64 {
	return c.at.stride(st.channel) * int64(st.slices) * int64(c.o.Size)
}

// sender is the operation of this segment that made a place or puts the same; −1 without.
func (e *emission) sender(r Ref) int {
	for i := len(e.ops) - 1; i >= e.segment; i-- {
		op := &e.ops[i]
		made := op.Kind == e.c.o.Mechanism.form(LLReduce) && slices.Contains(op.Destinations, r) ||
			op.Kind == e.c.o.Mechanism.form(LLPut) && op.Sources[0] == r
		if made && op.Flags&Pairs == 0 && len(op.PacketTargets) < MaxRanks-1 {
			return i
		}
	}
	return -1
}

// packets are a message's places in the receiver's packet buffer, chunk by chunk.
func (e *emission) packets(m *message) (out []Ref) {
	n := e.c.o.Mechanism.packetBytes(e.c.pieceEnd(e.st))
	for i := range m.send.Src.Set.Len() {
		out = append(out, Ref{Rank: m.to, Buffer: PacketBuffer, Offset: m.region + int64(i)*n})
	}
	return out
}

// halve lets some of a block's warps put lines or words while the others take those that arrive,
// where no thread waits for the others in between.
func (e *emission) halve() {
	for i := range e.ops {
		put := i
		for i < len(e.ops) && (e.ops[i].Kind == LinePut || e.ops[i].Kind == WordPut) {
			i++
		}
		if i == put || i == len(e.ops) || !e.takesMuch(&e.ops[i]) {
			continue
		}
		for i < len(e.ops) && e.takesMuch(&e.ops[i]) {
			i++
		}
		for k := put; k < i; k++ {
			e.ops[k].Flags |= Halves
		}
	}
}

// PlentyOfWords is how many rounds of all threads, over all peers, words take where some of the
// threads put while the others take (exec/cuda/kernel/src/words.cuh); with fewer, all do both.
const PlentyOfWords = 5

// takesMuch: of words only what goes nowhere; what is passed on keeps links as busy as what is put.
func (e *emission) takesMuch(op *Op) bool {
	if op.Flags&Barrier != 0 || op.Kind != WordReduce {
		return op.Flags&Barrier == 0 && op.Kind == LineReduce
	}
	away := func(r Ref) bool { return r.Rank != e.rank }
	return len(op.PacketTargets) == 0 && !slices.ContainsFunc(op.Destinations, away)
}

// unpack receives a message's packets, combines them with the rank's own data where it
// is a reduction, and stores.
func (e *emission) unpack(s *step) error {
	if s.fused {
		e.lazy = append(e.lazy, lazySource{s.op.Dst, s.msg})
		return nil
	}
	dst, limits := e.c.refs(e.st, e.rank, s.op.Dst)
	var own []Ref
	if s.op.Kind == schedule.RecvReduce {
		own, _ = e.c.refs(e.st, e.rank, s.op.Src)
	}
	_, ends := e.c.refs(e.st, s.msg.from, s.msg.send.Src)
	for i, p := range e.packets(s.msg) {
		op := Op{Kind: e.c.o.Mechanism.form(LLReduce), PacketSources: []Ref{p}, Destinations: []Ref{dst[i]},
			Limit: shorter(limits[i], ends[i])}
		if own != nil {
			op.Sources = []Ref{own[i]}
			if e.rank > s.msg.from {
				op.Own = 1
			}
		}
		e.result(op, s.final)
	}
	return nil
}

// reducePackets combines one local place with the packets of fused receives, in the
// order of the schedule; other reductions read memory.
func (e *emission) reducePackets(s *step) error {
	own, local := -1, 0
	for i, l := range s.op.Srcs {
		if e.pending(l) == nil {
			own, local = i, local+1
		}
	}
	if local != 1 {
		return e.multi(s.op.Srcs, nil, s.op.Dst, s.final)
	}
	mine, _ := e.c.refs(e.st, e.rank, s.op.Srcs[own])
	dst, limits := e.c.refs(e.st, e.rank, s.op.Dst)
	for i := range dst {
		op := Op{Kind: e.c.o.Mechanism.form(LLReduce), Sources: []Ref{mine[i]}, Destinations: []Ref{dst[i]}, Own: own, Limit: limits[i]}
		for _, l := range s.op.Srcs {
			if m := e.pending(l); m != nil {
				op.PacketSources = append(op.PacketSources, e.packets(m)[i])
			}
		}
		e.result(op, s.final)
	}
	e.lazy = nil
	return nil
}

// pending is the fused receive that holds a place's data.
func (e *emission) pending(l schedule.Loc) *message {
	for _, z := range e.lazy {
		if z.dst == l {
			return z.msg
		}
	}
	return nil
}
