package topology_test

import (
	"errors"
	"testing"

	"railyard/model/topology"
)

// What is derived is found once for each topology, and not handed on to changed copies.
func TestOnceForEachTopology(t *testing.T) {
	topo := load(t, "dgx1-v100", 2)
	type key struct{ n int }
	found := 0
	get := func(t *topology.Topology, n int) string {
		return topology.Once(t, key{n}, func() string { found++; return t.Name() })
	}
	degraded, err := topo.Degrade([]topology.Fault{{Part: topology.GPUPart, Name: "node1/gpu3"}})
	if err != nil {
		t.Fatal(err)
	}
	faster, err := topo.Faster("nvlink2", 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, x := range []*topology.Topology{topo, degraded, faster} {
			for n := range 2 {
				if got := get(x, n); got != x.Name() {
					t.Errorf("%s has what was found for %s", x.Name(), got)
				}
			}
		}
	}
	if found != 6 {
		t.Errorf("found %d times", found)
	}
}

// What cannot be found is not sought again.
func TestOnceOrFails(t *testing.T) {
	topo := load(t, "dgx1-v100", 1)
	type key struct{}
	tried, none := 0, errors.New("none")
	for range 2 {
		if _, err := topology.OnceOr(topo, key{}, func() (int, error) { tried++; return 0, none }); err != none || tried != 1 {
			t.Errorf("%v after %d tries", err, tried)
		}
	}
}
