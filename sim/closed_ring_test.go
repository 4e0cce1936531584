package sim

import "railyard/model/collective"

// ring: n−1 steps in which every rank passes a part on. Patarasuk, Yuan, "Bandwidth
// optimal all-reduce algorithms for clusters of workstations", JPDC 2009.
func (f *phaseForm) ring() (float64, bool) {
	steps := float64(f.n - 1)
	switch f.op {
	case collective.AllGather:
		return steps * f.message(f.part), true
	case collective.ReduceScatter:
		return steps * (f.message(f.part) + f.part*f.gamma), true
	case collective.AllReduce:
		return steps * (2*f.message(f.part) + f.part*f.gamma), true
	}
	return 0, false
}

// chain: slices pass through n−1 stages of a message and, in a reduction, a sum. A
// pipeline of equal jobs takes all stages once and then its slowest stage for every
// further job.
func (f *phaseForm) chain() float64 {
	message, sum := f.message(f.whole), 0.0
	if f.op == collective.Reduce {
		sum = f.whole * f.gamma
	}
	return float64(f.n-1)*(message+sum) + (f.slices-1)*max(message, sum)
}
