package schedule

import (
	"slices"

	"railyard/model/units"
)

// Chunks that no program tells apart are one to the checker: in a one-shot all-reduce over 8,192 ranks, whose buffers have as many
// chunks as there are ranks, everybody sends all of them to everybody. How many in a row they are, representatives' programs say;
// a proof counts only if all programs that are looked at keep to it. To thread blocks, a block's chunks are one where all programs say so.

// Coarse is the schedule, and its expansion, with one chunk a block in the channels where no program tells a block's chunks apart.
func (s *Schedule) Coarse() (*Schedule, *Expander) {
	x, all := NewExpander(s), unmoved(s).originals()
	grain := make([]int32, len(s.Channels))
	for c := range grain {
		grain[c] = x.grainOf(c, int32(s.Channels[c].Chunks/s.Spec.Blocks()), all)
	}
	y := x.inGrains(grain)
	return y.s, y
}

// coarse expands a channel with so many chunks in a row taken for one as the programs of ranks that may stand for all never tell
// apart; nil where they do.
func (x *Expander) coarse(channel int) *Expander {
	claimed := moves{ranks: x.s.Spec.Ranks}
	for _, a := range claimedAxes(x.s, channel) {
		claimed.Digits = append(claimed.Digits, a.ranks)
	}
	if len(claimed.Digits) == 0 { // all ranks are run
		return nil
	}
	grain := slices.Repeat([]int32{1}, len(x.s.Channels))
	grain[channel] = x.grainOf(channel, int32(x.s.Channels[channel].Chunks/x.s.Spec.Blocks()), claimed.originals())
	if grain[channel] < 2 {
		return nil
	}
	return x.inGrains(grain)
}

// grainOf is how many chunks in a row, of at most so many, the programs of some ranks never tell apart.
func (x *Expander) grainOf(channel int, most int32, ranks []int32) int32 {
	var ops []Op
	for _, r := range ranks {
		for p := 0; p < len(x.s.Channels[channel].Phases) && most > 1; p++ {
			ops = x.AppendProgram(ops[:0], channel, p, int(r))
			for i := 0; i < len(ops) && most > 1; i++ {
				most = ops[i].grain(most)
			}
		}
	}
	return most
}

// inGrains expands with so many chunks in a row of each channel taken for one.
func (x *Expander) inGrains(grain []int32) *Expander {
	s := *x.s
	s.Channels = slices.Clone(s.Channels)
	for c := range s.Channels {
		s.Channels[c].Chunks /= int(grain[c])
	}
	return &Expander{s: &s, fine: x, grain: grain}
}

// appendCoarse appends a program of x.fine, so many chunks in a row taken for one.
func (x *Expander) appendCoarse(dst []Op, channel, phase, rank int) []Op {
	first, grain := len(dst), x.grain[channel]
	dst = x.fine.AppendProgram(dst, channel, phase, rank)
	for i := first; i < len(dst) && grain > 1; i++ {
		op := &dst[i]
		x.torn = x.torn || op.grain(grain) != grain
		op.Src.Set, op.Dst.Set = op.Src.Set.coarse(grain), op.Dst.Set.coarse(grain)
		op.Srcs = slices.Clone(op.Srcs)
		for j := range op.Srcs {
			op.Srcs[j].Set = op.Srcs[j].Set.coarse(grain)
		}
	}
	return dst
}

// grain is how many chunks in a row, of at most so many, an operation never tells apart.
func (op *Op) grain(most int32) int32 {
	most = op.Dst.Set.grain(op.Src.Set.grain(most))
	for i := range op.Srcs {
		most = op.Srcs[i].Set.grain(most)
	}
	return most
}

func (c ChunkSet) grain(most int32) int32 {
	switch {
	case c.Len() == 0:
		return most
	case c.Count > 1 && c.Stride != 1:
		return 1
	case c.Outer > 1:
		most = units.GCD(most, c.OuterStride)
	}
	return units.GCD(units.GCD(most, c.First), c.Count)
}

// coarse is a set of whole grains, by their numbers.
func (c ChunkSet) coarse(grain int32) ChunkSet {
	c.First, c.Count, c.OuterStride = c.First/grain, c.Count/grain, c.OuterStride/grain
	return c
}
