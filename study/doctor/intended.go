package doctor

import (
	"railyard/model/health"
	"railyard/model/topology"
)

// intend adds what a node of a topology should have to what is known of the machine.
func intend(s *health.State, t *topology.Topology) {
	from := "topology " + t.Name()
	s.Set(s.Host(), "gpus_intended", float64(t.NumRanks()), from)
	for _, p := range s.Parts(health.GPU) {
		if d, ok := gpuOf(t, p.Name); ok {
			s.Set(p, "links_intended", float64(linksOf(t, d, topology.NVLink, topology.XGMI)), from)
		}
	}
}

// linksOf is how many links of some media a device has.
func linksOf(t *topology.Topology, d topology.DeviceID, media ...topology.Medium) (n int) {
	for _, l := range over(t, d, media...) {
		n += int(t.Links()[l].Count)
	}
	return n
}
