package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// boxes are equal nodes whose GPUs share one scale-up switch level and have a NIC each.
type boxes struct {
	nodes, local    int32
	scaleUp, perNIC int64 // bytes/s of a GPU
}

// buildPackedTrees packs spanning trees so that scale-up links and NICs are full at once:
// the data of a root goes to its neighbours in the box, from each of them over its own
// rail to the other boxes, and there to the GPUs that are left. With N ranks, n boxes, V
// and W the scale-up and NIC rates of a GPU, no schedule gives a root more than x =
// min((V+W)/(N−1), W/(n−1)); where NICs have room beyond one entry into each box, part
// of the data enters twice, which takes it off the scale-up links.
func buildPackedTrees(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllGather, collective.ReduceScatter, collective.AllReduce); err != nil {
		return nil, err
	}
	b, err := r.boxes()
	if err != nil {
		return nil, err
	}
	return r.packedSchedule(b.pack()), nil
}

// maxPackedRanks bounds what is written out tree by tree.
const maxPackedRanks = 128

func (r *request) boxes() (*boxes, error) {
	nodes := r.nodes()
	if len(nodes) < 2 || r.spec.Ranks > maxPackedRanks {
		return nil, notApplicable("packed trees are for 2 nodes and up to %d ranks", maxPackedRanks)
	}
	b := &boxes{nodes: int32(len(nodes)), local: int32(len(nodes[0]))}
	for _, node := range nodes {
		if len(node) != int(b.local) || len(node) < 2 {
			return nil, notApplicable("nodes differ in size, or have one rank")
		}
	}
	b.scaleUp = r.scaleUpRate(0)
	seen := map[topology.DeviceID]bool{}
	for a, node := range nodes {
		for j, rank := range node {
			inside, err := r.router.Route(int(rank), int(node[(j+1)%len(node)]))
			if err != nil || inside.Kind != topology.Switched || int64(inside.Rate) < b.scaleUp || r.scaleUpRate(rank) != b.scaleUp {
				return nil, notApplicable("the GPUs of a node do not share one switch level")
			}
			out, err := r.router.Route(int(rank), int(nodes[(a+1)%len(nodes)][j]))
			if err != nil || out.Kind != topology.Net || len(out.NICs) != 2 || seen[out.NICs[0]] || b.perNIC > 0 && int64(out.Rate) != b.perNIC {
				return nil, notApplicable("GPUs have no NIC each of equal rate")
			}
			seen[out.NICs[0]] = true
			b.perNIC = int64(out.Rate)
		}
	}
	return b, nil
}

// scaleUpRate is what leaves a rank over its scale-up links.
func (r *request) scaleUpRate(rank int32) int64 {
	var sum int64
	for _, l := range r.t.Out(r.t.Ranks()[rank]) {
		if m := r.t.Class(l).Medium; m == topology.NVLink || m == topology.XGMI {
			sum += int64(r.t.Rate(l))
		}
	}
	return sum
}

// maxUnits bounds the units of a rotation, and with it the number of chunks.
const maxUnits = 64

// entries is how often a root's data enters another box on average, in lowest terms:
// W·(N−1) / ((n−1)·(V+W)), from 1 to the size of a box.
func (b *boxes) entries() (num, den int64) {
	n := int64(b.nodes) * int64(b.local)
	num, den = b.perNIC*(n-1), int64(b.nodes-1)*(b.scaleUp+b.perNIC)
	switch {
	case num < den:
		return 1, 1
	case num > den*int64(b.local):
		return int64(b.local), 1
	}
	g := gcd(num, den)
	if num, den = num/g, den/g; den > maxUnits {
		return num * maxUnits / den, maxUnits // a little less: scale-up links carry the rest
	}
	return num, den
}

// pack rotates the entries over the GPUs of a box, so that all NICs carry the same.
func (b *boxes) pack() *schedule.Trees {
	num, den := b.entries()
	few := num / den
	more := int32(num % den) // units of a rotation that enter once more
	p := &schedule.Trees{Units: b.local * int32(den), Local: b.local}
	for root := range b.nodes * b.local {
		for first := range b.local {
			if w := int32(den) - more; w > 0 {
				p.List = append(p.List, b.tree(root, first, int32(few), w))
			}
			if more > 0 {
				p.List = append(p.List, b.tree(root, first, int32(few)+1, more))
			}
		}
	}
	return p
}

// tree enters every other box at so many GPUs from first on; the first of them serves
// those at which it does not enter.
func (b *boxes) tree(root, first, entries, weight int32) schedule.Tree {
	t := schedule.Tree{Root: root, Weight: weight, Turn: first, Parent: make([]int32, b.nodes*b.local)}
	home := root / b.local
	for v := range t.Parent {
		node, j := int32(v)/b.local, int32(v)%b.local
		switch {
		case int32(v) == root:
			t.Parent[v] = -1
		case node == home:
			t.Parent[v] = root
		case (j-first+b.local)%b.local < entries:
			t.Parent[v] = home*b.local + j // over its rail
		default:
			t.Parent[v] = node*b.local + first
		}
	}
	return t
}
