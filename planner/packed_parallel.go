package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
	"railyard/planner/order"
)

// mostParallel is up to how many equal parts of trees have channels of their own: 64 GPUs in
// unequal nodes have 32 (seed 369 in docs/planning.md).
const mostParallel = 32

// buildParallelTrees is packed_trees with a channel for each equal part of the data, all
// of which go on at once. In one order, a connection that several trees take shares the
// links behind a switch with others as if it were one, and a root, which receives nothing,
// sends as fast as it can what it sends alone; in channels of their own all parts get the
// same. But what they have to wait for is not put in order then, which costs direct links
// more than it gains.
func buildParallelTrees(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.Broadcast, collective.Reduce, collective.AllReduce); err != nil {
		return nil, err
	}
	x := r.allTrees()
	if x.err != nil {
		return nil, x.err
	}
	parts := equalParts(x.trees)
	switch {
	case !x.shared:
		return nil, notApplicable("trees share no links behind switches")
	case parts == 1 || parts > mostParallel || !r.inOneProgram(x):
		return nil, notApplicable("trees in %d equal parts, or in too many pieces", parts)
	}
	return r.parallel(x.trees, parts), nil
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
	return []int{16, 64, 128, 256}
}
