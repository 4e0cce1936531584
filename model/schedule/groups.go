package schedule

import "slices"

// member is one rank's view of a group it belongs to: its position, the ranks by
// position and the chunks that each position is responsible for.
type member struct {
	pos, size int
	chunks    int // of the channel
	group     *Group
	grid      *Grid
	coord     []int32 // grid: the rank's digits
	base      int32   // grid: rank with digit 0 along the axis
	stride    int32   // grid: rank stride along the axis
}

// rank is the rank at position i.
func (m *member) rank(i int) int32 {
	if m.group != nil {
		return m.group.Ranks[i]
	}
	return m.base + m.digit(i)*m.stride
}

// digit is the coordinate along the axis of position i.
func (m *member) digit(i int) int32 {
	if m.grid.Order != nil {
		return m.grid.Order[i]
	}
	return int32(i)
}

// off is position pos+d modulo the group's size; d may be negative.
func (m *member) off(d int) int {
	p := m.pos + d
	if p >= -m.size && p < 2*m.size { // as nearly always: divisions take long
		switch {
		case p < 0:
			return p + m.size
		case p >= m.size:
			return p - m.size
		}
		return p
	}
	return (p%m.size + m.size) % m.size
}

// part are the chunks that position i is responsible for.
func (m *member) part(i int) ChunkSet {
	if m.group == nil {
		return m.gridSet(m.digit(i))
	}
	if m.group.Parts != nil {
		return m.group.Parts[i]
	}
	return One(m.group.Ranks[i])
}

// whole are all chunks that the group works on.
func (m *member) whole() ChunkSet {
	if m.group == nil {
		return m.gridSet(-1)
	}
	if m.group.Whole == (ChunkSet{}) {
		return Range(0, int32(m.chunks))
	}
	return m.group.Whole
}

// gridSet are the chunks whose digits along the fixed axes are the group's own and along Axis is
// digit (−1: any).
func (m *member) gridSet(digit int32) ChunkSet {
	g, set, stride := m.grid, One(0), int32(1)
	for a := len(g.Dims) - 1; a >= 0; a-- {
		if slices.Contains(g.Unsplit, a) {
			continue
		}
		switch {
		case slices.Contains(g.Fixed, a):
			set.First += m.coord[a] * stride
		case a == g.Axis && digit >= 0:
			set.First += digit * stride
		default:
			set.repeat(g.Dims[a], stride)
		}
		stride *= g.Dims[a]
	}
	return set
}

// span is the union of the parts of positions from … from+count−1 (no wrap), and
// whether it is one set: the parts are then equally shaped and equally spaced.
func (m *member) span(from, count int) (ChunkSet, bool) {
	p := m.part(from)
	if count == 1 {
		return p, true
	}
	step := m.part(from+1).First - p.First
	for i := 1; i < count; i++ {
		want := p
		want.First += int32(i) * step
		if m.part(from+i) != want {
			return ChunkSet{}, false
		}
	}
	if p.Outer > 1 || step <= 0 {
		return ChunkSet{}, false
	}
	if p.Count == 1 {
		return ChunkSet{First: p.First, Count: int32(count), Stride: step}, true
	}
	if step == p.Count*p.Stride {
		return ChunkSet{First: p.First, Count: int32(count) * p.Count, Stride: p.Stride}, true
	}
	return ChunkSet{First: p.First, Count: int32(count), Stride: step, Outer: p.Count, OuterStride: p.Stride}, true
}

// spans visits the parts of positions from … from+count−1, modulo the group's size,
// in as few sets as possible. Sender and receiver cut alike, since the cuts depend on
// positions only.
func (m *member) spans(from, count int, visit func(ChunkSet)) {
	for count > 0 {
		from %= m.size
		n := min(count, m.size-from)
		for n > 1 {
			if _, ok := m.span(from, n); ok {
				break
			}
			n /= 2
		}
		s, _ := m.span(from, n)
		visit(s)
		from, count = from+n, count-n
	}
}

// listMember is a rank's view of a listed group, at a position of it.
func listMember(g *Group, chunks int, pos int32) member {
	return member{group: g, chunks: chunks, pos: int(pos), size: len(g.Ranks)}
}

// gridMember is a rank's view of its group in a grid.
func gridMember(g *Grid, chunks, rank int) member {
	m := member{grid: g, chunks: chunks, size: int(g.Dims[g.Axis]), coord: make([]int32, len(g.Dims)), stride: 1}
	rest, stride := int32(rank), int32(1)
	for a := len(g.Dims) - 1; a >= 0; a-- {
		m.coord[a] = rest % g.Dims[a]
		rest /= g.Dims[a]
		if a == g.Axis {
			m.stride = stride
		}
		stride *= g.Dims[a]
	}
	m.base = int32(rank) - m.coord[g.Axis]*m.stride
	own := m.coord[g.Axis]
	m.pos = int(own)
	if g.Order != nil {
		m.pos = slices.Index(g.Order, own)
	}
	return m
}

// place is a rank's membership in a listed group.
type place struct{ group, pos int32 }

// indexGroups are the memberships of each rank in listed groups.
func indexGroups(list []Group, ranks int) [][]place {
	out := make([][]place, ranks)
	for i, g := range list {
		for p, r := range g.Ranks {
			out[r] = append(out[r], place{int32(i), int32(p)})
		}
	}
	return out
}
