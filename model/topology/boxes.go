package topology

import "railyard/model/symmetry"

// boxes are the boxes of nodes, numbered by their first nodes.
type boxes struct {
	of    []int32 // by node
	count int
}

// BoxOf is the box of a rank: nodes whose GPUs are on the same NVSwitches are one, as the trays of an NVL72 rack, since nothing
// is gained there by treating a tray's GPUs otherwise than the rack's; any other node is one by itself, also where switches of
// its own lead to further ones (NVLink Network), which may carry less.
func (t *Topology) BoxOf(rank int) int { return t.BoxOfNode(t.NodeOf(rank)) }

// BoxOfNode is the box of a node.
func (t *Topology) BoxOfNode(node int) int { return int(t.boxes().of[node]) }

// NumBoxes is the number of boxes.
func (t *Topology) NumBoxes() int { return t.boxes().count }

func (t *Topology) boxes() boxes {
	type key struct{}
	return Once(t, key{}, t.findBoxes)
}

func (t *Topology) findBoxes() boxes {
	nodes := t.NumNodes()
	sets := symmetry.NewOrbits(nodes + len(t.devices))
	for _, l := range t.links {
		for _, ends := range [2][2]DeviceID{{l.From, l.To}, {l.To, l.From}} {
			if gpu, sw := t.devices[ends[0]], t.devices[ends[1]]; gpu.Kind == GPU && sw.Kind == NVSwitch {
				sets.Join(int(gpu.Node), nodes+int(ends[1]))
			}
		}
	}
	first := make([]int, nodes)
	for n := range first {
		first[n] = sets.First(n)
	}
	x := symmetry.Number(first)
	return boxes{x.Of, len(x.First)}
}
