package proof

import (
	"testing"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// TestCarried: channels share the links that they cross; each moves what the fullest link leaves it.
func TestCarried(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{GPUs: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		orders       [][]int
		closed, both bool
		want         units.Rate
	}{
		{[][]int{{0, 1, 2, 3}}, true, false, 25e9},                // 0-1 is one link of 25 GB/s, all others two
		{[][]int{{0, 1, 2, 3}, {0, 1, 2, 3}}, false, false, 25e9}, // both share it
		{[][]int{{0, 1, 2, 3}, {0, 3, 2, 1}}, true, false, 50e9},  // each has a direction of it
		{[][]int{{0, 1, 2, 3}, {0, 3, 2, 1}}, true, true, 25e9},
		{[][]int{{0, 3, 2, 1}}, false, true, 50e9},
		{[][]int{{0, 3}}, false, false, 50e9},
		{[][]int{{0, 3}}, true, false, 50e9}, // one link a direction
	} {
		got, err := Carried(topo, c.orders, c.closed, c.both)
		if err != nil || got != c.want {
			t.Errorf("%v: %v instead of %v, %v", c.orders, got, c.want, err)
		}
	}
}
