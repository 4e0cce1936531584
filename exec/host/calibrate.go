package host

import (
	"time"

	"railyard/model/collective"
	"railyard/model/units"
)

// LocalRates times how fast one thread combines and copies float32, in bytes of the
// result per second: the median of several passes over memory larger than the caches.
func LocalRates() (combine, copying units.Rate) {
	const elements, passes = 4 << 20, 5
	a, b := make([]float32, elements), make([]float32, elements)
	k := float32Kernels(collective.Sum)
	return medianRate(passes, elements*4, func() { k.combine(a, a, b) }), medianRate(passes, elements*4, func() { copy(a, b) })
}

func medianRate(passes int, bytes units.Bytes, work func()) units.Rate {
	work() // touch the pages
	times := make([]units.Time, passes)
	for i := range times {
		began := time.Now()
		work()
		times[i] = max(1, units.Time(time.Since(began).Nanoseconds())*units.Nanosecond)
		for j := i; j > 0 && times[j] < times[j-1]; j-- {
			times[j], times[j-1] = times[j-1], times[j]
		}
	}
	return max(1, bytes.Per(times[passes/2]))
}
