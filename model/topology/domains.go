package topology

import "railyard/model/symmetry"

// ScaleUpDomains are the ranks by scale-up domain, and the domain of each: ranks whose GPUs reach one another
// over NVSwitches are one. NCCL counts an NVL72 rack as one node (multi-node NVLink).
func (t *Topology) ScaleUpDomains() (of []int, ranks [][]int) {
	nodes := t.NumNodes()
	sets := symmetry.NewOrbits(nodes + len(t.Devices()))
	// A GPU stands for its node, a switch for itself.
	key := func(d DeviceID) int {
		switch dev := t.Devices()[d]; dev.Kind {
		case NVSwitch:
			return nodes + int(d)
		case GPU:
			return int(dev.Node)
		}
		return -1
	}
	for _, l := range t.Links() {
		if a, b := key(l.From), key(l.To); a >= 0 && b >= 0 && max(a, b) >= nodes {
			sets.Join(a, b)
		}
	}
	roots := make([]int, t.NumRanks())
	for r := range roots {
		roots[r] = sets.First(t.NodeOf(r))
	}
	domains := symmetry.Number(roots)
	of, ranks = make([]int, len(roots)), make([][]int, len(domains.First))
	for r, d := range domains.Of {
		of[r], ranks[d] = int(d), append(ranks[d], r)
	}
	return of, ranks
}
