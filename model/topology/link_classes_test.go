package topology_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/symmetry"
	"railyard/model/topology"
	"railyard/topologies"
)

// TestRoutesTellNoLinksOfAnOrbitApart: where no node may move, links of one orbit are those on which every route puts as much.
func TestRoutesTellNoLinksOfAnOrbitApart(t *testing.T) {
	topos := map[string]*topology.Topology{}
	for _, x := range []struct {
		name  string
		nodes int
		fault string
	}{
		{"leaf-spine-roce", 20, ""}, {"superpod-h100", 130, ""}, {"superpod-h100", 130, "switch:spine3"}, {"superpod-h100", 130, "switch:core1"},
		{"superpod-h100", 130, "link:leaf1--spine1=0.5"}, {"gb200-nvl72", 36, "nic:tray3/nic1"},
	} {
		topo, err := topology.Load(topologies.Source, x.name, topology.Options{Nodes: x.nodes})
		if err == nil && x.fault != "" {
			topo, err = topo.Degrade(gen.Faults(x.fault))
		}
		if err != nil {
			t.Fatal(x, err)
		}
		topos[topo.Name()] = topo
	}
	for seed := range int64(20) {
		topo := gen.Topology(seed)
		topos[topo.Name()] = topo
	}
	joined := 0
	for name, topo := range topos {
		s, ok := topology.NewSymmetry(topo, symmetry.Digits{})
		if !ok {
			t.Fatal(name)
		}
		router := topology.NewRouter(topo)
		for a := 0; a < topo.NumRanks(); a += topo.NumRanks()/9 + 1 {
			for b := range topo.NumRanks() {
				if b%3 == 0 && a != b {
					joined += evenly(t, s, router, a, b)
				}
			}
		}
	}
	if joined < 1000 {
		t.Errorf("only %d links beside others", joined)
	}
}

// evenly checks one route, and returns how many links stand beside others of their orbit.
func evenly(t *testing.T, s *topology.Symmetry, router *topology.Router, a, b int) (joined int) {
	t.Helper()
	route, err := router.Route(a, b)
	if err != nil {
		return 0
	}
	type share struct {
		orbit    topology.LinkID
		num, den int64
	}
	links := map[share]int{}
	for _, h := range route.Hops {
		first, size := s.LinkOrbit(h.Link)
		links[share{first, h.Num, h.Den}]++
		if size > 1 {
			joined++
		}
	}
	for x, n := range links {
		if _, size := s.LinkOrbit(x.orbit); n != size {
			t.Errorf("%d of %d links like link %d carry %d/%d from %d to %d", n, size, x.orbit, x.num, x.den, a, b)
		}
	}
	return joined
}
