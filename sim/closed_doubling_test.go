package sim

import (
	"math/bits"

	"railyard/model/collective"
)

// doubling: recursive halving and doubling over a power of two of ranks. Thakur,
// Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
// 2005. Its all-reduce here is the one for short vectors, which doubles whole vectors.
func (f *phaseForm) doubling() (float64, bool) {
	if f.n&(f.n-1) != 0 {
		return 0, false
	}
	log, steps := float64(bits.Len(uint(f.n))-1), float64(f.n-1)
	switch f.op {
	case collective.AllReduce:
		return log * (f.message(f.whole) + f.whole*f.gamma), true
	case collective.ReduceScatter:
		return log*f.alpha + steps*f.part*(f.beta+f.gamma), true
	case collective.AllGather:
		return log*f.alpha + steps*f.part*f.beta, true
	}
	return 0, false
}
