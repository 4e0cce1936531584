package host

import (
	"slices"
	"time"

	"railyard/model/collective"
	"railyard/model/units"
)

// CombineBeyondCopy is what a thread that combines float32 into its memory takes longer
// than one that copies, as a rate in bytes of the result per second; 0 where it takes no
// longer. A receive that reduces makes both in one pass.
func CombineBeyondCopy() units.Rate {
	const elements, passes = 64 << 10, 50 // in the cache, where arithmetic shows
	a, b := make([]float32, elements), make([]float32, elements)
	k := float32Kernels(collective.Sum)
	beyond := medianTime(passes, func() { k.combine(a, a, b) }) - medianTime(passes, func() { copy(a, b) })
	if beyond <= 0 {
		return 0
	}
	return max(1, units.Bytes(elements*4).Per(beyond))
}

func medianTime(passes int, work func()) units.Time {
	work() // touch the pages
	times := make([]units.Time, passes)
	for i := range times {
		began := time.Now()
		work()
		times[i] = units.Time(time.Since(began).Nanoseconds()) * units.Nanosecond
	}
	slices.Sort(times)
	return times[passes/2]
}
