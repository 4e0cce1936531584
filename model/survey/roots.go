package survey

import "railyard/model/topology"

// bridges is what ways through a CPU tell of its host bridges.
type bridges struct{ shared, apart bool }

// Through notes of a way between two devices of a CPU whether it leads through one host bridge or between two.
func (n *Node) Through(cpu int, one bool) {
	if n.bridges == nil {
		n.bridges = map[int]bridges{}
	}
	b := n.bridges[cpu]
	b.shared, b.apart = b.shared || one, b.apart || !one
	n.bridges[cpu] = b
}

// roots are what a topology file can say of them: where some devices share a host bridge and others do not, nothing.
func (m *machine) roots(cpu int) topology.Roots {
	b := m.bridges[cpu]
	switch {
	case b.shared && b.apart:
		m.note("some devices of cpu%d share a PCIe host bridge and others do not, which a topology file does not tell apart", cpu)
	case b.shared:
		return topology.OneRoot
	case b.apart:
		return topology.SeveralRoots
	}
	return topology.RootsUnknown
}
