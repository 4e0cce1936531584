package block

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// pieces cuts a channel: every block of the buffer alike, into slices, sub-chunks and
// instances of Unit bytes; the last ones are shorter, or empty. All references of an
// operation therefore advance by the same stride from slice to slice.
type pieces struct {
	s      *schedule.Schedule
	o      Options
	layout *schedule.Layout
	shares []int64 // cumulative
	units  []int64 // by channel
	copies []int64 // by channel: how often its scratch holds the whole buffer
}

func newPieces(s *schedule.Schedule, x *schedule.Expander, o Options) *pieces {
	p := &pieces{s: s, o: o, layout: schedule.NewLayout(s, o.Count, 1), shares: []int64{0}}
	for _, ch := range s.Channels {
		p.shares = append(p.shares, p.shares[len(p.shares)-1]+ch.Share)
	}
	for c := range s.Channels {
		p.units, p.copies = append(p.units, p.largest(c)), append(p.copies, int64(x.ScratchCopies(c)))
	}
	return p
}

// align is the number of elements that make 16 bytes.
func (p *pieces) align() int64 { return int64(max(16/p.o.Size, 1)) }

// grain is what an instance's piece is a multiple of: 16 bytes, or whole lines.
func (p *pieces) grain() int64 {
	return max(mechanisms[p.o.Mechanism].data/int64(p.o.Size), p.align())
}

// cut is where a channel's share of a block of n elements begins and ends.
func (p *pieces) cut(channel int, n int64) (lo, hi int64) {
	total := p.shares[len(p.shares)-1]
	at := func(c int) int64 {
		if c == len(p.s.Channels) {
			return n
		}
		return int64(float64(n)*float64(p.shares[c])/float64(total)) / p.align() * p.align()
	}
	return at(channel), at(channel + 1)
}

// memoryLine is what GPUs' memory and NVLink move at once, in bytes.
const memoryLine = 128

// round makes an instance's piece whole grains and, where that is little of it, whole lines of
// memory: a warp's stores that end within lines take more packets on NVLink (measured on 3 H200:
// a two-shot all-reduce of 64 MiB takes 274 µs in 128 pieces that do, 257 in 132 that do not).
func (p *pieces) round(u int64) int64 {
	grain := p.grain()
	if line := int64(memoryLine / p.o.Size); u >= 16*line && grain == p.align() {
		grain = line
	}
	return max((u+grain-1)/grain*grain, grain)
}

// unit is the elements of an instance's piece.
func (p *pieces) unit(channel int) int64 { return p.units[channel] }

// largest is that of the largest block.
func (p *pieces) largest(channel int) int64 {
	ch := &p.s.Channels[channel]
	var most int64
	for rank := range p.s.Spec.Ranks {
		for block := range p.s.Spec.Blocks() {
			for _, b := range []schedule.Buffer{schedule.Input, schedule.Output} {
				_, n := p.layout.Block(rank, b, block)
				lo, hi := p.cut(channel, n)
				most = max(most, hi-lo)
			}
		}
	}
	parts := int64(ch.Slices * (ch.Chunks / p.s.Spec.Blocks()) * p.o.Instances)
	return p.round((most + parts - 1) / parts)
}

// stride is the elements from slice to slice.
func (p *pieces) stride(channel int) int64 {
	ch := &p.s.Channels[channel]
	return p.unit(channel) * int64(p.o.Instances) * int64(ch.Chunks/p.s.Spec.Blocks())
}

// place is where instance 0 of slice 0 of a chunk lies, in elements, and how many there
// are from there to the end of the channel's part of the block; −1 without an end.
func (p *pieces) place(rank int, b schedule.Buffer, channel int, chunk int32) (off, limit int64) {
	ch := &p.s.Channels[channel]
	per := ch.Chunks / p.s.Spec.Blocks()
	block, sub := int(chunk)/per, int64(int(chunk)%per)
	skip := sub * p.unit(channel) * int64(p.o.Instances)
	if b == schedule.Scratch {
		return p.scratchBase(channel) + int64(block)*p.stride(channel)*int64(ch.Slices) + skip, p.scratchLimit(channel, skip)
	}
	base, n := p.layout.Block(rank, b, block)
	lo, hi := p.cut(channel, n)
	return base + lo + skip, max(hi-lo-skip, 0)
}

// scratchLimit is that of a place in scratch: parts of equal number are equally long in all
// blocks, so it ends where the data do that it can hold; −1 where blocks differ.
func (p *pieces) scratchLimit(channel int, skip int64) int64 {
	if p.s.Spec.Kind == collective.AllToAllV {
		return -1
	}
	_, n := p.layout.Block(0, schedule.Output, 0)
	lo, hi := p.cut(channel, n)
	return max(hi-lo-skip, 0)
}

// scratchBase is where a channel's scratch begins: behind those of the channels before.
func (p *pieces) scratchBase(channel int) (at int64) {
	for c := range channel {
		at += p.scratch(c)
	}
	return at
}

// scratch is the elements of a channel's scratch.
func (p *pieces) scratch(channel int) int64 {
	return p.stride(channel) * int64(p.s.Channels[channel].Slices) * int64(p.s.Spec.Blocks()) * p.copies[channel]
}

// dependsOnAll reports whether every rank's result needs every other's data, so that
// none can be two launches ahead of another.
func dependsOnAll(k collective.Kind) bool {
	switch k {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.Barrier:
		return true
	}
	return false
}
