package nccl

import (
	"crypto/sha256"
	"fmt"

	"railyard/model/topology"
)

// search finds the channels of each system; systems that look alike are searched once.
// All ranks then agree on the least (init.cc, after AllGather3).
func (m *Model) search(t *topology.Topology, o Options) error {
	done := map[[sha256.Size]byte]*found{}
	prints := m.fingerprints(t)
	m.found = make([]*found, len(m.m.systems))
	for i, ranks := range m.m.systems {
		if m.found[i] = done[prints[i]]; m.found[i] != nil {
			continue
		}
		s := buildSystem(t, m.m, ranks, m.nNodes > 1)
		if err := m.usable(t, s, i); err != nil {
			return err
		}
		m.found[i] = s.searched(m.m.ccMin, m.useNVLS(t, o))
		done[prints[i]] = m.found[i]
		m.agree(m.found[i])
	}
	n := min(m.ring.n, m.tree.n)
	m.ring.n, m.tree.n = n, n
	return nil
}

func (m *Model) usable(t *topology.Topology, s *system, i int) error {
	node := t.NodeName(t.NodeOf(m.m.systems[i][0]))
	if s.inter && len(s.of[vNET]) == 0 {
		return unsupported("node %s has no NIC, so NCCL does not reach the other nodes", node)
	}
	if len(s.of[vGPU]) > 576 { // with headroom NCCL_TOPO_MAX_NODES, graph.h
		return unsupported("NCCL takes at most 576 GPUs that share NVSwitches: node %s and its peers have %d", node, len(s.of[vGPU]))
	}
	if n := s.of[vNET]; len(n) > 0 {
		m.nicBW = n[0].netBW
	}
	return nil
}

// agree takes what was found in one more system.
func (m *Model) agree(f *found) {
	if m.ring == nil {
		m.ring, m.tree, m.nvls, m.perPeer = f.ring.clone(), f.tree.clone(), f.nvls.clone(), f.perPeer
		return
	}
	m.perPeer = min(m.perPeer, f.perPeer)
	m.ring.align(f.ring)
	m.tree.align(f.tree)
	m.nvls.align(f.nvls)
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
	if o.NVLS == Off || m.m.ccMin < 90 || m.maxLocal < 2 {
		return false
	}
	return o.NVLS == On || switchesReduce(t)
}

// switchesReduce reports whether GPUs hang on NVSwitches, all of which multicast and reduce.
func switchesReduce(t *topology.Topology) bool {
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

// fingerprints tell systems apart by all that the search looks at: their devices and
// links, numbered from the system's first.
func (m *Model) fingerprints(t *topology.Topology) [][sha256.Size]byte {
	system := make([]int, t.NumNodes()) // −1: holds no rank
	for i := range system {
		system[i] = -1
	}
	for r, s := range m.m.systemOf {
		system[t.NodeOf(r)] = s
	}
	text := make([][]byte, len(m.m.systems))
	number := make([]int, len(t.Devices())) // within its system
	next := make([]int, len(m.m.systems))
	of := func(d topology.DeviceID) int {
		if n := t.Devices()[d].Node; n >= 0 {
			return system[n]
		}
		return -1
	}
	for i, d := range t.Devices() {
		if s := of(topology.DeviceID(i)); s >= 0 {
			number[i] = next[s]
			next[s]++
			text[s] = fmt.Appendln(text[s], d.Kind, d.Model, t.RankOf(topology.DeviceID(i)) >= 0)
		}
	}
	for _, l := range t.Links() {
		if s := of(l.From); s >= 0 {
			to := -1
			if of(l.To) == s {
				to = number[l.To]
			}
			text[s] = fmt.Appendln(text[s], number[l.From], to, l.Class, l.Count)
		}
	}
	out := make([][sha256.Size]byte, len(text))
	for s := range text {
		out[s] = sha256.Sum256(text[s])
	}
	return out
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
