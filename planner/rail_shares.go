package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner/pack"
)

// buildRailShares is for flat graphs with islands, and for nodes of GPUs that are not all alike (elsewhere hierarchies need no
// shares): hierarchies whose rails and roots have the shares for which they have room (see pack.RailShares).
func buildRailShares(r *request) (*schedule.Schedule, error) {
	x := r.railShares()
	if x.err != nil {
		return nil, x.err
	}
	s := r.levels(x.trees)
	s.Paths = x.paths
	return s, nil
}

// maxSharedRanks bounds what takes many seconds.
const maxSharedRanks = 256

// railDepths: levels are the stages of the pipeline. Nothing folds, so that of many ranks
// no long one is simulated.
func railDepths(r *request) []int {
	if x := r.railShares(); r.t.NumBoxes() == 1 && x.err == nil {
		return upTo([]int{1, 8, 32, 64, 128, 512, 1400}, r.o.Budget.part(ofAllTrees)/(len(x.trees.List)*r.spec.Ranks))
	}
	most := max(2048/r.spec.Ranks, 8)
	if r.spec.Kind != collective.AllReduce {
		most *= 2 // half the messages
	}
	return upTo([]int{1, 4, 8, 16, 32, 64}, most)
}

// railShares are the trees of rail_shares, or why there are none.
func (r *request) railShares() *treeSet {
	switch {
	case !pack.PerRoot(r.spec.Kind) && r.spec.Kind != collective.AllReduce:
		return &treeSet{err: notApplicable("it does not make %v", r.spec.Kind)}
	case r.spec.Ranks > maxSharedRanks:
		return &treeSet{err: notApplicable("it is for up to %d ranks", maxSharedRanks)}
	}
	type key struct{ kind collective.Kind }
	return topology.Once(r.t, key{r.spec.Kind}, r.shareRails)
}

func (r *request) shareRails() *treeSet {
	g, err := pack.FromTopology(r.t)
	var p *pack.Packing
	if err == nil {
		p, err = pack.RailShares(g, r.spec.Kind)
	}
	if err != nil {
		return &treeSet{err: notApplicable("%v", err)}
	}
	t, err := r.treesOf(p, r.treeOp())
	if err != nil {
		return &treeSet{err: err}
	}
	t.Join = true
	if r.spec.Kind == collective.AllReduce { // chunks of a rail lie side by side, so that messages of several roots join
		slices.SortStableFunc(t.List, func(a, b schedule.Tree) int {
			return cmp.Or(cmp.Compare(a.Root%t.Local, b.Root%t.Local), cmp.Compare(a.Root, b.Root))
		})
	}
	out := &treeSet{trees: t, share: p.Share, paths: r.pathsOf(p.Paths)}
	if p.Height <= 2 && t.Units > 0 { // what roots of unequal shares lose, paper does not say
		out.low = p.Share
	}
	return out
}

// enoughOfRails is the share of the bound from which on shares of rails make searching for
// other trees of an all-reduce needless: those have more and smaller messages, and playing them takes the budget that others need.
// All-gathers and reduce-scatters have half as many, and come nearer to the bound.
const enoughOfRails = 0.93

// enoughOfIslands is the same in a flat graph, of trees that are as low as can be.
const enoughOfIslands = 0.985
