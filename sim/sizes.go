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
	fresh  bool // sent from memory that ranks write, where the profile tells it from inputs
	summed bool // what a kernel of its own reads and writes to sum up what copy engines have brought
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

// equal reports whether both are as many bytes.
func (s size) equal(other size) bool {
	s.fresh, s.summed, other.fresh, other.summed = false, false, false, false
	return s == other
}

// sizeTable finds the index of a size, those found of late without the map.
type sizeTable struct {
	recent [16]indexedSize // by number of chunks
	other  map[size]int32
}

type indexedSize struct {
	size  size
	index int32
}

func (t *sizeTable) init() {
	t.other = map[size]int32{}
	for i := range t.recent {
		t.recent[i].index = -1
	}
}

func (p *Plan) addSize(t *sizeTable, s size) int32 {
	recent := &t.recent[s.n%int64(len(t.recent))]
	if recent.index >= 0 && recent.size == s {
		return recent.index
	}
	i, ok := t.other[s]
	if !ok {
		i = int32(len(p.sizes))
		p.sizes = append(p.sizes, s)
		t.other[s] = i
	}
	*recent = indexedSize{s, i}
	return i
}
