package schedule

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/units"
)

// Layout places chunks in memory for a number of elements. Offsets and lengths are in
// elements. Channel, slice and chunk boundaries are rounded down to multiples of the
// alignment; the last piece of a block takes the rest.
type Layout struct {
	s      *Schedule
	block  int64 // elements of a block
	align  int64
	shares []int64 // cumulative channel shares
	counts *counts // all_to_allv
}

// counts are all_to_allv's blocks in elements, by (source, destination).
type counts struct {
	n         int
	size      []int64 // [src*n+dst]
	inputOff  []int64 // [src*n+dst]: where src keeps what it sends to dst
	outputOff []int64 // [dst*n+src]: where dst puts what it gets from src
	input     []int64 // by rank, all of its input
	output    []int64
	waiting   []waitingLayout // by rank
}

// NewLayout lays out count elements: the whole buffer as nccl-tests counts it (all
// blocks; for all_to_allv the largest row). A count that the blocks do not divide is
// rounded down, as nccl-tests does.
func NewLayout(s *Schedule, count, align int64) *Layout {
	l := &Layout{s: s, block: count / int64(s.Spec.Blocks()), align: max(align, 1), shares: make([]int64, len(s.Channels)+1)}
	for c, ch := range s.Channels {
		l.shares[c+1] = l.shares[c] + ch.Share
	}
	if s.Spec.Kind == collective.AllToAllV {
		l.counts = newCounts(s.Spec, count)
		l.counts.layoutWaiting(s)
	}
	return l
}

func newCounts(spec collective.Spec, count int64) *counts {
	n := spec.Ranks
	c := &counts{n: n, size: make([]int64, n*n), inputOff: make([]int64, n*n), outputOff: make([]int64, n*n),
		input: make([]int64, n), output: make([]int64, n)}
	row := spec.LargestRow()
	for src := range n {
		for dst := range n {
			c.size[src*n+dst] = units.MulDiv(count, spec.Counts[src][dst], row)
		}
	}
	for a := range n {
		for b := range n {
			c.inputOff[a*n+b], c.outputOff[a*n+b] = c.input[a], c.output[a]
			c.input[a] += c.size[a*n+b]
			c.output[a] += c.size[b*n+a]
		}
	}
	return c
}

// Scratch is the length of a rank's scratch buffer, given how many copies of the whole
// buffer it may hold (see ScratchCopies).
func (l *Layout) Scratch(rank, copies int) int64 {
	if l.counts != nil {
		return l.counts.waiting[rank].elements
	}
	return l.block * int64(l.s.Spec.Blocks()*copies)
}

// Elements is the length of a rank's input or output.
func (l *Layout) Elements(rank int, b Buffer) int64 {
	spec := l.s.Spec
	switch {
	case l.counts != nil && b == Input:
		return l.counts.input[rank]
	case l.counts != nil:
		return l.counts.output[rank]
	}
	var n int64
	for block := range spec.Blocks() {
		if b == Input && spec.Holds(rank, block) || b == Output && spec.Wants(rank, block) {
			n += l.block
		}
	}
	return n
}

// BufferBytes is how long the inputs and outputs of all ranks are together, with the
// scratch that they use (see ScratchChunks).
func (s *Schedule) BufferBytes(size units.Bytes, scratch []int64) units.Bytes {
	l := NewLayout(s, int64(size), 1)
	var sum units.Bytes
	for rank := range s.Spec.Ranks {
		sum += units.Bytes(l.Elements(rank, Input) + l.Elements(rank, Output))
	}
	for c, chunks := range scratch {
		sum += units.Bytes(chunks*int64(s.Channels[c].Slices)) * s.ChunkBytes(c, size)
	}
	return sum
}

// Place is where a chunk of a slice lies in a rank's buffer. Scratch chunk numbers of
// Chunks and beyond lie in further copies of the whole buffer.
func (l *Layout) Place(rank int, b Buffer, channel, slice int, chunk int32) (off, n int64) {
	ch := &l.s.Channels[channel]
	blocks := l.s.Spec.Blocks()
	per := int32(ch.Chunks / blocks)
	copies := int64(chunk) / int64(ch.Chunks)
	chunk %= int32(ch.Chunks)
	block, sub := int(chunk/per), int64(chunk%per)
	if l.counts != nil && b == Scratch {
		block, copies = int(copies)*blocks+block, 0
	}
	base, size := l.Block(rank, b, block)
	lo, hi := l.cut(size, l.shares[channel], l.shares[channel+1], l.shares[len(l.shares)-1])
	lo2, hi2 := l.cut(hi-lo, int64(slice), int64(slice)+1, int64(ch.Slices))
	lo3, hi3 := l.cut(hi2-lo2, sub, sub+1, int64(per))
	if b == Scratch {
		base += copies * l.block * int64(blocks)
	}
	return base + lo + lo2 + lo3, hi3 - lo3
}

// Block is where a block lies in a rank's buffer, and its length.
func (l *Layout) Block(rank int, b Buffer, block int) (off, n int64) {
	if c := l.counts; c != nil {
		switch b {
		case Output:
			return c.outputOff[rank*c.n+block], c.size[block*c.n+rank]
		case Scratch: // of any pair
			return c.waiting[rank].at[int64(block)], c.size[block]
		}
		return c.inputOff[rank*c.n+block], c.size[rank*c.n+block]
	}
	if OnlyBlock(l.s.Spec, rank, b) >= 0 {
		return 0, l.block
	}
	return int64(block) * l.block, l.block
}

// OnlyBlock is the block that a rank's buffer consists of; −1 where it has room for all blocks.
func OnlyBlock(spec collective.Spec, rank int, b Buffer) int {
	switch spec.Kind {
	case collective.AllGather, collective.Gather:
		if b == Input {
			return rank
		}
	case collective.ReduceScatter, collective.Scatter:
		if b == Output {
			return rank
		}
	}
	return -1
}

// Shift is by how many elements a rank's buffer lies behind the one memory that input and output are in place.
func (l *Layout) Shift(rank int, b Buffer) int64 {
	return l.block * int64(max(OnlyBlock(l.s.Spec, rank, b), 0))
}

// cut is the part from a/of to b/of of n elements, aligned.
func (l *Layout) cut(n, a, b, of int64) (lo, hi int64) {
	lo, hi = units.MulDiv(n, a, of), units.MulDiv(n, b, of)
	lo -= lo % l.align
	if b < of {
		hi -= hi % l.align
	} else {
		hi = n
	}
	return lo, hi
}

// eachOp visits the operations of all ranks in a channel, for one slice.
func (x *Expander) eachOp(channel int, visit func(rank int, op *Op)) {
	var ops []Op
	for r := range x.s.Spec.Ranks {
		for p := range x.s.Channels[channel].Phases {
			ops = x.AppendProgram(ops[:0], channel, p, r)
			for i := range ops {
				visit(r, &ops[i])
			}
		}
	}
}

// LargestMessage is how many chunks the largest message of a channel has.
func (x *Expander) LargestMessage(channel int) (chunks int64) {
	x.eachOp(channel, func(_ int, op *Op) {
		if op.Kind == Send {
			chunks = max(chunks, int64(op.Src.Set.Len()))
		}
	})
	return chunks
}

// eachScratch visits the places in scratch that ranks read or write in a channel.
func (x *Expander) eachScratch(channel int, visit func(rank int, set ChunkSet)) {
	x.eachOp(channel, func(rank int, op *Op) {
		for _, l := range op.places() {
			if l.Buf == Scratch {
				visit(rank, l.Set)
			}
		}
	})
}

// ScratchCopies is how many copies of the whole buffer the scratch of some channels needs; none named: of all.
func (x *Expander) ScratchCopies(channels ...int) int {
	copies := int64(0)
	for c := range x.s.Channels {
		chunks := int64(x.s.Channels[c].Chunks)
		if channels == nil || slices.Contains(channels, c) {
			x.eachScratch(c, func(_ int, set ChunkSet) { copies = max(copies, (set.last()+chunks)/chunks) })
		}
	}
	return int(copies)
}

// ScratchChunks is, by channel, how many chunks of scratch all ranks use together.
func (x *Expander) ScratchChunks() []int64 {
	out := make([]int64, len(x.s.Channels))
	for c := range x.s.Channels {
		used := map[[2]int32]bool{}
		x.eachOp(c, func(rank int, op *Op) {
			if l := op.Dst; l.Buf == Scratch && !op.Kind.Sends() {
				l.Set.Each(func(chunk int32) { used[[2]int32{int32(rank), chunk}] = true })
			}
		})
		out[c] = int64(len(used))
	}
	return out
}

// ChunkBytes is the size of a channel's chunk in one slice, rounded up: what the
// simulator counts for every chunk, so that equal ranks stay equal.
func (s *Schedule) ChunkBytes(channel int, size units.Bytes) units.Bytes {
	ch := &s.Channels[channel]
	var total int64
	for i := range s.Channels {
		total += s.Channels[i].Share
	}
	slice := units.MulDivUp(int64(size), ch.Share, total*int64(ch.Slices))
	return units.Bytes(units.MulDivUp(slice, 1, int64(ch.Chunks)))
}
