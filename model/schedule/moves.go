package schedule

import "slices"

// moves are permutations of ranks that shift their digits in mixed radix (last axis
// fastest), with the chunks that are numbered by the same digits. Moves compose like the
// digits that they add, none but the one by 0 leaves a rank where it is, and along the
// axes that move every rank comes from the one whose digits there are 0: these, the
// originals, stand for all.
type moves struct {
	ranks  int
	chunks int // of the channel; places in scratch repeat them
	axes   []axis
}

// axis is a digit that moves.
type axis struct {
	size, stride int32
	chunkStride  int32 // of the digit in chunk numbers; 0: chunks are not numbered by it
	flips        bool  // digits move by exclusive or, else by addition modulo the size
}

// of is the move that brings a rank's original to it: the rank's digits that move.
func (m *moves) of(rank int32) int32 {
	by := int32(0)
	for i := range m.axes {
		a := &m.axes[i]
		by += rank / a.stride % a.size * a.stride
	}
	return by
}

// inverse is the move back.
func (m *moves) inverse(by int32) int32 {
	out := int32(0)
	for i := range m.axes {
		a := &m.axes[i]
		d := by / a.stride % a.size
		if !a.flips {
			d = (a.size - d) % a.size
		}
		out += d * a.stride
	}
	return out
}

// rank is where a move brings a rank.
func (m *moves) rank(rank, by int32) int32 {
	for i := range m.axes {
		a := &m.axes[i]
		if d := by / a.stride % a.size; d != 0 {
			rank = a.add(rank, d, a.stride)
		}
	}
	return rank
}

// chunk is where a move brings a place; one in scratch keeps its copy.
func (m *moves) chunk(chunk, by int32) int32 {
	for i := range m.axes {
		a := &m.axes[i]
		if d := by / a.stride % a.size; d != 0 && a.chunkStride > 0 {
			chunk = a.add(chunk, d, a.chunkStride)
		}
	}
	return chunk
}

// add moves the digit with the given stride in a number by d.
func (a *axis) add(x, d, stride int32) int32 {
	old := x / stride % a.size
	if a.flips {
		return x + (old^d-old)*stride
	}
	if old+d >= a.size {
		d -= a.size
	}
	return x + d*stride
}

// count is the number of moves, the one by 0 included.
func (m *moves) count() int {
	n := 1
	for _, a := range m.axes {
		n *= int(a.size)
	}
	return n
}

// originals are the ranks that no move but the one by 0 leads to.
func (m *moves) originals() []int32 {
	out := make([]int32, 0, m.ranks/m.count())
	for r := range int32(m.ranks) {
		if m.of(r) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// all are the moves.
func (m *moves) all() []int32 {
	out := []int32{0}
	for _, a := range m.axes {
		for _, by := range slices.Clone(out) {
			for d := int32(1); d < a.size; d++ {
				out = append(out, by+d*a.stride)
			}
		}
	}
	return out
}

// grain is the stride of the least digit of chunk numbers that moves; 0 where none does.
func (m *moves) grain() int32 {
	least := int32(0)
	for _, a := range m.axes {
		if a.chunkStride > 0 && (least == 0 || a.chunkStride < least) {
			least = a.chunkStride
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

// covered is where a move brings a set of all numbers that are alike below its stride, in
// one copy: what moves at or above the stride leaves it as it is. ok is false for others.
func (m *moves) covered(s ChunkSet, by int32) (to ChunkSet, ok bool) {
	if s.Outer > 1 || int(s.Stride)*int(s.Count) != m.chunks {
		return s, false
	}
	low := s.First % int32(m.chunks)
	if low >= s.Stride {
		return s, false
	}
	for _, a := range m.axes {
		if a.chunkStride > 0 && a.chunkStride%s.Stride != 0 && s.Stride%(a.chunkStride*a.size) != 0 {
			return s, false
		}
	}
	to = s
	to.First += m.chunk(low, by)%s.Stride - low
	return to, true
}

// runs is where a move brings a set of ranks.
func (m *moves) runs(from runs, by int32) runs {
	if by == 0 || len(from) == 2 && from[0] == 0 && int(from[1]) == m.ranks {
		return from
	}
	grain := m.axes[0].stride
	for _, a := range m.axes {
		grain = min(grain, a.stride)
	}
	var spans []span
	for i := 0; i < len(from); i += 2 {
		for lo := from[i]; lo < from[i+1]; {
			hi := min(from[i+1], lo-lo%grain+grain)
			to := m.rank(lo, by)
			spans = append(spans, span{to, to + hi - lo})
			lo = hi
		}
	}
	return joined(spans)
}
