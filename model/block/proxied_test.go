package block

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStretches: of random messages, each byte that an instance has a share of goes to its place once, and no two stretches could be one.
func TestStretches(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := &Bell{Unit: 1 + random.Int64N(8), Slices: 1 + random.IntN(3)}
		instances := 1 + random.IntN(3)
		b.Stride = b.Unit * int64(instances)
		var message []Parcel
		from, at := random.Int64N(50), random.Int64N(50)
		for range 1 + random.IntN(12) {
			message = append(message, Parcel{from, at, random.Int64N(3 * b.Stride)})
			from, at = from+b.Stride+random.Int64N(2), at+b.Stride+random.Int64N(2)
		}
		for slice := range b.Slices {
			for instance := range instances {
				var want, got [][2]int64
				for _, p := range message {
					skip, n := b.Share(p, slice, instance)
					for i := range n {
						want = append(want, [2]int64{p.From + skip + i, p.At + skip + i})
					}
				}
				stretches := b.AppendStretches(nil, message, slice, instance)
				for k, s := range stretches {
					for i := range s.Bytes {
						got = append(got, [2]int64{s.From + i, s.At + i})
					}
					if k > 0 && stretches[k-1].From+stretches[k-1].Bytes == s.From && stretches[k-1].At+stretches[k-1].Bytes == s.At {
						t.Errorf("seed %d: %+v and %+v are one", seed, stretches[k-1], s)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("seed %d: slice %d, instance %d: %v, want %v", seed, slice, instance, got, want)
				}
			}
		}
	}
}
