package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// switchesWorkForAll is what in_network needs, where the switches between the ranks work: a rank's data are multiplied
// on their way to all others, what others send it is combined on its way. An all-reduce
// so takes each rank's links once for each byte in either direction, instead of
// 2(n−1)/n times; for that, reduce-scatter and all-gather have to overlap, as stages of
// a pipeline over slices. See schedule.GenSwitch.
func (r *request) switchesWorkForAll() error {
	return r.switchesWork([][]int32{identity(r.spec.Ranks)})
}

// buildHierarchicalInNetwork is in-network inside the node; across, too, where switches
// there work on the data (SHARP), else in rings. Broadcast and reduce go over two trees
// across: a root whose node's switches multiply and combine can feed all of its NICs, which
// it cannot where it has to send its own part to everybody in the node as well.
func buildHierarchicalInNetwork(r *request) (*schedule.Schedule, error) {
	if k := r.spec.Kind; k == collective.Broadcast || k == collective.Reduce {
		if err := r.switchesWork(r.nodes()); err != nil {
			return nil, err
		}
		return r.hierarchicalRooted(schedule.GenSwitch, twoTrees(pairedTree))
	}
	dims, err := r.grid()
	if err != nil {
		return nil, err
	}
	if err := r.switchesWork(groupsAlong(dims, len(dims)-1)); err != nil {
		return nil, err
	}
	return r.hierarchical(levels{schedule.GenSwitch, schedule.GenRing})
}

// buildReroutedInNetwork is rerouted_rails with switches that work inside nodes: around what is lost, as near to the
// bound as hierarchical_in_network is where nothing is.
func buildReroutedInNetwork(r *request) (*schedule.Schedule, error) {
	if err := r.switchesWork(r.nodes()); err != nil {
		return nil, err
	}
	return r.overTiers(nil, schedule.GenSwitch)
}

// outerGen is the generator across an axis: switches work there only in plans that let
// them work inside the node.
func (r *request) outerGen(dims []int32, axis int, l levels) string {
	if l.inner == schedule.GenSwitch && r.switchesWork(groupsAlong(dims, axis)) == nil {
		return schedule.GenSwitch
	}
	return l.outer
}

// groupsAlong are the groups of ranks that differ along one axis of a grid only.
func groupsAlong(dims []int32, axis int) [][]int32 {
	digits := symmetry.Radix(dims)
	d := digits[axis]
	var out [][]int32
	for base := range int32(digits.Count()) {
		if d.Of(base) != 0 {
			continue
		}
		group := make([]int32, d.Size)
		for i := range group {
			group[i] = base + int32(i)*d.Stride
		}
		out = append(out, group)
	}
	return out
}

// switchesWork reports whether the switches between the ranks of each group multiply and
// combine data as the collective needs. On a machine as it was made, a sample of groups
// and of ranks in them stands for all; where nodes turn into one another, groups and ranks of the first node do.
func (r *request) switchesWork(groups [][]int32) error {
	multicast, reduction := r.t.InNetwork(nil)
	kind := r.spec.Kind
	switch spreads, sums := kind != collective.ReduceScatter && kind != collective.Reduce, kind.Reduces(); {
	case len(groups[0]) < 2:
		return notApplicable("there is one rank only")
	case len(groups[0]) > maxFlat:
		return notApplicable("more than %d ranks are more than switches keep track of here", maxFlat)
	case spreads && !multicast, sums && !reduction:
		return notApplicable("no switch here works on the data that pass through it")
	default:
		type key struct { // of the groups along one axis of a grid
			stride        int32
			ranks, groups int
			spreads, sums bool
		}
		return topology.Once(r.t, key{groups[0][1] - groups[0][0], len(groups[0]), len(groups), spreads, sums}, func() error {
			return r.teamsWork(groups, spreads, sums)
		})
	}
}

func (r *request) teamsWork(groups [][]int32, spreads, sums bool) error {
	step := func(n int) int {
		if r.t.Healthy() != r.t || n <= sampled {
			return 1
		}
		return n/sampled | 1
	}
	oneNode := r.t.Healthy() == r.t && r.turnGroups(groups[0])
	inside := map[topology.NodeShape]bool{} // of which nodes with all of their ranks were looked at, whose routes stay in the node
	for g := 0; g < len(groups); g += step(len(groups)) {
		node := r.t.NodeOf(int(groups[g][0]))
		shape := r.t.Shape(node)
		whole := len(groups[g]) == shape.Ranks && r.t.NodeOf(int(groups[g][shape.Ranks-1])) == node
		if whole && inside[shape] {
			continue
		}
		for i := 0; i < len(groups[g]); i += step(len(groups[g])) {
			if oneNode && r.t.NodeOf(int(groups[g][i])) > 0 {
				continue
			}
			if err := teamWorks(r.router, groups[g], i, spreads, sums); err != nil {
				return notApplicable("%v", err)
			}
		}
		if whole && shape.Ranks > 1 {
			route, err := r.router.Route(int(groups[g][0]), int(groups[g][1]))
			inside[shape] = err == nil && route.Medium != topology.Network
		}
	}
	return nil
}

// turnGroups reports whether a turn of all nodes is a symmetry that turns groups like this one into one another: those inside a
// node, and those with ranks of every node.
func (r *request) turnGroups(group []int32) bool {
	last, nodes := -1, 0
	for _, q := range group {
		if n := r.t.NodeOf(int(q)); n != last {
			last, nodes = n, nodes+1
		}
	}
	return (nodes == 1 || nodes == r.t.NumNodes()) && r.nodesRotate()
}

// teamWorks asks whether switches do what is needed between one rank of a group and all others.
func teamWorks(router *topology.Router, group []int32, at int, spreads, sums bool) error {
	others := slices.Delete(slices.Clone(group), at, at+1)
	for _, kind := range []struct{ asked, sums bool }{{spreads, false}, {sums, true}} {
		if !kind.asked {
			continue
		}
		if err := router.TeamWorks(topology.Team{Rank: group[at], Peers: others, Sums: kind.sums}); err != nil {
			return err
		}
	}
	return nil
}
