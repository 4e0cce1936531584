package planner

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/topologies"
)

func load(t *testing.T, name string, nodes int) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// The published optima of the cube meshes need every link in a ring: 3 and 2 undirected
// rings, used both ways. A full mesh of 8 has 7 directed ones.
func TestDisjointRingsUseEveryLink(t *testing.T) {
	for name, want := range map[string]int{"dgx1-v100": 6, "dgx1-p100": 4, "mi300x-node": 7} {
		topo := load(t, name, 0)
		ranks := identity(topo.NumRanks())
		rings := disjointRings(topo, ranks)
		if len(rings) != want {
			t.Errorf("%s: %d rings, want %d", name, len(rings), want)
		}
		free := directGraph(topo, ranks)
		for _, ring := range rings {
			seen := map[int32]bool{}
			for i, a := range ring {
				b := ring[(i+1)%len(ring)]
				if free.count[a][b]--; free.count[a][b] < 0 {
					t.Fatalf("%s: link %d→%d is used too often", name, a, b)
				}
				seen[a] = true
			}
			if len(seen) != topo.NumRanks() {
				t.Errorf("%s: ring %v leaves ranks out", name, ring)
			}
		}
	}
}

// Between nodes, alternating rings leave on the rail that they arrive on, and all NICs
// carry the same number of rings each way.
func TestAlternatingRingsStayOnTheirRail(t *testing.T) {
	for _, name := range []string{"dgx-h100", "dgx1-v100"} {
		topo := load(t, name, 4)
		r := newRequest(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, Options{})
		orders := r.nodeCrossings(true)
		out, in := map[string]int{}, map[string]int{}
		for _, order := range orders {
			for i, a := range order {
				b := order[(i+1)%len(order)]
				if topo.NodeOf(int(a)) == topo.NodeOf(int(b)) {
					continue
				}
				route, err := r.router.Route(int(a), int(b))
				if err != nil {
					t.Fatal(err)
				}
				if int(a)%8 != int(b)%8 {
					t.Errorf("%s: the hop %d→%d changes rails", name, a, b)
				}
				out[topo.DeviceName(route.NICs[0])]++
				in[topo.DeviceName(route.NICs[1])]++
			}
		}
		for nic, n := range out {
			if n*len(out) != len(orders)*topo.NumNodes() || in[nic] != n {
				t.Errorf("%s: %s sends %d rings and receives %d", name, nic, n, in[nic])
			}
		}
	}
}
