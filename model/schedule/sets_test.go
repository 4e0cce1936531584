package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A set that another one widens ascends and has the numbers of both; one that it does not widen stays as it is. What follows widens a range.
func TestWiden(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	numbers := func(sets ...ChunkSet) (out []int32) {
		for _, s := range sets {
			s.Each(func(c int32) { out = append(out, c) })
		}
		slices.Sort(out)
		return out
	}
	widened := 0
	for range 20_000 {
		count, outer := 1+r.Int32N(3), r.Int32N(4)
		a := ChunkSet{First: r.Int32N(4), Count: count, Stride: 1, Outer: outer, OuterStride: count + r.Int32N(4)}
		if outer < 2 {
			a.Outer, a.OuterStride = 0, 0
			a.Stride = 1 + r.Int32N(3)
		}
		b := a
		b.First, b.Count = a.First+r.Int32N(6), max(1, a.Count+r.Int32N(3)-1)
		before, got := numbers(a, b), a
		switch ok := got.Widen(b); {
		case ok:
			if widened++; !got.ascends() || !slices.Equal(numbers(got), before) {
				t.Fatalf("%+v widened by %+v: %+v", a, b, got)
			}
		case got != a:
			t.Fatalf("%+v is not widened by %+v, but is %+v", a, b, got)
		case a.Stride == 1 && b.Outer < 2 && a.Outer < 2 && b.First == a.First+a.Count:
			t.Fatalf("%+v is not widened by %+v, which follows", a, b)
		}
	}
	if widened < 100 {
		t.Errorf("only %d sets were widened", widened)
	}
}

// TestSetsMeet: sets by chance meet where a chunk of one is in the other, looked for one by one.
func TestSetsMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(20261130, 1))
	draw := func() ChunkSet {
		c := ChunkSet{First: r.Int32N(12), Count: r.Int32N(5), Stride: r.Int32N(4)}
		if c.Count > 1 {
			c.Stride = max(c.Stride, 1)
		}
		if r.IntN(2) == 0 {
			c.Outer, c.OuterStride = r.Int32N(4), 1+r.Int32N(9)
		}
		return c
	}
	met := 0
	for range 5000 {
		a, b := draw(), draw()
		want := false
		in := map[int32]bool{}
		a.Each(func(chunk int32) { in[chunk] = true })
		b.Each(func(chunk int32) { want = want || in[chunk] })
		if got := a.Meets(b); got != want || b.Meets(a) != want {
			t.Fatalf("%+v and %+v: %v, want %v", a, b, got, want)
		}
		if want {
			met++
		}
		if chunk := r.Int32N(40); a.Has(chunk) != in[chunk] {
			t.Fatalf("%+v has %d: %v", a, chunk, !in[chunk])
		}
	}
	if met < 500 || met > 4500 {
		t.Errorf("%d of 5000 meet", met)
	}
}
