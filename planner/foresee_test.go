package planner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A pipeline's time is known everywhere from three of its lengths.
func TestThroughThree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a, b, c := 1e9*r.Float64(), 1e9*r.Float64(), 1e6*r.Float64()
		time := func(n float64) float64 { return a + b/n + c*n }
		n := [3]float64{float64(1 + r.IntN(8)), float64(10 + r.IntN(8)), float64(20 + r.IntN(100))}
		curve := throughThree(n, [3]float64{time(n[0]), time(n[1]), time(n[2])})
		for _, n := range []float64{2, 50, 256, 1024} {
			if got, want := curve(n), time(n); math.Abs(got-want) > 1e-6*want {
				t.Fatalf("%v pieces: %v, want %v", n, got, want)
			}
		}
	}
}
