package fit

import (
	"slices"
	"strings"

	"railyard/model/cost"
)

// General fits what the kernels of all machines have in common: what a hop costs and how
// much a chunk is slowed down, while every machine has its own base. Kernels are in the order of their keys' names.
func General(cases []KernelCase) []cost.Kernel {
	pools := map[pool][]KernelCase{}
	for _, c := range cases {
		pools[poolOf(&c)] = append(pools[poolOf(&c)], c)
	}
	var kernels []cost.Kernel
	for p, list := range pools {
		inOrder(list)
		m := newKernelModel(list, ofPool(list), true)
		s := m.solve(list)
		for _, name := range collectives(list) {
			k := m.kernel(s, list, func(base string) bool { return slices.Contains(strings.Fields(base), name) })
			k.KernelKey = cost.KernelKey{Collective: name, Algorithm: p.algorithm, Protocol: p.protocol, Over: p.over}
			k.Rows = countOf(list, name)
			kernels = append(kernels, k)
		}
	}
	slices.SortFunc(kernels, byName)
	return kernels
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
