package topology

// boxes are the boxes of nodes.
type boxes struct {
	of    []int32 // by node
	first []int   // by box: its first rank; and behind the last one
}

// BoxOf is the box of a rank: consecutive nodes whose GPUs NVSwitches join without links between switches are one, as the trays of an
// NVL72 rack, since nothing is gained there by treating a tray's GPUs otherwise than the rack's; any other node is one by itself, also
// where switches of its own lead to further ones (NVLink Network), which may carry less.
func (t *Topology) BoxOf(rank int) int { return t.BoxOfNode(t.NodeOf(rank)) }

// BoxOfNode is the box of a node.
func (t *Topology) BoxOfNode(node int) int { return int(t.boxes().of[node]) }

// NumBoxes is the number of boxes.
func (t *Topology) NumBoxes() int { return len(t.boxes().first) - 1 }

func (t *Topology) boxes() boxes {
	type key struct{}
	return Once(t, key{}, func() boxes {
		first := t.joined(false)
		x := boxes{of: make([]int32, len(first))}
		for n := range first {
			if n == 0 || first[n] != first[n-1] {
				x.first = append(x.first, int(t.nodes[n].firstRank))
			}
			x.of[n] = int32(len(x.first) - 1)
		}
		x.first = append(x.first, len(t.ranks))
		return x
	})
}

// RankOfNextBox is a rank of the next box, or else of the one before, as near to r's place
// in its own box as can be: a short route; −1 where there is one box only.
func (t *Topology) RankOfNextBox(r int) int {
	box, first := t.BoxOf(r), t.boxes().first
	if box+1 < t.NumBoxes() {
		return min(first[box+1]+r-first[box], first[box+2]-1)
	}
	return first[box] - 1
}
