package block

import (
	"fmt"
	"math/bits"
	"slices"

	"railyard/model/schedule"
)

// A message between nodes that a proxy carries goes through slots: places in host memory that kernels, proxies and the network
// reach. The sender's kernel writes its data to a slot of its own and raises a bell; its proxy puts them into a slot of the receiver
// and raises a flag there, for which the receiver's kernel waits as for any; then that reads the slot. Every message of
// a launch has slots of its own, and so have the launches that follow, by turns: slots are written again when who read them has said
// so (Taken), where the collective does not say so by itself. Until it has, that many launches may be on their way.

// leastTurns are those of large slots, which keep a network busy; of small ones there are more, so that messages one way neither wait
// for an answer nor have one each. Chosen: mostTurns, and turnedBytes, the host memory that is spent on them by each rank.
const (
	mostTurns   = 16
	leastTurns  = 2
	turnedBytes = 1 << 20
)

// takeTurns says how many launches have slots, a power of two, and lets waits for them look as far back.
func (p *Program) takeTurns() {
	p.SlotBytes = (p.SlotBytes + FlagLine - 1) / FlagLine * FlagLine
	p.SlotTurns = leastTurns
	for p.SlotTurns < mostTurns && 2*int64(p.SlotTurns)*p.SlotBytes <= turnedBytes {
		p.SlotTurns *= 2
	}
	if p.Node == nil {
		return
	}
	for r, lanes := range p.Lanes {
		for i := range lanes {
			for k := range lanes[i].Before {
				op := &lanes[i].Before[k]
				if op.Flags&Earlier != 0 && p.Node[bits.TrailingZeros32(op.Peers)] != p.Node[r] {
					op.PerSlice = p.SlotTurns
				}
			}
		}
	}
}

// Bell is a line between a rank's blocks of a lane and a rank of another node: what the kernel raises, the proxy raises there.
type Bell struct {
	To, Lane     int
	Line         uint8
	Slices       int
	Unit, Stride int64      // bytes of an instance's piece, and from slice to slice
	Messages     [][]Parcel // of a slice, in order, from step 1 on; of one message its chunks
}

// Parcel is a chunk of a message in slice 0, of instance 0.
type Parcel struct {
	From, At int64 // bytes from the start of the sender's and of the receiver's slots of a launch
	Limit    int64 // from there to the end
}

// Share is what an instance puts of a parcel in a slice: where it begins, and its bytes.
func (b *Bell) Share(p Parcel, slice, instance int) (skip, n int64) {
	skip = int64(slice)*b.Stride + int64(instance)*b.Unit
	return skip, min(max(p.Limit-skip, 0), b.Unit)
}

// Next is what a bell is raised to after a value: launch number << 20 | step, from launch 1 on.
func (b *Bell) Next(v int) int {
	if launch, step := v>>stepBits, v&(1<<stepBits-1); launch == 0 || step == len(b.Messages)*b.Slices {
		return (launch+1)<<stepBits | 1
	}
	return v + 1
}

// Stretch is bytes that lie one behind the other at both ends: from the start of the sender's and of the receiver's slots of a launch.
type Stretch struct{ From, At, Bytes int64 }

// AppendStretches appends what an instance puts of a message in a slice: chunks of which one follows the other are put together.
func (b *Bell) AppendStretches(out []Stretch, message []Parcel, slice, instance int) []Stretch {
	for _, p := range message {
		skip, n := b.Share(p, slice, instance)
		if n == 0 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].From+out[k].Bytes == p.From+skip && out[k].At+out[k].Bytes == p.At+skip {
			out[k].Bytes += n
		} else {
			out = append(out, Stretch{p.From + skip, p.At + skip, n})
		}
	}
	return out
}

// Launches is by how much a bell is raised in so many.
func (b *Bell) Launches(n int) int { return n << stepBits }

// Step is which message of which slice of which launch a value of a bell says to be there.
func (b *Bell) Step(v int) (launch, slice int, message []Parcel) {
	step := v&(1<<stepBits-1) - 1
	return v >> stepBits, step / len(b.Messages), b.Messages[step%len(b.Messages)]
}

// FlagPlace is where in a line of bells the flag lies that a peer raises.
const FlagPlace = FlagLine / 2

// BellLine is the number of the line that has the bell of a block of a lane for a rank, and the flag that the same block there raises.
func (p *Program) BellLine(lane, instance, peer int, line uint8) int {
	return flagAt(lane*p.Instances+instance, peer, line)
}

// BellLines is how many a rank has.
func (p *Program) BellLines() int { return flagAt(p.Blocks(), 0, 0) }

// bell is what a signal to a rank of another node raises, or a wait for one waits for.
func (op *Op) bell(rank, peer, instances int) Ref {
	r := Ref{Rank: rank, Buffer: BellBuffer, Offset: FlagLine * int64(flagAt(op.Lane*instances, peer, op.Line))}
	if op.Kind == Wait {
		r.Offset += FlagPlace
	}
	return r
}

// CompileProxied turns a valid schedule into one program for nodes of these ranks, between which proxies carry messages.
func CompileProxied(s *schedule.Schedule, o Options, nodes [][]int) (*Program, error) {
	if err := partition(nodes, s.Spec.Ranks); err != nil {
		return nil, err
	}
	if s.Spec.Ranks > maxPeers {
		return nil, fmt.Errorf("%d ranks: kernels take messages of at most %d by proxy", s.Spec.Ranks, maxPeers)
	}
	most, node := 0, make([]int, s.Spec.Ranks)
	for n, ranks := range nodes {
		most = max(most, len(ranks))
		for _, r := range ranks {
			node[r] = n
		}
	}
	s, err := ready(s, o, most)
	if err != nil {
		return nil, err
	}
	c := newCompiler(s, o)
	c.node = node
	return c.compile()
}

// markCrossing finds the messages that proxies carry.
func (c *compiler) markCrossing(st *strand) {
	if c.node == nil {
		return
	}
	for _, steps := range st.steps {
		for _, s := range steps {
			if s.op.Kind == schedule.Send {
				s.msg.crosses = c.node[s.msg.from] != c.node[s.msg.to]
			}
		}
	}
}

// placeSlots gives every message that crosses its own slots at both ends, for all slices. Slots of as many messages as a block has
// chunks lie one within the gaps of the other.
func (c *compiler) placeSlots(st *strand) {
	piece := c.at.unit(st.channel) * int64(c.o.Instances*c.o.Size)
	span := c.pieceEnd(st)
	each := c.at.stride(st.channel) * int64(c.o.Size) / piece
	used := make([]int64, len(st.steps))
	next := func(r int) int64 {
		n := used[r]
		used[r]++
		return c.slotBytes[r] + n/each*span + n%each*piece
	}
	for r, steps := range st.steps {
		for _, s := range steps {
			if s.op.Kind != schedule.Send || !s.msg.crosses {
				continue
			}
			_, limits := c.refs(st, r, s.op.Src)
			_, ends := c.refs(st, s.msg.to, s.msg.recv.Dst)
			for i := range limits {
				p := Parcel{From: next(r), At: next(s.msg.to), Limit: shorter(limits[i], ends[i])}
				if p.Limit < 0 {
					p.Limit = span
				}
				s.msg.chunks = append(s.msg.chunks, p)
			}
		}
	}
	for r, n := range used {
		c.slotBytes[r] += (n + each - 1) / each * span
	}
}

// slotsAwaited: the sender of a message waits until its slots have been read. Where each launch brings it a message of that receiver, that
// has begun the launch, and so has ended those before.
func (c *compiler) slotsAwaited(st *strand, m *message) bool {
	return m.crosses && !dependsOnAll(c.s.Spec.Kind) && st.total[[2]int{m.to, m.from}] == 0
}

// bells adds those of a strand to a program.
func (c *compiler) bells(p *Program, st *strand) {
	for r, steps := range st.steps {
		add := func(b Bell, m []Parcel) {
			b.Lane, b.Unit, b.Stride = st.lane, c.at.unit(st.channel)*int64(c.o.Size), c.at.stride(st.channel)*int64(c.o.Size)
			at := slices.IndexFunc(p.Bells[r], func(o Bell) bool { return o.To == b.To && o.Lane == b.Lane && o.Line == b.Line })
			if at < 0 {
				at, p.Bells[r] = len(p.Bells[r]), append(p.Bells[r], b)
			} else if b.Line == Taken {
				return // raised once a launch
			}
			p.Bells[r][at].Messages = append(p.Bells[r][at].Messages, m)
		}
		for _, s := range steps {
			switch {
			case s.msg == nil || !s.msg.crosses:
			case s.op.Kind == schedule.Send:
				add(Bell{To: s.msg.to, Line: Ready, Slices: st.slices}, s.msg.chunks)
			case c.slotsAwaited(st, s.msg):
				add(Bell{To: s.msg.from, Line: Taken, Slices: 1}, nil)
			}
		}
	}
}

// leave writes a message into the sender's own slots: as another destination of the operation that made the data, where there is one
// since the threads last waited for one another.
func (e *emission) leave(m *message) {
	src, _ := e.c.refs(e.st, e.rank, m.send.Src)
	for i, p := range m.chunks {
		e.carry(src[i], Ref{Rank: e.rank, Buffer: SlotBuffer, Offset: p.From}, p.Limit)
	}
}

// arrived is where a message's data are: with the sender, or in slots here.
func (e *emission) arrived(m *message) (refs []Ref, limits []int64) {
	if !m.crosses {
		return e.c.refs(e.st, m.from, m.send.Src)
	}
	for _, p := range m.chunks {
		refs, limits = append(refs, Ref{Rank: e.rank, Buffer: SlotBuffer, Offset: p.At}), append(limits, p.Limit)
	}
	return refs, limits
}
