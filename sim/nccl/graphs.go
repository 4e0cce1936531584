package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/topology"
)

// search finds the channels of each system; systems that look alike are searched once.
// All ranks then agree on the least (init.cc, after AllGather3).
func (m *Model) search(t *topology.Topology, o Options) error {
	done := map[string]bool{}
	for i, ranks := range m.m.systems {
		key := fingerprint(t, ranks)
		if done[key] {
			continue
		}
		done[key] = true
		s := buildSystem(t, m.m, ranks, m.nNodes > 1)
		if err := m.usable(t, s, i); err != nil {
			return err
		}
		s.computePaths()
		s.measure()
		m.searchSystem(s, m.useNVLS(t, o))
	}
	n := min(m.ring.n, m.tree.n)
	m.ring.n, m.tree.n = n, n
	return nil
}

func (m *Model) usable(t *topology.Topology, s *system, i int) error {
	node := t.NodeName(t.NodeOf(m.m.systems[i][0]))
	if s.inter && len(s.of[vNET]) == 0 {
		return fmt.Errorf("node %s has no NIC, so NCCL does not reach the other nodes", node)
	}
	if len(s.of[vGPU]) > 576 { // with headroom NCCL_TOPO_MAX_NODES, graph.h
		return fmt.Errorf("NCCL takes at most 576 GPUs that share NVSwitches: node %s and its peers have %d", node, len(s.of[vGPU]))
	}
	if n := s.of[vNET]; len(n) > 0 {
		m.nicBW = n[0].netBW
	}
	return nil
}

func (m *Model) searchSystem(s *system, nvls bool) {
	cc := m.m.ccMin
	ring := s.find(ringPattern, cc, 1, maxChannels/2)
	tree := s.find(balancedTree, cc, ring.n, ring.n)
	heads := &channels{pattern: nvlsPattern}
	if nvls {
		heads = s.find(nvlsPattern, cc, 1, maxChannels)
	}
	if m.ring == nil {
		m.ring, m.tree, m.nvls = ring, tree, heads
		return
	}
	m.ring.align(ring)
	m.tree.align(tree)
	m.nvls.align(heads)
}

// align keeps the worse of two systems.
func (c *channels) align(o *channels) {
	c.n = min(c.n, o.n)
	c.same = c.same && o.same
	c.bwIntra, c.bwInter = min(c.bwIntra, o.bwIntra), min(c.bwInter, o.bwInter)
	c.typeIntra, c.typeInter = max(c.typeIntra, o.typeIntra), max(c.typeInter, o.typeInter)
	c.pattern = max(c.pattern, o.pattern)
}

// useNVLS reports whether NVLink SHARP is there: Hopper or later, and every NVSwitch
// that a GPU hangs on multicasts and reduces.
func (m *Model) useNVLS(t *topology.Topology, o Options) bool {
	if o.NVLS != Auto || m.m.ccMin < 90 {
		return o.NVLS == On && m.m.ccMin >= 90
	}
	found := false
	for _, d := range t.Ranks() {
		for _, l := range t.Out(d) {
			sw := t.Devices()[t.Links()[l].To]
			if sw.Kind != topology.NVSwitch {
				continue
			}
			if sw.Model < 0 || !t.Models()[sw.Model].Multicast || !t.Models()[sw.Model].Reduction {
				return false
			}
			found = true
		}
	}
	return found
}

// fingerprint tells systems apart by all that the search looks at: their devices and
// links, numbered from the system's first.
func fingerprint(t *topology.Topology, ranks []int) string {
	hosts := map[int32]bool{}
	for _, r := range ranks {
		hosts[int32(t.NodeOf(r))] = true
	}
	number := map[topology.DeviceID]int{}
	var text []string
	for id, d := range t.Devices() {
		if hosts[d.Node] {
			number[topology.DeviceID(id)] = len(number)
			text = append(text, fmt.Sprint(d.Kind, d.Model, t.RankOf(topology.DeviceID(id)) >= 0))
		}
	}
	for i, l := range t.Links() {
		from, ok := number[l.From]
		if !ok {
			continue
		}
		to, inside := number[l.To]
		if !inside {
			to = -1
		}
		text = append(text, strconv.Itoa(from)+">"+strconv.Itoa(to)+":"+strconv.Itoa(int(t.Links()[i].Class))+"x"+strconv.Itoa(int(l.Count)))
	}
	return strings.Join(slices.Clip(text), " ")
}

// connect counts the compute channels: two for each that was found, and up to four where
// few carry a fast network (ncclTopoPostset); NVLS has its own number (nvls.cc).
func (m *Model) connect() {
	n := min(maxChannels, 2*m.ring.n)
	if m.m.ccMin >= 90 && m.nNodes > 1 && m.ring.bwIntra > 45 && n < 16 {
		n *= 2
	}
	m.nChannels = n
	m.nvlsChannels = 0
	if m.nvls.n > 0 {
		m.nvlsChannels = m.countNVLS()
	}
}

func (m *Model) countNVLS() int {
	switch {
	case m.m.ccMin < 100:
		return 16
	case m.nNodes == 1:
		return 24
	case m.nNodes == 2 && m.nicBW >= 48 || m.nicBW < 48:
		return 32
	case m.nicBW >= 96 && m.maxLocal > 8:
		return 32
	}
	return 24
}
