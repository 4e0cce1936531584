package topology_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/internal/gen"
	"railyard/model/topology"
	"railyard/topologies"
)

// checkEnds holds a route in parts against the whole one. It returns the trunk.
func checkEnds(t *testing.T, topo *topology.Topology, r *topology.Router, src, dst int) *topology.Trunk {
	t.Helper()
	ends, trunk, err := r.Ends(src, dst)
	whole, wholeErr := topology.NewRouter(topo).Route(src, dst)
	if (err == nil) != (wholeErr == nil) {
		t.Fatalf("%s: %d→%d: in parts %v, whole %v", topo.Name(), src, dst, err, wholeErr)
	}
	if err == nil && src != dst {
		checkFlow(t, topo, whole, topo.Ranks()[src], topo.Ranks()[dst])
		checkOrder(t, topo, whole, topo.Ranks()[src])
	}
	if trunk != nil {
		at := slices.IndexFunc(whole.Hops, func(h topology.Hop) bool { return h == trunk.Hops[0] })
		if at < 0 {
			t.Fatalf("%s: %d→%d: not through its trunk", topo.Name(), src, dst)
		}
		ends.Hops = slices.Concat(ends.Hops[:at], trunk.Hops, ends.Hops[at:])
	}
	if d := cmp.Diff(whole, ends); d != "" {
		t.Errorf("%s: %d→%d in parts differs (-whole +parts)\n%s", topo.Name(), src, dst, d)
	}
	return trunk
}

// checkOrder fails where a hop leaves a device before the transfer is there.
func checkOrder(t *testing.T, topo *topology.Topology, r topology.Route, src topology.DeviceID) {
	t.Helper()
	reached := map[topology.DeviceID]bool{src: true}
	for _, h := range r.Hops {
		l := topo.Links()[h.Link]
		if !reached[l.From] {
			t.Fatalf("%s: %s out of order", topo.Name(), topo.LinkName(h.Link))
		}
		reached[l.To] = true
	}
}

func TestPartsAreTheWholeRoute(t *testing.T) {
	trunks := 0
	for seed := range int64(80) {
		for _, topo := range []*topology.Topology{gen.Topology(seed), gen.Uneven(seed)} {
			r := topology.NewRouter(topo)
			for src := range topo.NumRanks() {
				for _, dst := range []int{0, topo.NumRanks() / 2, topo.NumRanks() - 1} {
					if checkEnds(t, topo, r, src, dst) != nil {
						trunks++
					}
				}
			}
		}
	}
	if trunks == 0 {
		t.Error("no route has a trunk")
	}
}

// A transfer is as slow as its trunk where that is slower than its ends.
func TestTrunksLimit(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 64})
	if err != nil {
		t.Fatal(err)
	}
	before, _, err := topology.NewRouter(topo).Ends(8*40, 0)
	if err != nil {
		t.Fatal(err)
	}
	slow := degrade(t, topo, "link:spine0->leaf0=0.001")
	after, trunk, err := topology.NewRouter(slow).Ends(8*40, 0)
	if err != nil || trunk == nil || after.Rate >= before.Rate {
		t.Errorf("at %v, over a slow link at %v, %v", before.Rate, after.Rate, err)
	}
	checkEnds(t, slow, topology.NewRouter(slow), 8*40, 0)
}

// Routes between the same leaves have one trunk, others have another; where networks hash,
// each flow has its own way.
func TestTrunksAreShared(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 160})
	if err != nil {
		t.Fatal(err)
	}
	r := topology.NewRouter(topo)
	first := checkEnds(t, topo, r, 8*130, 0)
	if first == nil || len(first.Hops) < 100 {
		t.Fatalf("three levels of switches: trunk %v", first)
	}
	if again := checkEnds(t, topo, r, 8*159, 8*31); again != first {
		t.Error("the same leaves, another trunk")
	}
	for _, other := range [][2]int{{0, 8 * 130}, {8 * 130, 8 * 32}, {8*130 + 1, 1}} {
		if checkEnds(t, topo, r, other[0], other[1]) == first {
			t.Errorf("%v: other leaves, the same trunk", other)
		}
	}
	if trunk := checkEnds(t, topo, r, 8*31, 0); trunk != nil {
		t.Error("a trunk from a leaf to itself")
	}
	if _, trunk, err := topology.NewECMPRouter(topo, 1).Ends(8*130, 0); trunk != nil || err != nil {
		t.Errorf("hashed: trunk %v, %v", trunk, err)
	}
}
