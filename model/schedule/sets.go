package schedule

import (
	"cmp"
	"slices"
)

// Len is the number of chunks in the set.
func (c ChunkSet) Len() int { return int(c.Count) * int(max(c.Outer, 1)) }

// Each visits the chunk numbers of the set in its order.
func (c ChunkSet) Each(visit func(chunk int32)) {
	for o := range max(c.Outer, 1) {
		for i := range c.Count {
			visit(c.First + i*c.Stride + o*c.OuterStride)
		}
	}
}

// Has reports whether a chunk is in the set.
func (c ChunkSet) Has(chunk int32) bool {
	for o := range max(c.Outer, 1) {
		at := chunk - c.First - o*c.OuterStride
		if c.Count > 0 && at == 0 || at > 0 && c.Count > 1 && at%c.Stride == 0 && at/c.Stride < c.Count {
			return true
		}
	}
	return false
}

// Meets reports whether two valid sets share a chunk.
func (c ChunkSet) Meets(o ChunkSet) bool {
	if c.Len() == 0 || o.Len() == 0 || int64(c.First) > o.last() || int64(o.First) > c.last() {
		return false
	}
	if c.Len() > o.Len() {
		c, o = o, c
	}
	met := false
	c.Each(func(chunk int32) { met = met || o.Has(chunk) })
	return met
}

// One is the set of a single chunk.
func One(chunk int32) ChunkSet { return ChunkSet{First: chunk, Count: 1, Stride: 1} }

// Range is the set first … first+count−1.
func Range(first, count int32) ChunkSet { return ChunkSet{First: first, Count: count, Stride: 1} }

// last is the largest chunk number; −1 for the empty set.
func (c ChunkSet) last() int64 {
	if c.Len() == 0 {
		return -1
	}
	return int64(c.First) + int64(c.Count-1)*int64(c.Stride) + int64(max(c.Outer, 1)-1)*int64(c.OuterStride)
}

// ascends reports whether the set's order is that of its numbers, each once.
func (c ChunkSet) ascends() bool {
	inner := int64(c.Count-1) * int64(c.Stride)
	return (c.Count < 2 || c.Stride > 0) && (c.Outer < 2 || int64(c.OuterStride) > inner)
}

// valid reports whether all numbers are in [0, limit) and the set's fields are sane.
func (c ChunkSet) valid(limit int64) bool {
	if c.First < 0 || c.Count < 0 || c.Stride < 0 || c.Outer < 0 || c.OuterStride < 0 {
		return false
	}
	return int64(c.Count)*int64(max(c.Outer, 1)) <= limit && c.last() < limit &&
		(c.Count < 2 || c.Stride > 0) && (c.Outer < 2 || c.OuterStride > 0)
}

// shifted moves the set by n chunks: into copy n/chunks of the scratch buffer.
func (c ChunkSet) shifted(n int32) ChunkSet {
	c.First += n
	return c
}

// repeat makes of the set itself and its copies in equal steps, so many in all.
func (c *ChunkSet) repeat(times, step int32) {
	switch {
	case times == 1:
	case c.Count == 1:
		c.Count, c.Stride = times, step
	case step == c.Count*c.Stride:
		c.Count *= times
	case c.Outer > 1: // steps go on, as free axes lie next to one another
		c.Outer *= times
	default:
		c.Outer, c.OuterStride = times, step
	}
}

// Widen adds a set whose ranges each follow one of the set's own, if that is so.
func (c *ChunkSet) Widen(next ChunkSet) bool {
	a, b := c.inRanges(), next.inRanges()
	if a.Stride != 1 || b.Stride != 1 || b.First != a.First+a.Count || a.Outer != b.Outer || a.OuterStride != b.OuterStride ||
		a.Outer > 1 && a.Count+b.Count > a.OuterStride {
		return false
	}
	*c = a
	if c.Count += b.Count; c.Outer > 1 && c.Count == c.OuterStride {
		*c = Range(c.First, c.Count*c.Outer)
	}
	return true
}

// inRanges is a set with its numbers in ranges: of one number each where these are apart.
func (c ChunkSet) inRanges() ChunkSet {
	switch {
	case c.Outer > 1:
	case c.Count == 1 || c.Stride == 1:
		return Range(c.First, c.Count)
	default:
		return ChunkSet{First: c.First, Count: 1, Stride: 1, Outer: c.Count, OuterStride: c.Stride}
	}
	if c.Count == 1 {
		c.Stride = 1
	}
	return c
}

// Union are disjoint ranges as few sets; it puts them in order.
func Union(ranges []ChunkSet) []ChunkSet {
	slices.SortFunc(ranges, func(a, b ChunkSet) int { return cmp.Compare(a.First, b.First) })
	sets := inSteps(neighbours(ranges))
	for i, s := range sets {
		if s.Count == 1 && s.Outer > 1 {
			sets[i] = ChunkSet{First: s.First, Count: s.Outer, Stride: s.OuterStride}
		}
	}
	return inSteps(sets)
}

// neighbours makes one of ranges that follow one another.
func neighbours(ranges []ChunkSet) (out []ChunkSet) {
	for _, s := range ranges {
		if n := len(out) - 1; n >= 0 && out[n].First+out[n].Count == s.First {
			out[n].Count += s.Count
		} else if s.Count > 0 {
			out = append(out, s)
		}
	}
	return out
}

// inSteps makes one of equal sets in equal steps.
func inSteps(sets []ChunkSet) (out []ChunkSet) {
	for _, s := range sets {
		if n := len(out) - 1; n < 0 || !out[n].takes(s) {
			out = append(out, s)
		}
	}
	return out
}

// takes adds a set to one of equal sets in equal steps, if it is the next of them.
func (c *ChunkSet) takes(next ChunkSet) bool {
	step := next.First - c.First
	switch {
	case next.Count != c.Count || next.Stride != c.Stride || next.Outer > 1 || step <= (c.Count-1)*c.Stride:
		return false
	case c.Outer > 1 && step != c.Outer*c.OuterStride:
		return false
	case c.Outer <= 1:
		c.Outer, c.OuterStride = 1, step
	}
	c.Outer++
	return true
}
