package fit

import (
	"railyard/model/cost"
	"railyard/model/units"
)

// hops are what a dependent step takes on one machine, in each pool: its collectives, on all their numbers of ranks, tell it together,
// where one kernel is often of a single number, which cannot tell hops from the base.
type hops map[pool]units.Time

// hopsOf are those of a machine's cases, near what all machines have (ofHops).
func hopsOf(cases []KernelCase, general *cost.Profile) hops {
	pools := map[pool][]KernelCase{}
	for _, c := range cases {
		pools[poolOf(&c)] = append(pools[poolOf(&c)], c)
	}
	out := hops{}
	for p, list := range pools {
		inOrder(list)
		b := parent(list[0].KernelKey, list, general)
		if b.spread != ofMachine || list[0].NetHops > 0 {
			continue // nothing is known of other machines, or hops inside nodes are few beside those of the network
		}
		b.hop = ofHops
		m := newKernelModel(list, b, true)
		out[p] = picoseconds(m.solve(list).x[m.hopAt()])
	}
	return out
}

// near is what is believed of a kernel, with the machine's hop.
func (h hops) near(b belief, c *KernelCase) belief {
	if hop, ok := h[poolOf(c)]; ok {
		b.Hop = hop
	}
	return b
}
