package planner

import (
	"fmt"
	"slices"
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
// rings, used both ways. A full mesh of 8 has 7 directed ones, a torus one each way for
// each dimension.
func TestDisjointRingsUseEveryLink(t *testing.T) {
	for _, c := range []struct {
		topo *topology.Topology
		want int
	}{
		{load(t, "dgx1-v100", 0), 6}, {load(t, "dgx1-p100", 0), 4}, {load(t, "mi300x-node", 0), 7},
		{torus(t, "3, 3", 9), 4}, {torus(t, "8, 8", 64), 4}, {torus(t, "4, 4, 4", 64), 6}, {torus(t, "3, 4, 5", 60), 6},
		{torus(t, "2, 3, 3", 18), 5},
	} {
		ranks := identity(c.topo.NumRanks())
		rings := disjointRings(c.topo, ranks)
		if len(rings) != c.want {
			t.Errorf("%s: %d rings, want %d", c.topo.Name(), len(rings), c.want)
		}
		free := directGraph(c.topo, ranks)
		for _, ring := range rings {
			seen := map[int32]bool{}
			for i, a := range ring {
				b := ring[(i+1)%len(ring)]
				if free.count[a][b]--; free.count[a][b] < 0 {
					t.Fatalf("%s: link %d→%d is used too often", c.topo.Name(), a, b)
				}
				seen[a] = true
			}
			if len(seen) != c.topo.NumRanks() {
				t.Errorf("%s: ring %v leaves ranks out", c.topo.Name(), ring)
			}
		}
	}
}

func torus(t *testing.T, dims string, n int) *topology.Topology {
	t.Helper()
	topo, err := topology.Parse("torus.yaml", fmt.Appendf(nil, `
schema: railyard.topology/v1
name: "torus %s"
source: test
date: 2026-11-21
classes: {ici: {medium: nvlink, rate: 50GB/s, latency: 500ns, source: test, date: 2026-11-21}}
devices: [{id: "gpu[0-%d]", kind: gpu}]
links: [{grid: "gpu[0-%d]", dims: [%s], wrap: true, class: ici}]
`, dims, n-1, n-1, dims), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
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

// A ring that a slow link holds up gets as much less of the data: two of the four rings
// of five GPUs, one each way, go over the slow link.
func TestSlowLinkGetsSmallerShare(t *testing.T) {
	topo, err := topology.Parse("slow.yaml", []byte(`
schema: railyard.topology/v1
name: slow
source: test
date: 2026-11-21
classes:
  fast: {medium: nvlink, rate: 50GB/s, latency: 500ns, source: test, date: 2026-11-21}
  slow: {medium: nvlink, rate: 20GB/s, latency: 500ns, source: test, date: 2026-11-21}
devices: [{id: "gpu[0-4]", kind: gpu}]
links:
  - {from: gpu0, to: gpu1, class: slow}
  - {from: gpu0, to: gpu2, class: fast}
  - {from: gpu0, to: gpu3, class: fast}
  - {from: gpu0, to: gpu4, class: fast}
  - {from: gpu1, to: gpu2, class: fast}
  - {from: gpu1, to: gpu3, class: fast}
  - {from: gpu1, to: gpu4, class: fast}
  - {from: gpu2, to: gpu3, class: fast}
  - {from: gpu2, to: gpu4, class: fast}
  - {from: gpu3, to: gpu4, class: fast}
`), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: 5}, "ring", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var shares []int64
	for _, ch := range s.Channels {
		shares = append(shares, ch.Share)
	}
	slices.Sort(shares)
	if !slices.Equal(shares, []int64{2, 2, 5, 5}) {
		t.Errorf("shares %v", shares)
	}
}
