package planner

import (
	"railyard/model/schedule"
	"railyard/model/units"
	"railyard/planner/order"
)

// mostParallel is up to how many equal parts of trees have channels of their own, each of which takes thread blocks on
// every GPU.
const mostParallel = 32

// buildParallelTrees is packed_trees whose messages keep no common order, but go on at once: each equal part of the data in
// a channel of its own, or, where all ranks are roots or parts are many, each level of all trees beside the others. In one
// order, a connection that several trees take shares the links behind a switch with others as if it were one, and a root,
// which receives nothing, sends as fast as it can what it sends alone; apart, all parts or levels get the same. But what they
// have to wait for is not put in order then, which costs direct links more than it gains.
func buildParallelTrees(r *request) (*schedule.Schedule, error) {
	x := r.allTrees()
	if x.err != nil {
		return nil, x.err
	}
	parts := equalParts(x.trees)
	switch {
	case !x.shared || !x.worthOrder():
		return nil, notApplicable("trees share no links behind switches, or packed_trees has a phase for each level of them")
	case !uses[r.spec.Kind].PerRoot() && parts > 1 && parts <= mostParallel && r.inOneProgram(x):
		s := r.parallel(x.trees, parts)
		s.Paths = x.paths
		return s, nil
	case x.trees.Height() > maxLevels || r.slices()*x.hops(r.spec.Ranks) > r.o.Budget.part(ofAllTrees):
		return nil, notApplicable("trees in %d parts of %d levels, or in too many slices", parts, x.trees.Height())
	}
	s := r.levels(x.trees)
	s.Paths = x.paths
	return s, nil
}

// parallel is a channel for each part.
func (r *request) parallel(t *schedule.Trees, parts int) *schedule.Schedule {
	out := &schedule.Schedule{}
	part := int32(chunksOf(t) / parts)
	for _, tree := range t.List {
		times := tree.Weight / part
		tree.Weight = part
		one := &schedule.Trees{Local: t.Local, List: []schedule.Tree{tree}}
		orders := order.Trees(one, r.spec.Ranks, r.treeOp(), nil, r.slices() > 1)
		for range times {
			out.Channels = append(out.Channels, r.inPieces(one, orders))
		}
	}
	return out
}

// equalParts is how many equal parts trees carry together.
func equalParts(t *schedule.Trees) int {
	unit := int64(0)
	for i := range t.List {
		unit = units.GCD(unit, int64(t.List[i].Weight))
	}
	return chunksOf(t) / int(max(unit, 1))
}

// parallelDepths are those of packed_trees that fill pipelines.
func parallelDepths(r *request) []int {
	if x := r.allTrees(); x.err != nil || !x.shared {
		return []int{1}
	}
	return []int{16, 64, 256, 1024}
}
