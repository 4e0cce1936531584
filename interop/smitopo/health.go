package smitopo

import (
	"cmp"
	"strconv"
	"strings"

	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"
)

// distances are how far an adapter is, as nic_far of facts.yaml counts.
var distances = map[Kind]int{PIX: 0, PXB: 1, PHB: 2, NODE: 2, SYS: 3}

// Say adds what the matrix tells to what is known of a machine: NVLinks that are up, the ways to adapters, NUMA nodes.
func (m *Matrix) Say(s *health.State, from string) {
	for i := range m.GPUs() {
		p := s.GPU(i)
		if n := m.linksOf(i); n > 0 || m.without() {
			s.Say(p, "links_up", float64(n), from)
		}
		if _, err := units.ParseRanges(m.Devices[i].CPUs, topology.MaxProcessors); err == nil && m.Devices[i].CPUs != "" {
			s.Say(p, "cpus", m.Devices[i].CPUs, from)
		}
		if first, _, _ := strings.Cut(m.Devices[i].NUMA, "-"); first != "" {
			if n, err := strconv.Atoi(first); err == nil {
				s.Say(p, "numa", float64(n), from)
			}
		}
		for j := m.GPUs(); j < len(m.Devices); j++ {
			if d, ok := distances[m.Cells[i][j].Kind]; ok {
				s.Say(s.PathTo(i, cmp.Or(m.Devices[j].Adapter, m.Devices[j].Name)), "far", float64(d), from)
			}
		}
	}
}

// without reports whether a GPU without NVLinks has lost them: where the others have a fabric, of which some reach more than a bridge
// joins, and are more; or where no GPU has any and the legend explains what they would look like.
func (m *Matrix) without() bool {
	linked, most := 0, 0
	for i := range m.GPUs() {
		peers := 0
		for j := range m.GPUs() {
			if m.Cells[i][j].Links > 0 {
				peers++
			}
		}
		linked, most = linked+min(peers, 1), max(most, peers)
	}
	return most > 1 && 2*linked > m.GPUs() || linked == 0 && m.nvlinks
}

// linksOf is how many NVLinks of a GPU are up. Over switches it reaches each other GPU with all of them, which together is more than
// any has.
func (m *Matrix) linksOf(gpu int) int {
	most, sum := 0, 0
	for j := range m.GPUs() {
		most, sum = max(most, m.Cells[gpu][j].Links), sum+m.Cells[gpu][j].Links
	}
	if sum > ports {
		return most
	}
	return sum
}
