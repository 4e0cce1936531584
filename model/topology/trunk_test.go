package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/internal/gen"
	"railyard/model/topology"
	"railyard/topologies"
)

// checkRoute holds a route of a router that knows others against that of one that does not.
func checkRoute(t *testing.T, topo *topology.Topology, r *topology.Router, src, dst int) {
	t.Helper()
	got, err := r.Route(src, dst)
	want, wantErr := topology.NewRouter(topo).Route(src, dst)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %d→%d: %v, at first %v", topo.Name(), src, dst, err, wantErr)
	}
	if err == nil && src != dst {
		checkFlow(t, topo, got, topo.Ranks()[src], topo.Ranks()[dst])
		checkOrder(t, topo, got, topo.Ranks()[src])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %d→%d differs (-at first +after others)\n%s", topo.Name(), src, dst, d)
	}
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

func TestRoutesDoNotDependOnOthers(t *testing.T) {
	for seed := range int64(80) {
		for _, topo := range []*topology.Topology{gen.Topology(seed), gen.Uneven(seed)} {
			r := topology.NewRouter(topo)
			for src := range topo.NumRanks() {
				for _, dst := range []int{0, topo.NumRanks() / 2, topo.NumRanks() - 1} {
					checkRoute(t, topo, r, src, dst)
				}
			}
		}
	}
}

// A transfer is as slow as what is between its leaves where that is slower than its ends.
func TestTrunksLimit(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 64})
	if err != nil {
		t.Fatal(err)
	}
	before, err := topology.NewRouter(topo).Route(8*40, 0)
	if err != nil {
		t.Fatal(err)
	}
	slow := degrade(t, topo, "link:spine0->leaf0=0.001")
	r := topology.NewRouter(slow)
	after, err := r.Route(8*40, 0)
	if err != nil || after.Rate >= before.Rate {
		t.Errorf("at %v, over a slow link at %v, %v", before.Rate, after.Rate, err)
	}
	checkRoute(t, slow, r, 8*41, 0)
}
