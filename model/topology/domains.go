package topology

import "railyard/model/symmetry"

// ScaleUpDomains are the ranks by scale-up domain, and the domain of each: ranks whose GPUs reach one another
// over NVSwitches are one. NCCL counts an NVL72 rack as one node (multi-node NVLink).
func (t *Topology) ScaleUpDomains() (of []int, ranks [][]int) {
	first := t.joined(true)
	roots := make([]int, t.NumRanks())
	for r := range roots {
		roots[r] = first[t.NodeOf(r)]
	}
	domains := symmetry.Number(roots)
	of, ranks = make([]int, len(roots)), make([][]int, len(domains.First))
	for r, d := range domains.Of {
		of[r], ranks[d] = int(d), append(ranks[d], r)
	}
	return of, ranks
}

// joined is the first node, by node, of those that NVSwitches join, over links between switches too or only over those of GPUs.
func (t *Topology) joined(betweenSwitches bool) []int {
	nodes := t.NumNodes()
	sets := symmetry.NewOrbits(nodes + len(t.devices))
	// A GPU stands for its node, a switch for itself.
	key := func(d DeviceID) int {
		switch dev := t.devices[d]; dev.Kind {
		case NVSwitch:
			return nodes + int(d)
		case GPU:
			return int(dev.Node)
		}
		return -1
	}
	for _, l := range t.links {
		if a, b := key(l.From), key(l.To); a >= 0 && b >= 0 && max(a, b) >= nodes && (betweenSwitches || min(a, b) < nodes) {
			sets.Join(a, b)
		}
	}
	first := make([]int, nodes)
	for n := range first {
		first[n] = sets.First(n)
	}
	return first
}
