package mscclpp

import (
	"slices"

	"railyard/interop/foreign"
	"railyard/model/program"
	"railyard/model/schedule"
)

// gpuBuilder makes a rank's thread blocks.
type gpuBuilder struct {
	*builder
	rank      int
	out       GPU
	channelOf map[link]int
	remote    map[remoteKey]int // the rank's number of a remote buffer

	// the strand that is being made
	tb       *Block
	credited map[link]bool
	touched  []span // what has been read and written since the last nop
	fresh    bool   // a wait has ended that the other threads have not heard of
}

// span is a run of chunks that an operation uses.
type span struct {
	at    program.Place
	n     int
	write bool
}

// strand makes the operations of one of the schedule's channels.
func (g *gpuBuilder) strand(c int) {
	var steps []*program.Step
	for i := range g.p.Ranks[g.rank] {
		if s := &g.p.Ranks[g.rank][i]; s.Channel == c {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return
	}
	g.tb, g.credited, g.touched, g.fresh = g.newBlock(), map[link]bool{}, nil, false
	for _, kind := range []string{memory, port} {
		var in []link
		for _, l := range g.links {
			if l.channel == c && l.to == g.rank && g.kind(l.from, l.to) == kind {
				in = append(in, l)
			}
		}
		g.sync("signal", kind, in) // senders may begin
	}
	for len(steps) > 0 {
		n := g.group(steps)
		switch steps[0].Kind {
		case schedule.Send:
			g.sends(steps[:n])
		case schedule.Recv, schedule.RecvReduce:
			g.receives(steps[:n])
		default:
			g.local(steps[0])
		}
		steps = steps[n:]
	}
	g.out.Blocks[g.tb.ID] = *g.tb
}

func (g *gpuBuilder) newBlock() *Block {
	tb := &Block{ID: len(g.out.Blocks), Ops: []Op{}, Channels: []ChannelIDs{}, Remote: []BufferIDs{}}
	g.out.Blocks = append(g.out.Blocks, Block{})
	return tb
}

func (g *gpuBuilder) link(s *program.Step) link {
	if s.Kind == schedule.Send {
		return link{s.Channel, g.rank, s.Peer}
	}
	return link{s.Channel, s.Peer, g.rank}
}

// group is how many steps can be done together: messages on different connections of
// one type, and sends from one buffer.
func (g *gpuBuilder) group(steps []*program.Step) int {
	first := steps[0]
	if first.Peer < 0 {
		return 1
	}
	seen := map[link]bool{}
	for n, s := range steps {
		same := s.Peer >= 0 && (s.Kind == schedule.Send) == (first.Kind == schedule.Send) && !seen[g.link(s)] &&
			g.kind(g.rank, s.Peer) == g.kind(g.rank, first.Peer) && (s.Kind != schedule.Send || s.Src.Buf == first.Src.Buf)
		if !same || n == maxPerOp {
			return n
		}
		seen[g.link(s)] = true
	}
	return len(steps)
}

// sends puts data and signals them.
func (g *gpuBuilder) sends(steps []*program.Step) {
	kind := g.kind(g.rank, steps[0].Peer)
	var links, waits []link
	op := Op{Name: "put", Type: kind}
	last := false
	var uses []span
	for _, s := range steps {
		l := g.link(s)
		links = append(links, l)
		if !g.credited[l] {
			waits = append(waits, l)
			g.credited[l] = true
		}
		last = last || s.Seq == g.last[l]-1
		uses = append(uses, span{s.Src, s.Count, false})
	}
	g.sync("wait", kind, waits)
	switch {
	case kind == port && last:
		op.Name = "pwsf" // the port has read the source when this ends
	case kind == port:
		op.Name = "pws"
	}
	g.prepare(uses, links, g.remotes(steps), 4)
	op.Channels = g.channels(kind, links)
	for _, s := range steps {
		m := g.landing[msgKey{s.Channel, g.rank, s.Peer, s.Seq}]
		op.Src = append(op.Src, local(s.Src, s.Count))
		id := g.remoteRef(remoteKey{s.Peer, m.at.Buf, kind})
		op.Dst = append(op.Dst, Buffer{Remote: &id, Index: m.at.At, Size: s.Count})
	}
	g.tb.Ops = append(g.tb.Ops, op)
	g.touched = append(g.touched, uses...)
	if kind == memory {
		g.sync("signal", kind, links)
	}
}

func (g *gpuBuilder) remotes(steps []*program.Step) []remoteKey {
	var out []remoteKey
	for _, s := range steps {
		out = append(out, remoteKey{s.Peer, g.landing[msgKey{s.Channel, g.rank, s.Peer, s.Seq}].at.Buf, g.kind(g.rank, s.Peer)})
	}
	return out
}

// receives waits for data and takes those from where they landed that have to be
// combined or moved.
func (g *gpuBuilder) receives(steps []*program.Step) {
	var links []link
	for _, s := range steps {
		links = append(links, g.link(s))
	}
	g.sync("wait", g.kind(g.rank, steps[0].Peer), links)
	for _, s := range steps {
		m := g.landing[msgKey{s.Channel, s.Peer, g.rank, s.Seq}]
		switch {
		case m.direct:
		case s.Kind == schedule.Recv:
			g.data("copy", []program.Place{m.at}, s.Dst, s.Count)
		default:
			g.data("re", []program.Place{s.Src, m.at}, s.Dst, s.Count)
		}
	}
}

// local is a step without a peer; a sum of many is made in several operations.
func (g *gpuBuilder) local(s *program.Step) {
	if s.Kind == schedule.Copy {
		g.data("copy", []program.Place{s.Src}, s.Dst, s.Count)
		return
	}
	srcs := slices.Clone(s.Srcs)
	own := slices.IndexFunc(srcs, func(p program.Place) bool { return g.overlap(span{p, 1, false}, span{s.Dst, 1, true}) })
	if own > 0 && len(srcs) > maxOperands {
		srcs[0], srcs[own] = srcs[own], srcs[0]
	}
	for len(srcs) > maxOperands {
		g.data("re", srcs[:maxOperands], s.Dst, s.Count)
		srcs = append([]program.Place{s.Dst}, srcs[maxOperands:]...)
	}
	g.data("re", srcs, s.Dst, s.Count)
}

// data is a local operation.
func (g *gpuBuilder) data(name string, srcs []program.Place, dst program.Place, n int) {
	op := Op{Name: name, Dst: []Buffer{local(dst, n)}}
	if name == "re" {
		op.ReduceOp = "sum"
	}
	uses := []span{{dst, n, true}}
	for _, s := range srcs {
		op.Src = append(op.Src, local(s, n))
		uses = append(uses, span{s, n, false})
	}
	g.prepare(uses, nil, nil, 2)
	g.tb.Ops = append(g.tb.Ops, op)
	g.touched = append(g.touched, uses...)
}

func local(p program.Place, n int) Buffer {
	return Buffer{Type: foreign.BufferName(p.Buf), Index: p.At, Size: n}
}

// sync signals or waits on connections, after a nop where data must be complete.
func (g *gpuBuilder) sync(name, kind string, links []link) {
	for part := range slices.Chunk(links, maxPerOp) {
		g.prepare(nil, part, nil, 3)
		if name == "signal" && (len(g.touched) > 0 || g.fresh) {
			g.nop()
		}
		g.tb.Ops = append(g.tb.Ops, Op{Name: name, Type: kind, Channels: g.channels(kind, part)})
		g.fresh = g.fresh || name == "wait"
	}
}
