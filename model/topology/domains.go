package topology

// ScaleUpDomains are the ranks by scale-up domain, and the domain of each: ranks whose GPUs reach one another
// over NVSwitches are one. NCCL counts an NVL72 rack as one node (multi-node NVLink).
func (t *Topology) ScaleUpDomains() (of []int, ranks [][]int) {
	nodes := t.NumNodes()
	sets := newSets(nodes + len(t.Devices()))
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
			sets.join(a, b)
		}
	}
	dense := map[int]int{}
	of = make([]int, t.NumRanks())
	for r := range of {
		root := sets.find(t.NodeOf(r))
		id, ok := dense[root]
		if !ok {
			id = len(ranks)
			dense[root] = id
			ranks = append(ranks, nil)
		}
		of[r] = id
		ranks[id] = append(ranks[id], r)
	}
	return of, ranks
}

// sets are disjoint sets of numbers.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) { s[s.find(a)] = s.find(b) }
