package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/order"
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
		if x := inStrands(o.trees, &r.spec); x != nil {
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
		out = append(out, x)
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

// inStrands puts every part of trees into the first strand in which its connections have room; nil where a collective has too many phases
// in these. Where a turn of the nodes leaves trees as they are, it has to leave the strands, too, unless those would be too many.
func inStrands(t *schedule.Trees, spec *collective.Spec) *stranded {
	out := inRings(t, spec, int32(spec.Ranks))
	if t.Turns(spec.Ranks) && (out == nil || !out.Turns(spec.Ranks)) {
		return cmp.Or(inRings(t, spec, t.Local), out)
	}
	return out
}

// inRings has strands that come in rings of as many as there are nodes of so many ranks: of its first, each tree of the first node has a
// place, turned as far as it has to be, and others are where turns bring them.
func inRings(t *schedule.Trees, spec *collective.Spec, local int32) *stranded {
	ranks := int32(spec.Ranks)
	x := &strands{ranks: ranks, local: local, nodes: ranks / local, height: int32(t.Height())}
	unit := unitOf(t)
	for i := range t.List {
		if tree := &t.List[i]; tree.Root < x.local {
			for range tree.Weight / unit {
				if !x.place(tree) {
					return nil
				}
			}
		}
	}
	out := &stranded{Trees: &schedule.Trees{Units: t.Units, Local: t.Local}, height: t.Height(), count: len(x.taken) * int(x.nodes)}
	for _, p := range x.parts {
		for n := range x.nodes {
			out.List = append(out.List, x.turned(p, n, unit))
		}
	}
	if x.nodes > 1 {
		slices.SortStableFunc(out.List, func(a, b schedule.Tree) int { return cmp.Compare(a.Root, b.Root) })
	}
	if len(out.phases(spec.Kind)) > schedule.MaxPhases {
		return nil
	}
	return out
}

// strands are rings of strands that are filled.
type strands struct {
	ranks, local, nodes, height int32
	taken                       []map[laneHop]bool // by ring: of its first strand
	parts                       []strandPart
}

// strandPart is a part of a tree that turns as far into the first strand of a ring.
type strandPart struct {
	*schedule.Tree
	ring, by int32
	levels   []int32 // in the strand
}

// laneHop is a connection in a level of a strand.
type laneHop struct{ from, to, level int32 }

// place puts a part into the first ring with room for it, turned as little as may be, and says whether there are not too many.
func (x *strands) place(tree *schedule.Tree) bool {
	p, ordered := strandPart{Tree: tree, levels: make([]int32, x.ranks)}, outwards(tree)
	for ; ; p.ring++ {
		if int(p.ring) == len(x.taken) {
			if x.taken = append(x.taken, map[laneHop]bool{}); len(x.taken)*int(x.nodes*x.height) > schedule.MaxPhases {
				return false
			}
		}
		for p.by = range x.nodes {
			if x.fits(&p, ordered) {
				for _, v := range ordered[1:] {
					x.taken[p.ring][x.hop(&p, v)] = true
				}
				x.parts = append(x.parts, p)
				return true
			}
		}
	}
}

// hop is a part's hop to a rank, where it turns.
func (x *strands) hop(p *strandPart, to int32) laneHop {
	return laneHop{x.turn(p.Parent[to], p.by), x.turn(to, p.by), p.levels[to]}
}

// turn is where a rank comes when nodes turn.
func (x *strands) turn(rank, by int32) int32 { return (rank + by*x.local) % x.ranks }

// fits finds the first levels of a ring's strand that a part's hops may have, and says whether there are any.
func (x *strands) fits(p *strandPart, ordered []int32) bool {
	p.levels[p.Root] = 0
	for _, v := range ordered[1:] {
		for p.levels[v] = p.levels[p.Parent[v]] + 1; x.taken[p.ring][x.hop(p, v)]; p.levels[v]++ {
		}
		if p.levels[v] > x.height {
			return false
		}
	}
	return true
}

// turned is a part of a tree whose nodes turn, in the strand to which that brings it.
func (x *strands) turned(p strandPart, n, unit int32) schedule.Tree {
	out := schedule.Tree{Root: x.turn(p.Root, n), Weight: unit, Parent: make([]int32, x.ranks), Levels: make([]int32, x.ranks)}
	strand := (n-p.by+x.nodes)%x.nodes*int32(len(x.taken)) + p.ring
	for v, u := range p.Parent {
		at := x.turn(int32(v), n)
		if out.Parent[at] = -1; u >= 0 {
			out.Parent[at], out.Levels[at] = x.turn(u, n), strand*x.height+p.levels[v]
		}
	}
	return out
}

// outwards has each rank of a tree behind its parent.
func outwards(x *schedule.Tree) []int32 {
	children := make([][]int32, len(x.Parent))
	for v, u := range x.Parent {
		if u >= 0 {
			children[u] = append(children[u], int32(v))
		}
	}
	return order.Outward(children, x.Root)
}

// schedule has a phase for each level of each strand that trees have hops in.
func (x *stranded) schedule(r *request) *schedule.Schedule {
	return of(schedule.Channel{Share: 1, Slices: r.slices(), Chunks: chunksOf(x.Trees), Trees: x.Trees, Phases: x.phases(r.spec.Kind)})
}

// phases are those of all strands, of a collective.
func (x *stranded) phases(kind collective.Kind) (out []schedule.Phase) {
	up, down := x.Used(true), x.Used(false)
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
			for d := min(len(up)-1, (g+1)*x.height); d > g*x.height; d-- {
				if up[d] {
					level(collective.ReduceScatter, schedule.Input, d)
				}
			}
		}
		if kind != collective.ReduceScatter && kind != collective.Reduce {
			for d := g*x.height + 1; d <= min(len(down)-1, (g+1)*x.height); d++ {
				if down[d] {
					level(collective.AllGather, from, d)
				}
			}
		}
		if g > 0 {
			out[first].Apart = true
		}
	}
	return out
}
