package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

var ringKinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce}

// buildRing uses all link-disjoint Hamiltonian rings of a graph of direct links (see
// disjointRings). Across nodes it uses several rings that enter and leave each node at
// different GPUs, so that all NICs work, and stay on one rail from node to node (see
// nodeCrossings); behind a switch one ring fills all links.
//
// P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009: n−1 steps of 1/n of the data for reduce-scatter and for
// all-gather. Here a step is pipelined further with slices.
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

// buildSimpleRing is one ring in rank order, or the first link-disjoint one: fewer
// messages, for small buffers.
func buildSimpleRing(r *request) (*schedule.Schedule, error) {
	if err := r.wants(ringKinds...); err != nil {
		return nil, err
	}
	return r.ringsOver(r.ringOrders()[:1])
}

// buildAlternatingRing makes one ring for each NIC (S. Ozog et al., Penny's "alternating
// rings"). Ring k crosses even nodes from GPU k to
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
	return r.ringsOver(r.nodeCrossings(true))
}
