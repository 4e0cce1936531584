package topology_test

import (
	"testing"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// TestDistances: from several ranks, as relaxing every link again and again finds them; the nearest
// rank is one that far away.
func TestDistances(t *testing.T) {
	for _, name := range []string{"dgx1-v100", "dgx-h100", "pcie4-server"} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		from := []topology.DeviceID{topo.Ranks()[0], topo.Ranks()[topo.NumRanks()-1]}
		relaxed := func(from ...topology.DeviceID) []units.Time {
			dist := make([]units.Time, len(topo.Devices()))
			for d := range dist {
				dist[d] = units.MaxTime
			}
			for _, d := range from {
				dist[d] = 0
			}
			for again := true; again; {
				again = false
				for i, l := range topo.Links() {
					if at := dist[l.From]; at < units.MaxTime && at+topo.Class(topology.LinkID(i)).Latency < dist[l.To] {
						dist[l.To], again = at+topo.Class(topology.LinkID(i)).Latency, true
					}
				}
			}
			return dist
		}
		want, alone := relaxed(from...), [][]units.Time{relaxed(from[0]), relaxed(from[1])}
		dist, nearest := topo.Distances((*topology.Class).Full, from...)
		for d := range dist {
			if dist[d] != want[d] || (nearest[d] < 0) != (want[d] == units.MaxTime) || nearest[d] >= 0 && alone[nearest[d]][d] != want[d] {
				t.Errorf("%s: %s is %v from rank %d, want %v", name, topo.DeviceName(topology.DeviceID(d)), dist[d], nearest[d], want[d])
			}
		}
	}
}
