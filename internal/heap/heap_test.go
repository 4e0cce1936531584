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
