package block

import (
	"slices"

	"railyard/model/schedule"
)

// message is a send with its receive. Sends and receives of a lane match in order.
type message struct {
	from, to int
	send     *schedule.Op
	recv     *schedule.Op
	number   int   // among those from → to in the lane, from 1
	pushed   bool  // written by the sender
	relaxed  bool  // pulled: only says that the sender has begun; its data were there before
	region   int64 // packets: bytes from the start of the receiver's packet buffer
	crosses  bool  // goes from node to node, through slots
	chunks   []Parcel
}

// step is an operation of a rank within a lane.
type step struct {
	op  *schedule.Op
	msg *message
	// fused: a receive whose reader takes the data straight from where they are.
	fused        bool
	final        bool // the result holds all ranks' contributions
	elsewhere    bool // a reduction of chunks that other ranks reduce, too
	readByOthers bool // a receive of what others read than this lane
}

// strand is the steps of all ranks in one lane: those whose memory they all reach, by their numbers among one another.
type strand struct {
	channel, lane int
	apart         bool  // it does not wait for the one before
	slice, slices int   // the first slice that the lane does, and how many
	ranks         []int // as the schedule numbers them
	steps         [][]step
	total         map[[2]int]int // messages from → to in a slice
}

// strands are the lanes of a channel: all phases together, one after the other, where
// there is one slice; else a lane a phase, so that slices overlap.
func (c *compiler) strands(channel int) []*strand {
	if ch := &c.s.Channels[channel]; ch.Slices == 1 {
		return []*strand{c.strand(channel, 0, len(ch.Phases), 0)}
	}
	return c.phases(channel)
}

// phases are a strand for each of a channel's phases.
func (c *compiler) phases(channel int) (out []*strand) {
	for p := range c.s.Channels[channel].Phases {
		st := c.strand(channel, p, p+1, p)
		st.apart = c.s.Channels[channel].Phases[p].Apart
		out = append(out, st)
	}
	return out
}

// strand is that of some phases of a channel, whose n-th it is.
func (c *compiler) strand(channel, from, to, n int) *strand {
	st := &strand{channel: channel, lane: n, slices: c.s.Channels[channel].Slices, steps: make([][]step, c.s.Spec.Ranks)}
	for r := range st.steps {
		st.ranks = append(st.ranks, r)
		for p := from; p < to; p++ {
			ops := c.x.AppendProgram(nil, channel, p, r)
			for i := range ops {
				st.steps[r] = append(st.steps[r], step{op: &ops[i]})
			}
		}
	}
	st.match()
	return st
}

func (st *strand) match() {
	open := map[[2]int][]*message{}
	for r, steps := range st.steps {
		for i := range steps {
			if op := steps[i].op; op.Kind == schedule.Send {
				key := [2]int{r, int(op.Peer)}
				m := &message{from: r, to: int(op.Peer), send: op}
				open[key] = append(open[key], m)
				steps[i].msg = m
			}
		}
	}
	next := map[[2]int]int{}
	for r, steps := range st.steps {
		for i := range steps {
			if op := steps[i].op; op.Kind == schedule.Recv || op.Kind == schedule.RecvReduce {
				key := [2]int{int(op.Peer), r}
				m := open[key][next[key]]
				next[key]++
				m.recv, steps[i].msg = op, m
			}
		}
	}
	st.number()
}

// number counts the messages between any two of the strand's ranks.
func (st *strand) number() {
	st.total = map[[2]int]int{}
	for _, steps := range st.steps {
		for _, s := range steps {
			if s.op.Kind == schedule.Send {
				key := [2]int{s.msg.from, s.msg.to}
				st.total[key]++
				s.msg.number = st.total[key]
			}
		}
	}
}

// markElsewhere finds the reductions of chunks that other ranks reduce as well: all take their sources in one order, so
// that they agree bit by bit.
func (st *strand) markElsewhere() {
	const several = -1
	by := map[place]int{} // rank, of one that all have
	eachReduced := func(visit func(r int, s *step, p place)) {
		for r, steps := range st.steps {
			for i := range steps {
				if s := &steps[i]; s.op.Kind == schedule.Reduce {
					s.op.Dst.Set.Each(func(chunk int32) { visit(r, s, place{0, s.op.Dst.Buf, chunk}) })
				}
			}
		}
	}
	eachReduced(func(r int, _ *step, p place) {
		if first, ok := by[p]; ok && first != r {
			r = several
		}
		by[p] = r
	})
	eachReduced(func(_ int, s *step, p place) { s.elsewhere = s.elsewhere || by[p] == several })
}

// fuse finds receives whose data go into one reduction that follows at once: it can
// read them where they are, and nothing is stored in between. Packets are combined with one
// local place.
func (st *strand) fuse(packets bool) {
	for r := range st.steps {
		steps := st.steps[r]
		for i := range steps {
			op := steps[i].op
			scratch := op.Kind == schedule.Recv && op.Dst.Buf == schedule.Scratch
			if scratch && !steps[i].readByOthers && !(packets && steps[i].msg.crosses) && readOnceNext(steps[i:]) {
				steps[i].fused = true
			}
		}
		for i := range steps {
			if list := fusedInto(steps[:i+1]); packets && len(list) != len(steps[i].op.Srcs)-1 {
				for _, k := range list {
					steps[k].fused = false
				}
			}
		}
	}
}

// fusedInto are the fused receives of which the last of some steps, a reduction, reads.
func fusedInto(steps []step) (list []int) {
	last := len(steps) - 1
	if steps[last].op.Kind != schedule.Reduce {
		return nil
	}
	for k := last - 1; k >= 0 && steps[k].op.Kind == schedule.Recv; k-- {
		if steps[k].fused && slices.Contains(steps[last].op.Srcs, steps[k].op.Dst) {
			list = append(list, k)
		}
	}
	return list
}

// readOnceNext: behind the receive come receives and then a reduction that reads just
// what it wrote, and nothing else reads it.
func readOnceNext(steps []step) bool {
	dst := steps[0].op.Dst
	found := false
	for i, s := range steps[1:] {
		for _, l := range reads(s.op) {
			if !overlap(l, dst) {
				continue
			}
			if found || l != dst || s.op.Kind != schedule.Reduce || !onlyReceives(steps[1:1+i]) {
				return false
			}
			found = true
		}
	}
	return found
}

func onlyReceives(steps []step) bool {
	for _, s := range steps {
		if s.op.Kind != schedule.Recv {
			return false
		}
	}
	return true
}

// reads are the local places that an operation reads.
func reads(op *schedule.Op) []schedule.Loc {
	switch op.Kind {
	case schedule.Recv:
		return nil
	case schedule.Reduce:
		return op.Srcs
	}
	return []schedule.Loc{op.Src}
}

// writes reports whether an operation writes its Dst.
func writes(op *schedule.Op) bool { return op.Kind != schedule.Send }

func overlap(a, b schedule.Loc) bool { return a.Buf == b.Buf && a.Set.Meets(b.Set) }

// relax finds the messages of input, which is never written: a flag without fences is
// enough. On one line they come before all others, so that those carry more than theirs.
func (c *compiler) relax(st *strand) {
	if c.o.InPlace || c.o.Mechanism.Flagged() {
		return
	}
	strict := map[[2]int]bool{}
	plain := func(m *message) bool {
		return !m.pushed && !m.crosses && m.send.Src.Buf == schedule.Input && m.send.Src.Set.Len() > 0
	}
	for pass := range 2 { // with slices, the first message follows the last of the slice before
		for _, steps := range st.steps {
			for _, s := range steps {
				if s.op.Kind != schedule.Send {
					continue
				}
				key := [2]int{s.msg.from, s.msg.to}
				s.msg.relaxed = plain(s.msg) && !strict[key]
				if !s.msg.relaxed && (pass > 0 || st.slices > 1) {
					strict[key] = true
				}
			}
		}
	}
}

// choosePushes marks the messages that the sender may write: plain receives into output
// that the receiver has not touched before; where reductions travel in words, their results.
func (c *compiler) choosePushes(all []*strand) {
	for k, st := range all {
		for r, steps := range st.steps {
			for i := range steps {
				if m := steps[i].msg; steps[i].op.Kind == schedule.Recv && !steps[i].fused && !m.crosses &&
					c.free(all[:k+1], r, i, steps[i]) && !forwarded(steps[i:]) {
					m.pushed = !c.o.Mechanism.Flagged() || reducedFrom(st.steps[m.from], m)
				}
			}
		}
	}
}

// reducedFrom reports whether a message of some steps is the result of a reduction into which
// words of its receiver went: whoever writes it there has had them.
func reducedFrom(steps []step, m *message) bool {
	heard := false
	for _, s := range steps {
		switch {
		case s.fused:
			heard = heard || s.msg.from == m.to
		case s.op.Kind == schedule.Reduce:
			if s.op.Dst == m.send.Src {
				return heard
			}
			heard = false
		}
	}
	return false
}

// forwarded reports whether a rank sends on what it receives of a peer's input: it then
// reads that and writes it to its own output and the next ranks' in one pass.
func forwarded(steps []step) bool {
	recv := steps[0]
	return recv.msg.send.Src.Buf == schedule.Input && slices.ContainsFunc(steps[1:], func(s step) bool {
		return s.op.Kind == schedule.Send && s.op.Src == recv.op.Dst
	})
}

// free reports whether rank r has not used the destination before step i of the last
// strand.
func (c *compiler) free(strands []*strand, r, i int, s step) bool {
	if s.op.Dst.Buf != schedule.Output {
		return false
	}
	for k, st := range strands {
		steps := st.steps[r]
		if k == len(strands)-1 {
			steps = steps[:i]
		}
		for _, before := range steps {
			if writes(before.op) && overlap(before.op.Dst, s.op.Dst) {
				return false
			}
			for _, l := range reads(before.op) {
				if !c.o.InPlace {
					if overlap(l, s.op.Dst) {
						return false
					}
					continue
				}
				// In place the input is the output. Who writes here must be the only one that
				// read it, and does both element by element (see multi.cuh).
				if l.Buf == schedule.Input {
					l.Buf = schedule.Output
				}
				if overlap(l, s.op.Dst) && !(before.op.Kind == schedule.Send && before.msg.to == s.msg.from && l == s.op.Dst) {
					return false
				}
			}
		}
	}
	return true
}
