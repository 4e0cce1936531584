package schedule

import (
	"railyard/model/symmetry"
)

// moves are moves of ranks by their digits in mixed radix (last axis fastest), with the chunks
// that are numbered by the same digits: the originals stand for all ranks.
type moves struct {
	symmetry.Digits
	ranks  int
	chunks int             // of the channel; places in scratch repeat them
	parts  symmetry.Digits // the same digits of chunk numbers, stride 0: chunks are not numbered by one
}

// unmoved is the group of no moves: all ranks stand for themselves.
func unmoved(s *Schedule) *moves { return &moves{ranks: s.Spec.Ranks} }

// axis is a digit of ranks, and the same of chunk numbers.
type axis struct{ ranks, parts symmetry.Digit }

// outer are the moves along all axes but the last one.
func (m *moves) outer() *moves {
	n := len(m.Digits) - 1
	return &moves{m.Digits[:n], m.ranks, m.chunks, m.parts[:n]}
}

// chunk is where a move brings a place; one in scratch keeps its copy.
func (m *moves) chunk(chunk, by int32) int32 {
	for i, d := range m.Digits {
		if n := d.Of(by); n != 0 && m.parts[i].Stride > 0 {
			chunk = m.parts[i].Add(chunk, n)
		}
	}
	return chunk
}

func (m *moves) numbered() bool            { return m.grain() != 0 }
func (m *moves) of(rank int32) int32       { return m.By(rank) }
func (m *moves) inverse(by int32) int32    { return m.Inverse(by) }
func (m *moves) rank(rank, by int32) int32 { return m.Move(rank, by) }

// originals are the ranks that no move but the one by 0 leads to.
func (m *moves) originals() []int32 {
	out := make([]int32, 0, m.ranks/m.Count())
	for r := range int32(m.ranks) {
		if m.By(r) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// grain is the stride of the least digit of chunk numbers that moves; 0 where none does.
func (m *moves) grain() int32 {
	least := int32(0)
	for _, d := range m.parts {
		if d.Stride > 0 && (least == 0 || d.Stride < least) {
			least = d.Stride
		}
	}
	return least
}

// digit are the digits of a place's number that move, and what they stand above.
func (m *moves) digit(place int32) int32 {
	grain := m.grain()
	if grain == 0 {
		return 0
	}
	return place % int32(m.chunks) / grain
}

// runs is where a move brings a set of ranks.
func (m *moves) runs(from runs, by int32) runs {
	if by == 0 || len(from) == 2 && from[0] == 0 && int(from[1]) == m.ranks {
		return from
	}
	grain := m.Digits[0].Stride
	for _, d := range m.Digits {
		grain = min(grain, d.Stride)
	}
	return from.moved(func(lo int32) int32 { return lo - lo%grain + grain }, func(rank int32) int32 { return m.rank(rank, by) })
}
