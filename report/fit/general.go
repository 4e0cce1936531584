package fit

import (
	"maps"
	"slices"
	"strings"

	"railyard/model/cost"
)

// General fits what the kernels of all machines have in common: what a hop costs and how
// much a chunk is slowed down, while every machine has its own base. Kernels are in the order of their keys' names. With
// heldOut each is judged by series left out in turn, whose base it does not know.
func General(cases []KernelCase, heldOut bool) []cost.Kernel {
	pools := map[pool][]KernelCase{}
	for _, c := range cases {
		pools[poolOf(&c)] = append(pools[poolOf(&c)], c)
	}
	var kernels []cost.Kernel
	for p, list := range pools {
		inOrder(list)
		m := newKernelModel(list, ofPool(list), true)
		s := m.solve(list)
		unseen := 0.0
		if heldOut {
			unseen = round(seriesLeftOut(list, m.belief), 1e4)
		}
		for _, name := range collectives(list) {
			k := m.kernel(s, list, func(base string) bool { return slices.Contains(strings.Fields(base), name) })
			k.KernelKey = cost.KernelKey{Collective: name, Algorithm: p.algorithm, Protocol: p.protocol, Over: p.over}
			k.HeldOut, k.Rows = unseen, countOf(list, name)
			kernels = append(kernels, k)
		}
	}
	slices.SortFunc(kernels, byName)
	return kernels
}

// seriesLeftOut is the mean error on each series with the kernel of all others; where
// there are no others, with what is believed.
func seriesLeftOut(cases []KernelCase, b belief) float64 {
	bySeries := map[string][]KernelCase{}
	for _, c := range cases {
		bySeries[c.Series] = append(bySeries[c.Series], c)
	}
	if len(bySeries) == 1 {
		m := newKernelModel(cases, b, false)
		return m.mape(m.believed(), cases)
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(bySeries)) {
		rest := slices.DeleteFunc(slices.Clone(cases), func(c KernelCase) bool { return c.Series == name })
		m := newKernelModel(rest, b, true)
		s := m.solve(rest)
		mean := *m // with one base, that of the machines together
		mean.bases = []string{""}
		s.x = append([]float64{average(s.x[:len(m.bases)])}, s.x[len(m.bases):]...)
		sum += mean.mape(s, bySeries[name]) * float64(len(bySeries[name]))
	}
	return sum / float64(len(cases))
}

func average(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// pool are kernels that move data in the same way.
type pool struct{ family, algorithm, protocol, over string }

func poolOf(c *KernelCase) pool {
	return pool{familyOf(c.Collective, c.Algorithm), c.Algorithm, c.Protocol, c.Over}
}

// around is the family of rings that pass everything around.
const around = "around"

// familyOf are the collectives that an algorithm makes alike: rings go around, or are
// chains from or to a root.
func familyOf(collective, algorithm string) string {
	switch {
	case algorithm != "ring":
		return collective
	case collective == "broadcast" || collective == "reduce":
		return "chain"
	}
	return around
}

// ofPool is what is expected of a pool: the library's constants, less surely across a network.
func ofPool(cases []KernelCase) belief {
	if cases[0].NetHops > 0 {
		return belief{cases[0].Prior, ofFabrics}
	}
	return belief{cases[0].Prior, ofConstants}
}

// collectives are those that cases are of.
func collectives(cases []KernelCase) []string {
	var out []string
	for _, c := range cases {
		if !slices.Contains(out, c.Collective) {
			out = append(out, c.Collective)
		}
	}
	slices.Sort(out)
	return out
}

// relatedKeys are the keys of general kernels that a kernel is near to, the nearest first.
func relatedKeys(key cost.KernelKey) []cost.KernelKey {
	key.Graph = false
	out := []cost.KernelKey{key}
	for _, c := range []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"} {
		if c != key.Collective && familyOf(c, key.Algorithm) == familyOf(key.Collective, key.Algorithm) {
			like := key
			like.Collective = c
			out = append(out, like)
		}
	}
	return out
}

func countOf(cases []KernelCase, collective string) int {
	n := 0
	for i := range cases {
		if cases[i].Collective == collective {
			n++
		}
	}
	return n
}
