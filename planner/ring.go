package planner

import (
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"slices"
)

// buildRing uses all link-disjoint Hamiltonian rings of a graph of direct links (see
// disjointRings). Across nodes it uses several rings that enter and leave each node at
// different GPUs, so that all NICs work, and stay on one rail from node to node (see
// nodeCrossings); behind a switch one ring fills all links. Where the network's
// dimensions are separate, there is a ring along each of them in turn.
//
// P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009: n−1 steps of 1/n of the data for reduce-scatter and for
// all-gather. Here a step is pipelined further with slices.
func buildRing(r *request) (*schedule.Schedule, error) {
	if r.separateDimensions() {
		return buildHierarchicalRing(r)
	}
	orders := r.ringOrders()
	if n := r.o.Channels; n > 0 {
		for i := 0; len(orders) < n; i++ {
			orders = append(orders, backwards(orders[i])) // every second copy the other way round
		}
		orders = orders[:n]
	}
	return r.ringsOver(orders)
}

// separateDimensions reports whether the topology is several networks laid across one
// another, each joining the ranks along one dimension of a grid (rails without a spine,
// ASTRA-sim's multi-dimensional networks): a ring then runs along each dimension.
func (r *request) separateDimensions() bool {
	if r.t.NumBoxes() < 2 || r.allRoutable() == nil {
		return false
	}
	_, err := r.grid()
	return err == nil
}

func (r *request) ringsOver(orders [][]int32) (*schedule.Schedule, error) {
	type key struct {
		first *int32
		n     int
	}
	shares, err := topology.OnceOr(r.t, key{&orders[0][0], len(orders)}, func() ([]int64, error) {
		for _, o := range orders {
			if err := r.routable(o); err != nil {
				return nil, err
			}
		}
		return r.ringShares(orders), nil
	})
	if err != nil {
		return nil, err
	}
	s := &schedule.Schedule{}
	for i, share := range shares {
		o := orders[i]
		ch := r.flat(schedule.GenRing, o, r.chunksFor(len(o)))
		ch.Share = share
		s.Channels = append(s.Channels, ch)
	}
	return s, nil
}

// ringShares gives each ring as much of the data as it can carry, in MB/s in lowest terms.
func (r *request) ringShares(orders [][]int32) []int64 {
	if len(orders) < 2 {
		return []int64{1}
	}
	out, common := r.ringRates(orders), int64(0)
	for i, rate := range out {
		out[i] = max(rate/1e6, 1)
		common = units.GCD(common, out[i])
	}
	for i := range out {
		out[i] /= common
	}
	return out
}

// buildSimpleRing is one ring in rank order, or the first link-disjoint one: fewer
// messages, for small buffers.
func buildSimpleRing(r *request) (*schedule.Schedule, error) {
	return r.ringsOver(r.ringOrders()[:1])
}

// buildAlternatingRing makes one ring for each NIC (S. Ozog et al., Penny's "alternating
// rings"). Ring k crosses even nodes from GPU k to
// GPU k−1 and odd ones backwards, so that each hop between nodes stays on its rail.
func buildAlternatingRing(r *request) (*schedule.Schedule, error) {
	nodes := r.nodes()
	if len(nodes) < 2 {
		return nil, notApplicable("there is one node only")
	}
	if slices.ContainsFunc(nodes, func(ranks []int32) bool { return len(ranks) != len(nodes[0]) }) {
		return nil, notApplicable("nodes differ in size")
	}
	type key struct{}
	return r.ringsOver(topology.Once(r.t, key{}, func() [][]int32 { return r.nodeCrossings(true) }))
}
