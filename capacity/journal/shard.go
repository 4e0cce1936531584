package journal

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is the part of some work that one journal holds: the points whose number is Index−1 modulo Of.
type Shard struct{ Index, Of int }

// All is work that is not divided.
var All = Shard{1, 1}

// ParseShard reads "2/8"; "" is all of it.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return All, nil
	}
	i, n, _ := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if err1 != nil || err2 != nil || of < 1 || index < 1 || index > of {
		return Shard{}, fmt.Errorf("shard %q: write i/n with i from 1 to n, such as 2/8", text)
	}
	return Shard{index, of}, nil
}

// String is what ParseShard reads.
func (s Shard) String() string {
	if s == All {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Points are the numbers of the shard's points, of so many in all.
func (s Shard) Points(total int) []int {
	var out []int
	for i := s.Index - 1; i < total; i += s.Of {
		out = append(out, i)
	}
	return out
}
