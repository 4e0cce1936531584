package sim

import (
	"fmt"
	"math"
	"slices"
)

// interned is a sequence's place.
type interned struct{ first, n int32 }

// interner lays distinct sequences end to end and finds equal ones again.
type interner[T comparable] struct {
	all    []T
	key    func(T) uint64
	byHash map[uint64][]interned
}

func (t *interner[T]) init(key func(T) uint64) {
	t.key, t.byHash = key, map[uint64][]interned{}
}

// intern returns where the sequence begins in all.
func (t *interner[T]) intern(list []T) (int32, error) {
	sum := uint64(len(list))
	for i := range list {
		sum = (sum ^ t.key(list[i])) * 0x9E3779B97F4A7C15
		sum ^= sum >> 29
	}
	for _, s := range t.byHash[sum] {
		if int(s.n) == len(list) && slices.Equal(t.all[s.first:s.first+s.n], list) {
			return s.first, nil
		}
	}
	first := len(t.all)
	if first+len(list) > math.MaxInt32 {
		return 0, fmt.Errorf("the schedule has too many different operations to simulate: more than 2^31")
	}
	t.all = appended(t.all, list...)
	t.byHash[sum] = append(t.byHash[sum], interned{int32(first), int32(len(list))})
	return int32(first), nil
}

// appended is append, but doubles the room: alone, that grows large slices by a quarter only.
func appended[T any](list []T, more ...T) []T {
	if cap(list)-len(list) < len(more) {
		list = slices.Grow(list, max(len(list), len(more)))
	}
	return append(list, more...)
}

func (o op) key() uint64 {
	return uint64(o.kind) | uint64(uint32(o.conn))<<3 ^ uint64(uint32(o.size))<<33
}
