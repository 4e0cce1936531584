package planner

import (
	"cmp"
	"slices"

	"railyard/model/schedule"
	"railyard/planner/pack"
)

func buildJoinedTrees(r *request) (*schedule.Schedule, error) {
	use, ok := uses[r.spec.Kind]
	if !ok {
		return nil, notApplicable("no")
	}
	g, err := pack.FromTopology(r.t)
	if err != nil {
		return nil, notApplicable("%v", err)
	}
	p, err := pack.RailShares(g, use)
	if err != nil {
		return nil, notApplicable("%v", err)
	}
	println("share", int(p.Share*10000), "K", p.K, "trees", p.Count(), "height", p.Height)
	t, err := r.treesOf(p, g)
	if err != nil {
		return nil, err
	}
	t.Join, t.Rates = true, nil
	if use == pack.AllReduce {
		slices.SortStableFunc(t.List, func(a, b schedule.Tree) int {
			return cmp.Or(cmp.Compare(a.Root%t.Local, b.Root%t.Local), cmp.Compare(a.Root, b.Root))
		})
	}
	return r.levelled(t), nil
}
