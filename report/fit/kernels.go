package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/units"
)

// KernelCase is a measured run of one kernel (see cost.Kernel) with its work.
type KernelCase struct {
	cost.KernelKey
	Hops, NetHops, Steps float64
	Drains               float64
	Chunk                units.Bytes
	Passes               float64     // hops at Line of the chain that the chunk goes down; 0: it goes down none
	Line                 float64     // bytes/s
	Prior                cost.Kernel // what the library's constants say
	Ranks                int
	Latency, Bytes       float64 // ps: the library's own estimate, in parts
	Machine              string  // profile that it is for
	System               string  // that it was measured on
	Series               string  // cases of one series share their machine and run
	Size                 units.Bytes
	Time                 units.Time
}

// leastCases is how many measurements a kernel needs: what they leave open comes from
// kernels of other machines.
const leastCases = 2

// Kernels fits a kernel for each key that has enough cases, in the order of the keys'
// names; the keys that have not are returned with their number of cases. What few cases
// cannot tell is near the general kernel that moves data in the same way (see belief).
// With heldOut each kernel is also judged by rows left out in turn, which takes longer.
func Kernels(cases []KernelCase, general *cost.Profile, heldOut bool) (kernels []cost.Kernel, left map[cost.KernelKey]int) {
	byKey := map[cost.KernelKey][]KernelCase{}
	for _, c := range cases {
		byKey[c.KernelKey] = append(byKey[c.KernelKey], c)
	}
	left = map[cost.KernelKey]int{}
	hops := hopsOf(cases, general)
	for key, list := range byKey {
		if len(list) < leastCases {
			left[key] = len(list)
			continue
		}
		kernels = append(kernels, fitKernel(key, list, hops.near(parent(key, list, general), &list[0]), heldOut))
	}
	slices.SortFunc(kernels, byName)
	return kernels, left
}

func byName(a, b cost.Kernel) int { return cmp.Compare(keyText(a.KernelKey), keyText(b.KernelKey)) }

func keyText(k cost.KernelKey) string {
	return fmt.Sprintf("%v %s %s %s %s", k.Graph, k.Over, k.Collective, k.Algorithm, k.Protocol)
}

// parent is what is believed about a kernel before its own cases are seen: the general
// profile's, else what the library's constants say.
func parent(key cost.KernelKey, cases []KernelCase, general *cost.Profile) belief {
	if general != nil {
		for _, like := range relatedKeys(key) {
			if k := general.Kernel(like); k != nil {
				return belief{*k, ofMachine}
			}
		}
	}
	return belief{cases[0].Prior, ofConstants}
}

func fitKernel(key cost.KernelKey, cases []KernelCase, b belief, heldOut bool) cost.Kernel {
	inOrder(cases)
	k := newKernelModel(cases, b, false).fit(cases)
	k.KernelKey = key
	if heldOut {
		k.HeldOut = round(heldOutError(cases, b), 1e4)
	}
	return k
}

// inOrder sorts cases by ranks and size, so that every fold covers all sizes.
func inOrder(cases []KernelCase) {
	slices.SortStableFunc(cases, func(a, b KernelCase) int {
		return cmp.Or(cmp.Compare(a.Ranks, b.Ranks), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Series, b.Series))
	})
}

// heldOutError leaves every fifth case out in turn.
func heldOutError(cases []KernelCase, b belief) float64 {
	sum, count := 0.0, 0.0
	for f := range folds {
		var train, test []KernelCase
		for i, c := range cases {
			if i%folds == f {
				test = append(test, c)
			} else {
				train = append(train, c)
			}
		}
		if len(test) == 0 || len(train) == 0 {
			continue
		}
		m := newKernelModel(train, b, false)
		sum += m.mape(m.solve(train), test) * float64(len(test))
		count += float64(len(test))
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// picoseconds rounds to nanoseconds: more digits would be noise.
func picoseconds(ps float64) units.Time { return units.Time(math.Round(ps/1e3)) * units.Nanosecond }

func round(v, scale float64) float64 { return math.Round(v*scale) / scale }
