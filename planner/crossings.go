package planner

import (
	"maps"
	"slices"

	"railyard/model/symmetry"
	"railyard/model/topology"
)

// ringOrders are the orders that rings go in: the link-disjoint rings over all ranks,
// else rings that cross node by node.
func (r *request) ringOrders() [][]int32 {
	type key struct{}
	return slices.Clone(topology.Once(r.t, key{}, func() [][]int32 {
		if rings := disjointRings(r.t, identity(r.spec.Ranks)); rings != nil {
			return rings
		}
		return r.nodeCrossings(false)
	}))
}

// nodes lists the ranks of each node, which hierarchies, rings and flows take boxes for (see topology.BoxOf).
func (r *request) nodes() [][]int32 {
	out := make([][]int32, r.t.NumBoxes())
	for rank := range r.spec.Ranks {
		n := r.t.BoxOf(rank)
		out[n] = append(out[n], int32(rank))
	}
	return slices.DeleteFunc(out, func(ranks []int32) bool { return len(ranks) == 0 })
}

// localRings are the cyclic orders, in positions, in which rings may cross a node: its
// link-disjoint rings where its GPUs have direct links, else rank order. Nodes that
// look like the first one share its search.
func (r *request) localRings(nodes [][]int32) [][][]int32 {
	out := make([][][]int32, len(nodes))
	first := directGraph(r.t, nodes[0])
	for i, ranks := range nodes {
		if i > 0 && len(ranks) == len(nodes[0]) && sameGraph(first, directGraph(r.t, ranks)) {
			out[i] = out[0]
			continue
		}
		if out[i] = disjointRings(r.t, ranks); out[i] == nil {
			out[i] = [][]int32{identity(len(ranks))}
		}
	}
	return out
}

func sameGraph(a, b *multigraph) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.count, b.count, maps.Equal[map[int32]int, map[int32]int])
}

// crossing is how a ring crosses nodes: along local ring number ring, entering the
// first node at position enter of it.
type crossing struct{ ring, enter int }

// nodeCrossings makes the rings over several nodes. A ring enters a node at position e
// of its local ring and leaves it at e−1, all of the way round. So that the hop to the
// next node stays on its rail, the next node is entered where the last was left: either
// it is crossed from there on as well (the entry moves one back from node to node), or,
// with alternate, odd nodes are crossed backwards and the entry comes back to e every
// second node. Only the hop that closes the ring may change rails: where the number of
// nodes is not a multiple of the ring's length, or odd with alternate.
func (r *request) nodeCrossings(alternate bool) [][]int32 {
	nodes := r.nodes()
	local := r.localRings(nodes)
	var out [][]int32
	for _, c := range r.chooseCrossings(nodes, local[0]) {
		var order []int32
		for i, ranks := range nodes {
			ring := local[i][c.ring%len(local[i])]
			n := len(ring)
			for j := range n {
				at := c.enter - i + j
				if alternate {
					at = c.enter + j
					if i%2 == 1 {
						at = c.enter - 1 - j
					}
				}
				order = append(order, ranks[ring[(at%n+n)%n]])
			}
		}
		out = append(out, order)
	}
	return out
}

// chooseCrossings picks so many rings, and for each the place to enter the first node,
// that all NICs of that node carry the same number: every place where one local ring
// is all there is (each GPU then is once the way in and once the way out), else as few
// as make the NICs even. Within one node a ring needs no entry.
func (r *request) chooseCrossings(nodes [][]int32, local [][]int32) []crossing {
	var out []crossing
	if len(nodes) == 1 {
		for q := range local {
			out = append(out, crossing{q, 0})
		}
		return out
	}
	size := len(nodes[0])
	if len(local) == 1 {
		for e := range size {
			out = append(out, crossing{0, e})
		}
		return out
	}
	nic, nics := r.nicOfEach(nodes)
	times := 1
	for times < size && len(local)*times%nics != 0 {
		times++
	}
	for range times {
		for q := range local {
			out = append(out, crossing{q, 0})
		}
	}
	balanceEntries(out, local, nic, nics)
	return out
}

// balanceEntries moves the entries, one ring at a time, to where the NICs of the way in
// and of the way out are used least, until nothing moves any more. The sum of squares
// falls with each move, so it ends.
func balanceEntries(rings []crossing, local [][]int32, nic []int, nics int) {
	in, out := make([]int, nics), make([]int, nics)
	count := func(c crossing, by int) {
		ring := local[c.ring]
		in[nic[ring[c.enter]]] += by
		out[nic[ring[(c.enter+len(ring)-1)%len(ring)]]] += by
	}
	for _, c := range rings {
		count(c, 1)
	}
	for moved := true; moved; {
		moved = false
		for i, c := range rings {
			count(c, -1)
			cost := func(e int) int {
				ring := local[c.ring]
				return in[nic[ring[e]]] + out[nic[ring[(e+len(ring)-1)%len(ring)]]]
			}
			best := c.enter
			for e := range local[c.ring] {
				if cost(e) < cost(best) {
					best = e
				}
			}
			moved = moved || best != c.enter
			rings[i].enter = best
			count(rings[i], 1)
		}
	}
}

// nicOfEach numbers the NIC that each GPU of the first node uses, and counts them.
// GPUs without one count as their own.
func (r *request) nicOfEach(nodes [][]int32) (nic []int, nics int) {
	var number symmetry.Numbering[topology.DeviceID]
	for i, rank := range nodes[0] {
		id := topology.DeviceID(-1 - i)
		if route, err := r.router.Route(int(rank), int(nodes[1][i%len(nodes[1])])); err == nil && len(route.NICs) > 0 {
			id = route.NICs[0]
		}
		nic = append(nic, number.Of(id))
	}
	return nic, len(number.All)
}
