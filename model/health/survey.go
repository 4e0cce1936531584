package health

import (
	"slices"
	"strconv"

	"railyard/model/survey"
)

// ways are how a GPU is joined to an adapter, nearest first.
var ways = []string{"PIX", "PXB", "PHB", "SYS"}

// Way is a way by how far it is; the last one where it is farther.
func Way(far int) string { return ways[min(max(far, 0), len(ways)-1)] }

// SayNode adds what a survey of the machine found: its NVLinks, which GPUs reach one another, and the way to the nearest adapter.
func (s *State) SayNode(n *survey.Node, from string) {
	for i := range n.GPUs {
		g, p := &n.GPUs[i], s.GPU(i)
		if g.Bus != "" {
			s.Say(p, "bus", g.Bus, from)
		}
		up := 0
		for _, port := range g.Ports {
			if port.Up {
				up++
			}
		}
		if len(g.Ports) > 0 {
			s.Say(p, "links_up", float64(up), from)
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
		s.sayNearest(n, p, g.Bus, from)
	}
	for _, a := range n.Adapters {
		if a.Rate > 0 && a.Name != "" {
			s.Say(s.Part(NIC, a.Name), "rate", float64(a.Rate)*8/1e9, from)
		}
	}
}

// sayNearest notes the nearest adapter, the fastest of several.
func (s *State) sayNearest(n *survey.Node, p *Part, bus, from string) {
	best, name := -1, ""
	var rate float64
	for i, a := range n.Adapters {
		here, ok := n.PCI[bus]
		there, also := n.PCI[a.Bus]
		if !ok || !also {
			continue
		}
		if f := far(here, there); best < 0 || f < best || f == best && float64(a.Rate) > rate {
			best, rate, name = f, float64(a.Rate), a.Name
			if name == "" {
				name = "adapter " + strconv.Itoa(i)
			}
		}
	}
	if best < 0 {
		return
	}
	s.Say(p, "nic", name, from)
	s.Say(p, "nic_far", float64(best), from)
	s.Say(p, "nic_way", Way(best), from)
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
