package schedule

import (
	"slices"
	"testing"

	"railyard/model/symmetry"
)

// What phases claim to leave of the moves along each axis, the programs of the originals bear out.
func TestProgramsBearOutClaims(t *testing.T) {
	asked := map[Along]int{}
	for _, c := range alikeCases() {
		for ch := range c.s.Channels {
			dims, along := c.s.Axes(ch)
			for a, d := range symmetry.Radix(dims) {
				moves := []func(int32) int32{func(r int32) int32 { return d.Add(r, 1%d.Size) }}
				switch d.Xor = along[a] == Flipping; along[a] {
				case Standing:
					continue
				case AnyOrder: // and any two may change places
					moves = append(moves, func(r int32) int32 {
						if c := d.Of(r); c < 2 && d.Size > 1 {
							return r + (1-2*c)*d.Stride
						}
						return r
					})
				}
				if asked[along[a]]++; !NewExpander(c.s).BearsOut(ch, []int32{0}, moves, nil) {
					t.Errorf("%s, channel %d, axis %d of %v: claims %d, which its programs do not bear out", c.name, ch, a, dims, along[a])
				}
			}
		}
	}
	if asked[AnyOrder] < 20 || asked[Turning] < 20 || asked[Flipping] < 5 {
		t.Errorf("asked %v", asked)
	}
}

// One program that is another one is noticed, unless only sends or receives change places.
func TestProgramsThatDoNotBearOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks []int32
		edit  func(ops Program) Program
		want  bool
	}{
		{"as it is", []int32{0}, func(ops Program) Program { return ops }, true},
		{"two sends change places", []int32{0}, func(ops Program) Program { ops[0], ops[1] = ops[1], ops[0]; return ops }, true},
		{"two receives change places", []int32{0}, func(ops Program) Program { ops[4], ops[5] = ops[5], ops[4]; return ops }, true},
		{"a send after a receive", []int32{0}, func(ops Program) Program { ops[2], ops[4] = ops[4], ops[2]; return ops }, false},
		{"a send fewer", []int32{0}, func(ops Program) Program { return ops[1:] }, false},
		{"another peer", []int32{0}, func(ops Program) Program { ops[0].Peer = ops[1].Peer; return ops }, false},
		{"more chunks", []int32{0}, func(ops Program) Program { ops[0].Src.Set.Count = 2; return ops }, false},
		{"of ranks that nobody asks about", []int32{2}, func(ops Program) Program { return ops[1:] }, true},
	} {
		s := exchangeOfAll(4)
		s.Channels[0].Phases[0].Ops[1] = c.edit(slices.Clone(s.Channels[0].Phases[0].Ops[1]))
		turn := func(r int32) int32 { return (r + 1) % 4 }
		if got := NewExpander(s).BearsOut(0, c.ranks, []func(int32) int32{turn}, nil); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// exchangeOfAll has programs by rank: everybody sends its chunk to everybody, in turn, and receives theirs.
func exchangeOfAll(ranks int32) *Schedule {
	s := &Schedule{Channels: []Channel{{Share: 1, Slices: 1, Chunks: int(ranks), Phases: []Phase{{Gen: GenOps}}}}}
	s.Spec.Ranks = int(ranks)
	for r := range ranks {
		ops := Program{{Kind: Copy, Peer: -1, Src: at(Input, One(r)), Dst: at(Output, One(r))}}
		for k := int32(1); k < ranks; k++ {
			ops = slices.Insert(ops, int(k)-1, Op{Kind: Send, Peer: (r + k) % ranks, Src: at(Input, One(r))})
		}
		for k := int32(1); k < ranks; k++ {
			from := (r - k + ranks) % ranks
			ops = append(ops, Op{Kind: Recv, Peer: from, Dst: at(Output, One(from))})
		}
		s.Channels[0].Phases[0].Ops = append(s.Channels[0].Phases[0].Ops, ops)
	}
	return s
}
