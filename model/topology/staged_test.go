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

// A way to or from an adapter over host memory takes the same, and what that is longer than one by GPUDirect RDMA is what costs that were
// measured with it lack.
func TestStagedAdaptersTakeWhatStagedGPUsDo(t *testing.T) {
	latencies := func(set ...string) (staged, direct topology.Route) {
		x, err := topology.Load(topologies.Source, "a100-quad", topology.Options{Nodes: 2, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		for reach, r := range map[*topology.Route]*topology.Router{
			&staged: topology.NewRouter(x), &direct: topology.NewRouter(x).Reaching(topology.HostStaged)} {
			if *reach, err = r.Route(0, x.NumRanks()-1); err != nil {
				t.Fatal(err)
			}
		}
		return staged, direct
	}
	staged, direct := latencies()
	const more = 2 * (2650 - 2*500) * units.Nanosecond // at either end, instead of two links
	if staged.Latency-direct.Latency != more || staged.Beyond-direct.Beyond != more {
		t.Errorf("%v (%v beyond) staged, %v (%v) directly", staged.Latency, staged.Beyond, direct.Latency, direct.Beyond)
	}
	slow, slowDirect := latencies("classes.pcie4x16.latency=1500ns") // of a GPU to its CPU, and to the adapter
	if slow.Latency-staged.Latency != slowDirect.Latency-direct.Latency || slow.Beyond-staged.Beyond != slowDirect.Beyond-direct.Beyond {
		t.Errorf("with longer links %v (%v beyond) staged, %v (%v) directly", slow.Latency, slow.Beyond, slowDirect.Latency, slowDirect.Beyond)
	}
}
