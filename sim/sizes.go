package sim

import (
	"math"

	"railyard/model/units"
)

// size is a number of bytes as a schedule means it: n chunks of a channel of the given
// shape, or (all_to_allv) n millionths of one.
type size struct {
	shape  int32
	scaled bool
	n      int64
}

const million = 1e6

// bytes is the size for a given chunk.
func (s size) bytes(chunk units.Bytes) units.Bytes {
	if s.scaled {
		return units.Bytes(math.Ceil(float64(s.n) * float64(chunk) / million))
	}
	return units.Bytes(s.n) * chunk
}

// sizeTable finds the index of a size; small ones without a map.
type sizeTable struct {
	last  size
	index int32
	other map[size]int32
}

func (t *sizeTable) init() { t.index, t.other = -1, map[size]int32{} }

func (p *Plan) addSize(t *sizeTable, s size) int32 {
	if t.index >= 0 && t.last == s {
		return t.index
	}
	i, ok := t.other[s]
	if !ok {
		i = int32(len(p.sizes))
		p.sizes = append(p.sizes, s)
		t.other[s] = i
	}
	t.last, t.index = s, i
	return i
}
