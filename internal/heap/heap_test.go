package heap

import (
	stdheap "container/heap"
	"math/rand/v2"
	"testing"

	_ "railyard/internal/long" // accepts -long
)

// std is the same heap for the standard library.
type std [][2]int

func (s std) Len() int           { return len(s) }
func (s std) Less(i, j int) bool { return s[i][0] < s[j][0] }
func (s std) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *std) Push(x any)        { *s = append(*s, x.([2]int)) }
func (s *std) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// TestLikeTheStandardLibrary: the same values come out, of those that are equally small too.
func TestLikeTheStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h, want := New(func(a, b [2]int) bool { return a[0] < b[0] }), &std{}
		for n := range 200 {
			if h.Len() > 0 && rng.IntN(3) == 0 {
				least := h.Least()
				if got, want := h.Pop(), stdheap.Pop(want).([2]int); got != want || got != least {
					t.Fatalf("%v, want %v", got, want)
				}
				continue
			}
			x := [2]int{rng.IntN(8), n}
			h.Push(x)
			stdheap.Push(want, x)
		}
		if h.Clear(); h.Len() != 0 {
			t.Fatalf("%d values after all", h.Len())
		}
	}
}

// TestIndexed: the least item by key, then by number, is what a search among all finds, whatever was set again or removed.
func TestIndexed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h Indexed[float64]
	for range 200 {
		n := 1 + rng.IntN(40)
		h.Reset(n)
		want := map[int32]float64{}
		for range 300 {
			if i := int32(rng.IntN(n)); rng.IntN(3) == 0 {
				h.Remove(i)
				delete(want, i)
			} else {
				want[i] = float64(rng.IntN(8))
				h.Set(i, want[i])
			}
			least := int32(-1)
			for i := range int32(n) {
				key, in := want[i]
				if in && (least < 0 || key < want[least]) {
					least = i
				}
				if h.Has(i) != in || in && h.Key(i, -1) != key || !in && h.Key(i, -1) != -1 {
					t.Fatalf("item %d is in: %v at %v, want %v at %v", i, h.Has(i), h.Key(i, -1), in, key)
				}
			}
			if h.Len() != len(want) || least >= 0 && h.Least() != least {
				t.Fatalf("%d items of %d, the least %d", h.Len(), len(want), least)
			}
		}
	}
}
