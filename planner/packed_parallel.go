package planner

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/order"
)

// maxLanes is how many phases there are of levels beside one another. It is chosen: more make shares of links more exact, and pipelines
// longer to fill.
const maxLanes = 64

// mostParallel is up to how many equal parts of trees have channels of their own, each of which takes thread blocks on
// every GPU.
const mostParallel = 32

// buildParallelTrees is packed_trees whose messages keep no common order, but go on at once: each equal part of the data in
// a channel of its own, or, where all ranks are roots or parts are many, each level of all trees beside the others (see lanes). In one
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
	case !x.shared || !x.worthOrder() && x.rates == nil:
		return nil, notApplicable("trees share no links behind switches, or all connections carry as much")
	case !uses[r.spec.Kind].PerRoot() && parts > 1 && parts <= mostParallel && r.inOneProgram(x):
		s := r.parallel(x.trees, parts)
		s.Paths = x.paths
		return s, nil
	}
	return r.inLanes()
}

// inLanes has a phase for each level of trees.
func (r *request) inLanes() (*schedule.Schedule, error) {
	type key struct {
		kind collective.Kind
		root int
	}
	tooMany := func(t *schedule.Trees) bool {
		return r.slices()*len(t.List)*(r.spec.Ranks-1) > r.o.Budget.part(ofAllTrees)
	}
	if tooMany(r.allTrees().trees) && (r.fewTrees().err != nil || tooMany(r.fewTrees().trees)) {
		return nil, notApplicable("too many trees, in too many slices")
	}
	x := topology.Once(r.t, key{r.spec.Kind, r.spec.Root}, r.laneTrees)
	switch {
	case x.err != nil:
		return nil, x.err
	case tooMany(x.trees):
		return nil, notApplicable("trees in %d parts, in too many slices", len(x.trees.List))
	}
	s := r.levels(x.trees)
	s.Paths = x.paths
	return s, nil
}

// laneTrees are trees with levels (see lanes), or fewer of them where these are faster.
func (r *request) laneTrees() *treeSet {
	most := maxLanes
	if r.spec.Kind == collective.AllReduce {
		most /= 2 // up and down
	}
	best, least := &treeSet{err: notApplicable("trees of more than %d levels, or sums that go up along others than results", most)},
		math.Inf(1)
	for _, x := range []*treeSet{r.allTrees(), r.fewTrees()} {
		if x.err != nil || slices.ContainsFunc(x.trees.List, func(t schedule.Tree) bool { return t.Up != nil }) {
			continue
		}
		crossings, err := x.crossings()
		if err != nil {
			return &treeSet{err: err}
		}
		if t, seconds := lanes(x.trees, crossings, r.treeOp(), most); t != nil && seconds < least {
			best, least = &treeSet{trees: t, paths: x.paths}, seconds
		}
	}
	return best
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
