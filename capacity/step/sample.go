package step

import "railyard/model/topology"

// sample is a unit of a regular machine: the first ranks, which fill a group of the
// innermost network tier. Every unit sends alike, so the links that lead up and out of
// this one show how full all are: a link above the unit's own switches carries the same
// from each unit that shares it, and a link down carries what some link up does. ranks is
// 0 where the machine is irregular, degraded or loaded: there all ranks are looked at. A
// test compares both ways.
type sample struct {
	ranks int
	pods  int // units that share a switch of the second level
	all   int // units in all
}

// findSample takes the tiers at their word.
func (m *Machine) findSample() {
	t := m.Topology
	tiers := t.Tiers()
	if t.Healthy() != t || t.Idle() != t || len(tiers) < 2 {
		return
	}
	unit, ok := run(tiers[1])
	if !ok {
		return
	}
	x := sample{ranks: unit, pods: tiers[1].Groups, all: tiers[1].Groups}
	if len(tiers) > 2 {
		pod, ok := run(tiers[2])
		if !ok || pod%unit != 0 {
			return
		}
		x.pods = pod / unit
	}
	m.sample = x
}

// run is the length of a tier's groups where they are runs of equal length, of which the
// last may be shorter: its links are less full than those of the first.
func run(t topology.Tier) (n int, ok bool) {
	for n < len(t.Of) && t.Of[n] == 0 {
		n++
	}
	for r, g := range t.Of {
		if int(g) != r/n {
			return 0, false
		}
	}
	return n, true
}

// sampled reports whether a group has a rank in the unit.
func (m *Machine) sampled(ranks []int) bool {
	if m.sample.ranks == 0 {
		return true
	}
	for _, r := range ranks {
		if r < m.sample.ranks {
			return true
		}
	}
	return false
}

// shared is how many units load a link as this one does.
func (s *sample) shared(t *topology.Topology, l topology.LinkID) float64 {
	if s.ranks == 0 {
		return 1
	}
	switch t.Devices()[t.Links()[l].From].Kind {
	case topology.Spine:
		return float64(s.pods)
	case topology.Core:
		return float64(s.all)
	}
	return 1
}

// down reports whether a link leads down in the network, or into a node.
func (s *sample) down(t *topology.Topology, l topology.LinkID) bool {
	if s.ranks == 0 || t.Class(l).Medium != topology.Network {
		return false
	}
	link := t.Links()[l]
	return t.Devices()[link.To].Kind < t.Devices()[link.From].Kind
}
