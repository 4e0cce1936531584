package planner

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// Hierarchical algorithms work tier by tier: reduce-scatter from the innermost tier
// outwards, all-gather back inwards. Each rank takes its own part of the data across,
// so that all NICs work at once and each byte crosses a tier as few times as can be.
// Tiers are stages of a pipeline over slices. Any number of regular tiers; the parts
// are exact only there, so unequal nodes are left to rings and trees.
//
// P. Sanders, J. L. Träff, "The hierarchical factor algorithm for all-to-all
// communication", Euro-Par 2002; X. Jia et al., "Highly scalable deep learning training
// system with mixed precision", 2018 (hierarchical all-reduce).

// levels names the generators inside the innermost tier and across all others.
type levels struct{ inner, outer string }

// buildHierarchicalRing runs rings at every tier: n_i−1 steps at tier i. Inside a node
// with direct links there is a channel for each of its link-disjoint rings.
func buildHierarchicalRing(r *request) (*schedule.Schedule, error) {
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		return r.hierarchicalRooted(schedule.GenDirect, oneChain)
	}
	return r.hierarchical(levels{schedule.GenRing, schedule.GenRing})
}

// buildHierarchicalDirect is direct inside the innermost tier, rings across the others;
// gather and scatter are direct on each rail.
func buildHierarchicalDirect(r *request) (*schedule.Schedule, error) {
	if r.spec.Kind == collective.Gather || r.spec.Kind == collective.Scatter {
		return r.hierarchicalGather()
	}
	return r.hierarchical(levels{schedule.GenDirect, schedule.GenRing})
}

// buildHierarchicalTwoShot is direct at every tier: two steps a tier, in two channels that hide
// latencies from one another. Broadcast and reduce are those over rails that are not rerouted.
func buildHierarchicalTwoShot(r *request) (*schedule.Schedule, error) {
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		if r.rerouted() {
			return nil, notApplicable("rails are rerouted")
		}
		return buildReroutedRails(r)
	}
	s, err := r.hierarchical(levels{schedule.GenDirect, schedule.GenDirect})
	if err == nil {
		s.Channels = r.twice(s.Channels[0])
	}
	return s, err
}

func (r *request) hierarchical(l levels) (*schedule.Schedule, error) {
	dims, err := r.grid()
	if err != nil {
		return nil, err
	}
	s := &schedule.Schedule{}
	for _, order := range r.innerOrders(dims, l.inner) {
		s.Channels = append(s.Channels, r.tierChannel(dims, l, order))
	}
	return s, nil
}

// innerOrders are the orders along the innermost axis, a channel each; nil is rank order.
func (r *request) innerOrders(dims []int32, gen string) []schedule.RankList {
	nodes := r.nodes()
	if gen != schedule.GenRing || len(nodes[0]) != int(dims[len(dims)-1]) {
		return []schedule.RankList{nil}
	}
	type key struct{}
	inside := topology.Once(r.t, key{}, func() [][]int32 { return r.localRings(nodes)[0] })
	if len(inside) == 1 {
		return []schedule.RankList{nil}
	}
	var out []schedule.RankList
	for _, ring := range inside {
		out = append(out, ring)
	}
	return out
}

// tierChannel is the phases of one channel.
func (r *request) tierChannel(dims []int32, l levels, order schedule.RankList) schedule.Channel {
	last := len(dims) - 1
	var phases []schedule.Phase
	add := func(axis int, op collective.Kind) {
		ph := schedule.Phase{Gen: r.outerGen(dims, axis, l), Op: op, Groups: onAxis(dims, axis, nil)}
		if axis == last {
			ph.Gen = l.inner
			ph.Groups.Grid.Order = order
		}
		phases = append(phases, ph)
	}
	for a := last; a >= 0 && r.spec.Kind != collective.AllGather; a-- {
		add(a, collective.ReduceScatter)
	}
	for a := 0; a <= last && r.spec.Kind != collective.ReduceScatter; a++ {
		add(a, collective.AllGather)
	}
	return r.pipeline(r.spec.Ranks, phases...)
}

// grid is the topology's regular layout with at least two tiers, all of whose groups
// reach one another along each axis.
func (r *request) grid() ([]int32, error) {
	dims, ok := r.t.Grid()
	if !ok {
		return nil, notApplicable("nodes or groups differ in size")
	}
	var out []int32
	for _, d := range dims {
		if d > 1 {
			out = append(out, d)
		}
	}
	if len(out) < 2 {
		return nil, notApplicable("there is one tier only")
	}
	return out, r.gridRoutable(out)
}

// byNode is the regular layout cut into two: [nodes, ranks in each].
func (r *request) byNode() (nodes, local int32, err error) {
	dims, err := r.grid()
	if err != nil {
		return 0, 0, err
	}
	local = dims[len(dims)-1]
	nodes = int32(r.spec.Ranks) / local
	return nodes, local, r.gridRoutable([]int32{nodes, local})
}

// onAxis are the groups along an axis, the inner axes being scattered already.
func onAxis(dims []int32, axis int, unsplit []int) schedule.Groups {
	g := &schedule.Grid{Dims: dims, Axis: axis, Unsplit: unsplit}
	for a := len(dims) - 1; a > axis; a-- {
		g.Fixed = append(g.Fixed, a)
	}
	return schedule.Groups{Grid: g}
}

// gridRoutable checks that ranks reach one another along each axis; neighbours and
// opposites in the first group, a sample where it is large, stand for all.
func (r *request) gridRoutable(dims []int32) error {
	type key struct{ dims string }
	return topology.Once(r.t, key{fmt.Sprint(dims)}, func() error { return r.reachGrid(dims) })
}

func (r *request) reachGrid(dims []int32) error {
	for _, d := range slices.Backward(symmetry.Radix(dims)) {
		size, stride := int(d.Size), int(d.Stride)
		for i := 0; i < size; i += max(1, size/sampled) | 1 {
			for _, j := range []int{(i + 1) % size, (i + size/2) % size} {
				if err := r.router.Reach(i*stride, j*stride); err != nil {
					return notApplicable("%v", err)
				}
			}
		}
	}
	return nil
}
