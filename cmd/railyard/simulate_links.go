package main

import (
	"cmp"
	"slices"

	"railyard/model/topology"
	"railyard/report"
	"railyard/sim"
)

// maxLinks is how many links are listed one by one; of larger machines, links of equal
// class and load share a line unless every one is asked for.
const maxLinks = 4096

// linkLoads are the links, the busiest first.
func linkLoads(plan *sim.Plan, topo *topology.Topology, loads []sim.LinkLoad, every bool) []report.LinkLoad {
	type key struct {
		class       int32
		bytes, busy float64
	}
	index := map[key]int{}
	out := []report.LinkLoad{}
	for _, l := range loads {
		k := key{topo.Links()[l.Link].Class, l.Bytes, l.Utilisation}
		if i, ok := index[k]; ok && len(loads) > maxLinks && !every {
			out[i].Count++
			continue
		}
		index[k] = len(out)
		out = append(out, report.LinkLoad{ID: plan.LinkName(l), Count: 1, Class: topo.Class(l.Link).Name, Bytes: l.Bytes,
			Utilisation: l.Utilisation})
	}
	slices.SortStableFunc(out, func(a, b report.LinkLoad) int { return cmp.Compare(b.Utilisation, a.Utilisation) })
	return out
}
