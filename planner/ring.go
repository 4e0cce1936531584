package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

var ringKinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce}

// buildRing uses all link-disjoint Hamiltonian rings of a graph of direct links; on
// switches, one ring in rank order for each GPU of a node, rotated so that all NICs
// work, or a single one within a node.
func buildRing(r *request) (*schedule.Schedule, error) {
	if err := r.wants(ringKinds...); err != nil {
		return nil, err
	}
	orders := r.ringOrders()
	if n := r.o.Channels; n > 0 {
		for i := 0; len(orders) < n; i++ {
			orders = append(orders, orders[i])
		}
		orders = orders[:n]
	}
	return r.ringsOver(orders)
}

func (r *request) ringsOver(orders [][]int32) (*schedule.Schedule, error) {
	s := &schedule.Schedule{}
	for _, o := range orders {
		if err := r.routable(o); err != nil {
			return nil, err
		}
		s.Channels = append(s.Channels, r.flat(schedule.GenRing, o, r.chunksFor(len(o))))
	}
	return s, nil
}

// buildSimpleRing is one ring in rank order, or the first link-disjoint one.
func buildSimpleRing(r *request) (*schedule.Schedule, error) {
	if err := r.wants(ringKinds...); err != nil {
		return nil, err
	}
	return r.ringsOver(r.ringOrders()[:1])
}

// ringOrders are the orders that buildRing uses.
func (r *request) ringOrders() [][]int32 {
	if r.rings == nil {
		if r.rings = disjointRings(r.t); r.rings == nil {
			r.rings = r.rotatedOrders(false)
		}
	}
	return slices.Clone(r.rings)
}

// nodes lists the ranks of each node.
func (r *request) nodes() [][]int32 {
	out := make([][]int32, r.t.NumNodes())
	for rank := range r.spec.Ranks {
		n := r.t.NodeOf(rank)
		out[n] = append(out[n], int32(rank))
	}
	return out
}

// rotatedOrders makes a ring for each GPU of a node: ring k enters every node at GPU k
// and leaves it at GPU k−1. With alternate, odd nodes are crossed backwards, so that
// the ring leaves one node and enters the next over the same rail.
func (r *request) rotatedOrders(alternate bool) [][]int32 {
	nodes := r.nodes()
	rings := 1
	if len(nodes) > 1 {
		rings = len(nodes[0])
	}
	out := make([][]int32, rings)
	for k := range rings {
		for i, ranks := range nodes {
			n := len(ranks)
			for j := range n {
				at := (k + j) % n
				if alternate && i%2 == 1 {
					at = ((k-1-j)%n + n) % n
				}
				out[k] = append(out[k], ranks[at])
			}
		}
	}
	return out
}

// buildAlternatingRing: one ring for each NIC. Ring k crosses even nodes from GPU k to
// GPU k−1 and odd ones backwards, so that each hop between nodes stays on its rail.
func buildAlternatingRing(r *request) (*schedule.Schedule, error) {
	if err := r.wants(ringKinds...); err != nil {
		return nil, err
	}
	nodes := r.nodes()
	if len(nodes) < 2 {
		return nil, notApplicable("there is one node only")
	}
	for _, n := range nodes {
		if len(n) != len(nodes[0]) {
			return nil, notApplicable("nodes differ in size")
		}
	}
	return r.ringsOver(r.rotatedOrders(true))
}
