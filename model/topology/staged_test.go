package topology_test

import (
	"testing"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// A way through host memory takes what was measured from a GPU there and back, in which usual links are; links that take more than
// usual ones add that.
func TestStagedLatencyHasItsLinks(t *testing.T) {
	for name, class := range map[string]string{"rtx2080ti-server": "pcie3x16", "rtx4090-server": "pcie4x16"} {
		latency := func(set ...string) units.Time {
			x, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 1, Set: set})
			if err != nil {
				t.Fatal(err)
			}
			r, err := topology.NewRouter(x).Route(0, 1)
			if err != nil || r.Kind != topology.HostStaged {
				t.Fatalf("%s: %v, %v", name, r.Kind, err)
			}
			return r.Latency
		}
		usual := latency()
		if want := 2650 * units.Nanosecond; usual != want {
			t.Errorf("%s: %v, want %v", name, usual, want)
		}
		if got := latency("classes." + class + ".latency=1500ns"); got != usual+4*units.Microsecond { // two links up and two down
			t.Errorf("%s with links of 1 µs more: %v, usually %v", name, got, usual)
		}
	}
}
