package sim

import (
	"math"
	"math/rand/v2"

	"railyard/model/units"
)

// Spread is a distribution of the delays with which ranks start (see Options.Delays).
type Spread struct {
	Exponential bool       // with this mean; else normal, cut off at nothing
	Mean        units.Time // 0 is no delay where Deviation is 0, too
	Deviation   units.Time // of the normal distribution
}

// Draw adds a delay to each rank's. Each rank draws for itself: what a seed gives it does
// not depend on how many others there are.
func (s Spread) Draw(delays []units.Time, seed uint64) {
	for r := range delays {
		rng := rand.New(rand.NewPCG(seed, uint64(r)))
		x := rng.ExpFloat64() * float64(s.Mean)
		if !s.Exponential {
			x = float64(s.Mean) + rng.NormFloat64()*float64(s.Deviation)
		}
		delays[r] += units.Time(math.Round(min(max(x, 0), float64(forever)/4)))
	}
}
