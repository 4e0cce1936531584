package topology_test

import (
	"slices"
	"testing"

	"railyard/internal/long"
	"railyard/model/symmetry"
	"railyard/model/topology"
	"railyard/topologies"
)

// Nodes are alike that are as far from those that are not, in groups of 32 and of four such.
func TestClassesOfNodes(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		faults []string
		sizes  []int // nil: no class is found
	}{
		{8, nil, []int{8}},
		{256, nil, []int{256}},
		{256, []string{"nic:node2/nic3"}, []int{1, 31, 96, 128}},
		{256, []string{"nic:node2/nic3", "nic:node40/nic3"}, []int{2, 62, 64, 128}},
		{256, []string{"nic:node2/nic3", "nic:node40/nic4"}, []int{1, 1, 31, 31, 64, 128}},
		{256, []string{"nic:node2/nic3", "nic:node200/nic3=0.5"}, []int{1, 1, 31, 31, 96, 96}},
		{40, nil, []int{8, 32}},
		{992, nil, []int{96, 896}},
		{1250, nil, []int{2, 96, 1152}},
		{100, []string{"nic:node2/nic3"}, []int{1, 4, 31, 64}},
		{128, []string{"switch:leaf0"}, []int{32, 96}},
		{64, []string{"link:spine0--leaf0"}, []int{32, 32}},
		{256, []string{"link:spine0--leaf0"}, []int{32, 96, 128}},
		{256, []string{"switch:spine3", "switch:spine36"}, []int{256}}, // cores join all spines
		{992, []string{"switch:spine3"}, []int{96, 128, 768}},
		{992, []string{"switch:spine3", "switch:spine36"}, []int{96, 128, 128, 640}}, // which other cores join
	} {
		if !long.Given() && c.nodes == 256 && len(c.faults) != 1 {
			continue
		}
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		topo = degrade(t, topo, c.faults...)
		tree := topo.NodeTree(func(int) int { return 0 })
		classes, ok := topology.NewSymmetry(topo, tree)
		if ok != (c.sizes != nil) {
			t.Errorf("%d nodes without %v: classes %v", c.nodes, c.faults, ok)
			continue
		}
		if !ok {
			continue
		}
		var sizes []int
		for n := range c.nodes {
			if first, size := classes.Orbit(n); first == n {
				sizes = append(sizes, size)
			}
		}
		if slices.Sort(sizes); !slices.Equal(sizes, c.sizes) {
			t.Errorf("%d nodes without %v: classes of %v nodes", c.nodes, c.faults, sizes)
		}
		if c.nodes <= 256 {
			routesGoAlong(t, topo, tree, classes, c.faults)
		}
	}
}

// routesGoAlong holds routes between nodes of the same classes, as far apart, against one
// another: hops over links of the same orbits, with the same shares.
func routesGoAlong(t *testing.T, topo *topology.Topology, tree *symmetry.Tree, group *topology.Symmetry, faults []string) {
	t.Helper()
	type pair struct{ from, to, rail, other int }
	type use struct {
		orbit    topology.LinkID
		num, den int64
	}
	router := topology.NewRouter(topo)
	seen := map[pair]map[use]int{}
	for n := 0; n < topo.NumNodes(); n += 7 {
		for m := 1; m < topo.NumNodes(); m += 11 {
			if n == m {
				continue
			}
			for _, rails := range [][2]int{{3, 3}, {3, 0}, {1, 1}} {
				route, err := router.Route(8*n+rails[0], 8*m+rails[1])
				if err != nil {
					t.Fatal(err)
				}
				uses := map[use]int{}
				for _, h := range route.Hops {
					orbit, _ := group.LinkOrbit(h.Link)
					uses[use{orbit, h.Num, h.Den}]++
				}
				to, _ := group.Pair(n, m)
				p := pair{tree.Class(n), to, rails[0], rails[1]}
				if seen[p] == nil {
					seen[p] = uses
				}
				for u, k := range uses {
					if seen[p][u] != k || len(seen[p]) != len(uses) {
						t.Fatalf("without %v, from node %d to %d: another route than between others of their classes", faults, n, m)
					}
				}
			}
		}
	}
}
