package planner

import (
	"slices"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/topologies"
)

// Every pair's units go on paths of links from its source to its destination, no link is fuller than before but for rounding, and
// there are no more paths than pairs and links; also where pairs have unequal data, or none.
func TestFewPathsLoadLinksAlike(t *testing.T) {
	for _, name := range []string{"dgx1-v100", "mi250x-node"} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := topo.NumRanks()
		counts := make([][]int64, n)
		for i := range counts {
			counts[i] = make([]int64, n)
			for j := range counts[i] {
				counts[i][j] = int64((7*i + 3*j) % 5)
			}
		}
		for _, spec := range []collective.Spec{{Kind: collective.AllToAll, Ranks: n}, {Kind: collective.AllToAllV, Ranks: n,
			Counts: counts},
			{Kind: collective.Scatter, Ranks: n, Root: 1}} {
			r := newRequest(topo, spec, Options{})
			g, err := r.flowGraph()
			if err != nil {
				t.Fatal(err)
			}
			all := r.spreadOver(g)
			few := all.inFewPaths()
			before, after := all.fullest()/float64(all.units), few.fullest()/float64(few.units)
			paths, most := 0, 0
			for pair := range n * n {
				units := few.paths[pair*few.units : (pair+1)*few.units]
				src, dst := pair/n, pair%n
				if all.demand[src][dst] > 0 {
					most++
				}
				for i, p := range units {
					if (p != nil) != (all.demand[src][dst] > 0) || p != nil && (int(p[0]) != src || int(p[len(p)-1]) != dst) {
						t.Fatalf("%s %v: a unit from %d to %d goes on %v", name, spec.Kind, src, dst, p)
					}
					if p != nil && (i == 0 || !slices.Equal(p, units[i-1])) {
						paths++
					}
				}
			}
			most += all.g.Resources
			if paths > most || after > 1.005*before {
				t.Errorf("%s %v: %d paths, at most %d; the fullest link has %.4f times as much in %d units", name, spec.Kind, paths, most,
					after/before, few.units)
			}
			t.Logf("%s %v: %d paths in %d units, %.4f", name, spec.Kind, paths, few.units, after/before)
		}
	}
}
