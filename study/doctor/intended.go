package doctor

import (
	"slices"
	"strconv"

	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
)

// Describe adds what a topology file says of a machine to what is known of it: what `railyard discover` found, or somebody wrote.
func Describe(s *health.State, t *topology.Topology, from string) {
	router, nics := topology.NewRouter(t), nicsOf(t)
	s.Say(s.Host(), "gpus", float64(t.NumRanks()), from)
	if isAMD(t) {
		s.Say(s.Host(), "maker", health.AMD, from)
	}
	s.Say(s.Host(), "nics", float64(len(nics)), from)
	for r, d := range t.Ranks() {
		p := s.GPU(r)
		s.Say(p, "links_up", float64(linksOf(t, d, between...)), from)
		s.Say(p, "peers_reached", float64(reached(router, t, r, nil)), from)
		s.Say(p, "pcie_line", rateOf(t, d, topology.PCIe), from)
		if len(nics) > 0 {
			nic, far := nearest(router, d, nics)
			s.Say(p, "nic", t.DeviceName(nic), from)
			s.Say(p, "nic_far", far, from)
		}
	}
}

// intend adds what a node of a topology should have to what is known of the machine: what belongs to the GPUs themselves also where
// the topology was guessed by them, network and PCIe only where it was named.
func intend(s *health.State, t *topology.Topology, named bool) {
	from := "topology " + t.Name()
	s.Set(s.Host(), "gpus_intended", float64(t.NumRanks()), from)
	if isAMD(t) {
		s.Say(s.Host(), "maker", health.AMD, from)
	}
	router, nics := topology.NewRouter(t), nicsOf(t)
	for _, p := range s.Parts(health.GPU) {
		d, ok := gpuOf(t, p.Name)
		if !ok {
			continue
		}
		s.Set(p, "links_normal", float64(linksOf(t, d, between...)), from)
		s.Set(p, "peers_intended", float64(reached(router, t, t.RankOf(d), s)), from)
		if named {
			s.Set(p, "pcie_line_intended", rateOf(t, d, topology.PCIe), from)
		}
		if named && len(nics) > 0 {
			_, far := nearest(router, d, nics)
			s.Set(p, "nic_far_normal", far, from)
		}
	}
	if !named || len(nics) == 0 {
		return
	}
	s.Set(s.Host(), "nics_intended", float64(len(nics)), from)
	for _, p := range s.Parts(health.NIC) {
		if i := slices.IndexFunc(t.Classes(), func(c topology.Class) bool { return c.Medium == topology.Network }); i >= 0 {
			s.Set(p, "rate_intended", t.Classes()[i].Rate.GBps()*8, from)
		}
	}
}

// between are the media of links between GPUs.
var between = []topology.Medium{topology.NVLink, topology.XGMI}

// isAMD reports whether the GPUs of a topology are AMD's.
func isAMD(t *topology.Topology) bool {
	m := t.Devices()[t.Ranks()[0]].Model
	return m >= 0 && survey.IsAMD(t.Models()[m].Name)
}

// linksOf is how many links of some media a device has.
func linksOf(t *topology.Topology, d topology.DeviceID, media ...topology.Medium) (n int) {
	for _, l := range over(t, d, media...) {
		n += int(t.Links()[l].Count)
	}
	return n
}

// rateOf is what a device's links of a medium carry together, in GB/s.
func rateOf(t *topology.Topology, d topology.DeviceID, medium topology.Medium) (sum float64) {
	for _, l := range over(t, d, medium) {
		sum += t.Rate(l).GBps()
	}
	return sum
}

// nicsOf are the adapters of the first node.
func nicsOf(t *topology.Topology) (out []topology.DeviceID) {
	for d, x := range t.Devices() {
		if x.Kind == topology.NIC && x.Node == t.Devices()[t.Ranks()[0]].Node {
			out = append(out, topology.DeviceID(d))
		}
	}
	return out
}

// reached is how many other ranks a rank reaches without a copy in host memory; where a state is given, of the GPUs that it knows: those
// that are missing, or that the job whose words were read does not use, are no fault of this one's.
func reached(r *topology.Router, t *topology.Topology, rank int, s *health.State) (n int) {
	for other := range t.Ranks() {
		if s != nil && !s.Has(health.GPU, strconv.Itoa(other)) {
			continue
		}
		if _, err := r.Route(rank, other); err == nil && other != rank && !r.Staged(rank, other) {
			n++
		}
	}
	return n
}

// nearest is the nearest adapter of a device, and how far it is, as health.PathWords counts.
func nearest(r *topology.Router, d topology.DeviceID, nics []topology.DeviceID) (best topology.DeviceID, far float64) {
	best, far = nics[0], 3
	for _, nic := range nics {
		for _, p := range r.Paths(d, nic) {
			if x := slices.Index([]topology.RouteKind{topology.PIX, topology.PXB, topology.PHB}, p.Kind); x >= 0 && float64(x) < far {
				best, far = nic, float64(x)
			}
		}
	}
	return best, far
}
