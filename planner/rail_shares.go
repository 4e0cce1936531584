package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner/pack"
)

// buildRailShares is for nodes of GPUs that are not all alike (elsewhere hierarchies need no shares): hierarchies whose rails and
// roots have the shares for which they have room (see pack.RailShares).
func buildRailShares(r *request) (*schedule.Schedule, error) {
	x := r.railShares()
	if x.err != nil {
		return nil, x.err
	}
	return r.levels(x.trees), nil
}

// maxSharedRanks bounds what takes many seconds.
const maxSharedRanks = 256

// railDepths: levels are the stages of the pipeline. Nothing folds, so that of many ranks
// no long one is simulated.
func railDepths(r *request) []int {
	most := max(2048/r.spec.Ranks, 8)
	if r.spec.Kind != collective.AllReduce {
		most *= 2 // half the messages
	}
	return upTo([]int{1, 4, 8, 16, 32, 64}, most)
}

// sharedRails are the trees of rail_shares, or why there are none.
type sharedRails struct {
	trees *schedule.Trees
	share float64 // of the bound
	err   error
}

func (r *request) railShares() *sharedRails {
	use, ok := uses[r.spec.Kind]
	switch {
	case !ok || !use.PerRoot() && use != pack.AllReduce:
		return &sharedRails{err: notApplicable("it does not make %v", r.spec.Kind)}
	case r.t.NumNodes() < 2 || r.spec.Ranks > maxSharedRanks:
		return &sharedRails{err: notApplicable("it is for up to %d ranks on several nodes", maxSharedRanks)}
	}
	if use == pack.ReduceScatter {
		use = pack.AllGather // backwards
	}
	type key struct {
		use pack.Use
		op  collective.Kind
	}
	return topology.Once(r.t, key{use, r.treeOp()}, func() *sharedRails { return r.shareRails(use) })
}

func (r *request) shareRails(use pack.Use) *sharedRails {
	g, err := pack.FromTopology(r.t)
	var p *pack.Packing
	if err == nil {
		p, err = pack.RailShares(g, use)
	}
	if err != nil {
		return &sharedRails{err: notApplicable("%v", err)}
	}
	t, err := r.treesOf(p, r.treeOp())
	if err != nil {
		return &sharedRails{err: err}
	}
	t.Join = true
	if use == pack.AllReduce { // chunks of a rail lie side by side, so that messages of several roots join
		slices.SortStableFunc(t.List, func(a, b schedule.Tree) int {
			return cmp.Or(cmp.Compare(a.Root%t.Local, b.Root%t.Local), cmp.Compare(a.Root, b.Root))
		})
	}
	return &sharedRails{trees: t, share: p.Share}
}

// enoughOfRails is the share of the bound from which on shares of rails make searching for
// other trees needless: those have more and smaller messages, and take long to simulate.
const enoughOfRails = 0.93
