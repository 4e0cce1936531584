package health

import (
	"cmp"
	"slices"
	"strconv"

	"railyard/model/survey"
)

// pathWords are where an adapter is from a GPU, nearest first.
var pathWords = []string{"on its PCIe switch", "across PCIe switches", "across its CPU", "on another socket"}

// PathWords say where an adapter is, by how far that is; the last where it is farther.
func PathWords(far int) string { return pathWords[min(max(far, 0), len(pathWords)-1)] }

// SayNode adds what a survey of the machine found: its links, which GPUs reach one another, and the ways to its adapters.
func (s *State) SayNode(n *survey.Node, from string) {
	linked := slices.ContainsFunc(n.GPUs, func(g survey.GPU) bool { return len(g.Ports) > 0 }) // whoever surveyed it sees links
	for i := range n.GPUs {
		g, p := &n.GPUs[i], s.GPU(i)
		if g.Bus != "" {
			s.Say(p, "bus", g.Bus, from)
		}
		if at := n.PCI[g.Bus].CPU; at < len(n.Processors) && n.Processors[at] != "" {
			s.Say(p, "cpus", n.Processors[at], from)
		}
		up := 0
		for _, port := range g.Ports {
			if port.Up {
				up++
			}
		}
		if linked {
			s.Say(p, "links_up", float64(up), from)
		}
		if g.Arch != "" {
			s.Say(s.Host(), "maker", AMD, from)
		}
		if len(g.Peers) > 0 {
			reached := 0
			for j, peer := range g.Peers {
				if j != i && (peer.NVLink || peer.PCIe) {
					reached++
				}
			}
			s.Say(p, "peers_reached", float64(reached), from)
		}
	}
	for _, a := range n.Adapters {
		if a.Rate > 0 && a.Name != "" {
			s.Say(s.Part(NIC, a.Name), "rate", float64(a.Rate)*8/1e9, from)
		}
	}
	s.AddPaths(n, from)
}

// AddPaths adds how far the adapters of a survey are from its GPUs.
func (s *State) AddPaths(n *survey.Node, from string) {
	for g := range n.GPUs {
		for i, a := range n.Adapters {
			here, ok := n.PCI[n.GPUs[g].Bus]
			there, also := n.PCI[a.Bus]
			if ok && also {
				s.Say(s.PathTo(g, cmp.Or(a.Name, "adapter "+strconv.Itoa(i))), "far", float64(far(here, there)), from)
			}
		}
	}
}

// far is how far two devices are from one another: 0 below one PCIe switch, 1 over several, 2 over the CPU, 3 over another.
func far(a, b survey.PCI) int {
	switch {
	case a.CPU != b.CPU:
		return 3
	case len(a.Above) > 0 && len(b.Above) > 0 && a.Above[0] == b.Above[0]:
		return 0
	case slices.ContainsFunc(a.Above, func(x string) bool { return slices.Contains(b.Above, x) }):
		return 1
	}
	return 2
}
