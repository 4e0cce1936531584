package schedule

import (
	"slices"

	"railyard/model/units"
)

// Chunks that no program tells apart are one to the checker: in a one-shot all-reduce over 8,192 ranks, whose buffers have as many
// chunks as there are ranks, everybody sends all of them to everybody. How many in a row they are, representatives' programs say;
// a proof counts only if all programs that are looked at keep to it.

// coarse expands a channel with so many chunks in a row taken for one as the programs of ranks that may stand for all never tell
// apart; nil where they do.
func (x *Expander) coarse(channel int) *Expander {
	ch := &x.s.Channels[channel]
	claimed := moves{ranks: x.s.Spec.Ranks}
	for _, a := range claimedAxes(x.s, channel) {
		claimed.Digits = append(claimed.Digits, a.ranks)
	}
	if len(claimed.Digits) == 0 { // all ranks are run
		return nil
	}
	grain := int32(ch.Chunks / x.s.Spec.Blocks())
	var ops []Op
	for _, r := range claimed.originals() {
		for p := 0; p < len(ch.Phases) && grain > 1; p++ {
			ops = x.AppendProgram(ops[:0], channel, p, int(r))
			for i := 0; i < len(ops) && grain > 1; i++ {
				grain = ops[i].grain(grain)
			}
		}
	}
	if grain < 2 {
		return nil
	}
	s := *x.s
	s.Channels = slices.Clone(s.Channels)
	s.Channels[channel].Chunks /= int(grain)
	return &Expander{s: &s, fine: x, grain: grain}
}

// appendCoarse appends a program of x.fine, x.grain chunks in a row taken for one.
func (x *Expander) appendCoarse(dst []Op, channel, phase, rank int) []Op {
	first := len(dst)
	dst = x.fine.AppendProgram(dst, channel, phase, rank)
	for i := first; i < len(dst); i++ {
		op := &dst[i]
		x.torn = x.torn || op.grain(x.grain) != x.grain
		op.Src.Set, op.Dst.Set = op.Src.Set.coarse(x.grain), op.Dst.Set.coarse(x.grain)
		op.Srcs = slices.Clone(op.Srcs)
		for j := range op.Srcs {
			op.Srcs[j].Set = op.Srcs[j].Set.coarse(x.grain)
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
