package planner

import (
	"math"
	"slices"

	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
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
	fit := topology.Once(r.t, key{&orders[0][0], len(orders)}, func() ringsFit {
		return ringsFit{r.ringShares(orders), r.allRoutableOver(orders)}
	})
	if fit.err != nil {
		return nil, fit.err
	}
	s := &schedule.Schedule{}
	for i, share := range fit.shares {
		o := orders[i]
		ch := r.flat(schedule.GenRing, o, r.chunksFor(len(o)))
		ch.Share = share
		s.Channels = append(s.Channels, ch)
	}
	return s, nil
}

// ringsFit is what rings carry, or why they do not go round.
type ringsFit struct {
	shares []int64
	err    error
}

func (r *request) allRoutableOver(orders [][]int32) error {
	for _, o := range orders {
		if err := r.routable(o); err != nil {
			return err
		}
	}
	return nil
}

// ringShares gives each ring as much of the data as it can carry, in MB/s in lowest
// terms: its slowest direct link, or between nodes what the network gives it; equal shares
// where some hop inside the only node is not over a direct link of its own.
func (r *request) ringShares(orders [][]int32) []int64 {
	rates := r.directRates
	if r.t.NumBoxes() > 1 {
		rates = r.networkRates
	}
	out := slices.Repeat([]int64{1}, len(orders))
	if len(orders) < 2 {
		return out
	}
	var common int64
	for i, rate := range rates(orders) {
		if rate == 0 {
			return slices.Repeat([]int64{1}, len(orders))
		}
		out[i] = max(rate/1e6, 1)
		common = units.GCD(common, out[i])
	}
	for i := range out {
		out[i] /= common
	}
	return out
}

// directRates are the rates of the rings' slowest direct links; 0 where a hop is over
// something else.
func (r *request) directRates(orders [][]int32) []int64 {
	out := make([]int64, len(orders))
	for i, o := range orders {
		out[i] = math.MaxInt64
		for j, a := range o {
			out[i] = min(out[i], r.linkRate(a, o[(j+1)%len(o)]))
		}
	}
	return out
}

// linkRate is the rate of the slowest single link straight from one rank to another; 0
// where there is none.
func (r *request) linkRate(from, to int32) int64 {
	var slowest int64
	for _, l := range r.t.Out(r.t.Ranks()[from]) {
		if r.t.RankOf(r.t.Links()[l].To) != int(to) {
			continue
		}
		if rate := int64(r.t.Class(l).Rate); slowest == 0 || rate < slowest {
			slowest = rate
		}
	}
	return slowest
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
	for _, n := range nodes {
		if len(n) != len(nodes[0]) {
			return nil, notApplicable("nodes differ in size")
		}
	}
	type key struct{}
	return r.ringsOver(topology.Once(r.t, key{}, func() [][]int32 { return r.nodeCrossings(true) }))
}
