package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// buildParallelTrees is packed_trees whose messages keep no common order, but go on at once, in strands (see stranded). In one
// order, a connection that several trees take shares the links behind a switch with others as if it were one, and a root,
// which receives nothing, sends as fast as it can what it sends alone; in strands, each gets as much as it carries. But a message
// that is not alone on its links takes longer, so that on direct links an order, in which one follows the other, fills
// pipelines with fewer.
func buildParallelTrees(r *request) (*schedule.Schedule, error) {
	type key struct {
		kind   collective.Kind
		root   int
		budget Budget
	}
	if x := r.allTrees(); x.err != nil {
		return nil, x.err
	} else if !x.shared || !x.worthOrder() && x.rates == nil {
		return nil, notApplicable("trees share no links behind switches, or all connections carry as much")
	}
	x := topology.Once(r.t, key{r.spec.Kind, r.spec.Root, r.o.Budget}, r.strandTrees)
	switch {
	case x.err != nil:
		return nil, x.err
	case r.tooManyParts(len(x.List), r.slices()):
		return nil, notApplicable("trees in %d parts, in too many slices", len(x.List))
	}
	s := x.schedule(r)
	s.Paths = x.paths
	return s, nil
}

// strandSet is trees in strands, or why there are none.
type strandSet struct {
	*stranded
	paths []schedule.Path
	err   error
}

// tooManyParts reports whether trees in so many parts are too many messages to be played in so many slices.
func (r *request) tooManyParts(parts, slices int) bool {
	return slices*r.sends(parts) > r.o.Budget.part(ofAllTrees)
}

// sends are the messages of a slice.
func (r *request) sends(parts int) int {
	if r.spec.Kind == collective.AllReduce {
		parts *= 2 // up and down
	}
	return parts * (r.spec.Ranks - 1)
}

// strandTrees are the trees in strands, of all that were found, whose time promises the most for the work to play them, in the best number
// of slices for each (see contest.price).
func (r *request) strandTrees() *strandSet {
	type option struct {
		*treeSet
		price float64
	}
	var options []option
	for _, x := range r.anyTrees() {
		if x.err != nil || slices.ContainsFunc(x.trees.List, func(t schedule.Tree) bool { return t.Up != nil }) {
			continue
		}
		parts, levels := equalParts(x.trees), float64(x.trees.Height())
		if r.spec.Kind == collective.AllReduce {
			levels *= 2
		}
		for _, n := range strandDepths {
			time, work := (float64(n)+levels-1)/float64(n)/x.share, ofMessage*n*r.sends(parts)
			if work <= int(r.o.Budget) {
				options = append(options, option{x, time * (1 + worth*float64(work))})
			}
		}
	}
	slices.SortStableFunc(options, func(a, b option) int { return cmp.Compare(a.price, b.price) })
	for _, o := range options {
		if x := inStrands(o.trees, r.spec.Ranks); x != nil && len(x.phases(r.spec.Kind)) <= schedule.MaxPhases {
			return &strandSet{stranded: x, paths: o.paths}
		}
	}
	return &strandSet{err: notApplicable("sums go up along other trees than results, or there are too many parts")}
}

// equalParts is how many equal parts trees carry together.
func equalParts(t *schedule.Trees) int { return chunksOf(t) / int(unitOf(t)) }

// unitOf is the largest part in which all trees are whole.
func unitOf(t *schedule.Trees) (unit int32) {
	for i := range t.List {
		unit = units.GCD(unit, t.List[i].Weight)
	}
	return max(unit, 1)
}

// anyTrees are the best ones, those in fewer parts, and those of islands.
func (r *request) anyTrees() []*treeSet {
	out := append(r.treeSets().fewer(), r.allTrees())
	if spareShares(r) {
		return out
	}
	if x := r.railShares(); x.err == nil {
		out = append(out, &treeSet{trees: x.trees, share: x.share, paths: x.paths})
	}
	return out
}

// ofMessage is about how many operations of the simulator a message of a strand takes: two, and as many for sharing its links.
const ofMessage = 4

// strandDepths are those that are tried.
var strandDepths = []int{4, 16, 64, 256, 1024}

// parallelDepths are those that fill pipelines; refinement finds others between.
func parallelDepths(r *request) []int {
	if x := r.allTrees(); x.err != nil || !x.shared {
		return []int{1}
	}
	return strandDepths
}

// stranded are trees in strands: phases of levels that wait for one another, and for no other strand's. In a phase a connection carries a
// part of the data at most, all parts being equal, so that as many of its messages are under way at once as it carries parts. Links that
// are shared evenly among messages then give each connection what trees have planned for it, whatever others do, since on no
// link are more messages than the trees have parts there; and a slice takes no longer than its height in slices at the rate that trees
// have on paper. So s slices take (s+height−1)/s of what they take on paper at most, where no message costs anything.
type stranded struct {
	*schedule.Trees
	height int // levels of a strand
	count  int // strands
}

// inStrands puts every part of trees into the first strand in which its connections have room; nil where these have too many phases.
func inStrands(t *schedule.Trees, ranks int) *stranded {
	out := &stranded{Trees: &schedule.Trees{Units: t.Units, Local: t.Local}, height: t.Height()}
	var taken []map[laneHop]bool // by strand
	levels, unit := make([]int32, ranks), unitOf(t)
	for i := range t.List {
		x := &t.List[i]
		ordered := outwards(x)
		for range x.Weight / unit {
			g := slices.IndexFunc(taken, func(hops map[laneHop]bool) bool { return fits(x, ordered, hops, levels, int32(out.height)) })
			if g < 0 {
				g, taken = len(taken), append(taken, map[laneHop]bool{})
				if len(taken)*out.height > schedule.MaxPhases {
					return nil
				}
				fits(x, ordered, taken[g], levels, int32(out.height))
			}
			part := *x
			part.Weight, part.Levels = unit, make([]int32, ranks)
			for _, v := range ordered[1:] {
				taken[g][laneHop{x.Parent[v], v, levels[v]}] = true
				part.Levels[v] = int32(g*out.height) + levels[v]
			}
			out.List = append(out.List, part)
		}
	}
	out.count = len(taken)
	return out
}

// laneHop is a connection in a level of a strand.
type laneHop struct{ from, to, level int32 }

// fits finds the first levels of a strand that a tree's hops may have, and says whether there are any.
func fits(x *schedule.Tree, ordered []int32, taken map[laneHop]bool, levels []int32, height int32) bool {
	levels[x.Root] = 0
	for _, v := range ordered[1:] {
		u := x.Parent[v]
		for levels[v] = levels[u] + 1; taken[laneHop{u, v, levels[v]}]; levels[v]++ {
		}
		if levels[v] > height {
			return false
		}
	}
	return true
}

// outwards has each rank of a tree behind its parent.
func outwards(x *schedule.Tree) []int32 {
	children := make([][]int32, len(x.Parent))
	for v, u := range x.Parent {
		if u >= 0 {
			children[u] = append(children[u], int32(v))
		}
	}
	out := []int32{x.Root}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// schedule has a phase for each level of each strand.
func (x *stranded) schedule(r *request) *schedule.Schedule {
	return of(schedule.Channel{Share: 1, Slices: r.slices(), Chunks: chunksOf(x.Trees), Trees: x.Trees, Phases: x.phases(r.spec.Kind)})
}

// phases are those of all strands, of a collective.
func (x *stranded) phases(kind collective.Kind) (out []schedule.Phase) {
	up, down := x.Levels(true), x.Levels(false)
	from := schedule.Input
	if kind == collective.AllReduce {
		from = schedule.Output
	}
	for g := range x.count {
		first := len(out)
		level := func(op collective.Kind, src schedule.Buffer, d int) {
			out = append(out, schedule.Phase{Gen: schedule.GenTrees, Op: op, Src: src, Acc: schedule.Scratch, Dst: schedule.Output,
				Level: d})
		}
		if kind.Reduces() {
			for d := min(up, (g+1)*x.height); d > g*x.height; d-- {
				level(collective.ReduceScatter, schedule.Input, d)
			}
		}
		if kind != collective.ReduceScatter && kind != collective.Reduce {
			for d := g*x.height + 1; d <= min(down, (g+1)*x.height); d++ {
				level(collective.AllGather, from, d)
			}
		}
		if g > 0 {
			out[first].Apart = true
		}
	}
	return out
}
