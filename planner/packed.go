package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/order"
	"railyard/planner/pack"
)

// maxPackedRanks bounds what is written out tree by tree.
const maxPackedRanks = 256

// maxProgram bounds the messages that are ordered one by one.
const maxProgram = 2_100_000

// maxPieces is up to how many pieces messages are ordered one by one; with more, levels are
// phases.
const maxPieces = 2048

// maxChunks bounds the parts and pieces of the data together.
const maxChunks = 1 << 23

// ofTrees builds what sends data down spanning trees that together fill the links that limit
// (see the package pack), or, the other way round, sums it up along them; all_reduce is
// both. Where all ranks are alike, every rank is root of as much; all_reduce takes other
// roots where these do more. few_trees is the same with fewer parts, where the best number of them is large:
// fewer and larger messages that come less near to the bound.
func ofTrees(trees func(*request) *treeSet) builder {
	return func(r *request) (*schedule.Schedule, error) {
		x := trees(r)
		if x.err != nil {
			return nil, x.err
		}
		if x.trees.Height() == 1 && x.trees.Units > 0 && x.paths == nil {
			return nil, notApplicable("every rank reaches all others at once: direct does the same")
		}
		s, err := r.packedSchedule(x)
		if err == nil {
			s.Paths = x.paths
		}
		return s, err
	}
}

// treeSet is trees, or why there are none.
type treeSet struct {
	trees  *schedule.Trees
	rates  []order.Rate    // of connections
	parts  int64           // of each root's data, or of all
	share  float64         // of the bound, on paper
	low    float64         // of shares of rails: the same of trees that are as low as can be
	shared bool            // transfers share links behind switches
	paths  []schedule.Path // of hops that choose among planes of switches
	err    error
}

// manyParts is from how many on fewer are tried as well.
const manyParts = 8

// hops is the number of messages of a slice; 0 where there are no trees.
func (x *treeSet) hops(ranks int) int {
	if x.err != nil {
		return 0
	}
	return len(x.trees.List) * (ranks - 1)
}

// treeSets are the trees of a topology for one collective.
type treeSets struct {
	all, few *treeSet
	fewer    func() []*treeSet // see pack.Packing
}

func (r *request) allTrees() *treeSet { return r.treeSets().all }

func (r *request) fewTrees() *treeSet { return r.treeSets().few }

// treeSets makes a schedule's trees of the packing, once for each topology.
func (r *request) treeSets() treeSets {
	if n := r.spec.Ranks; !slices.Contains(dense, r.spec.Kind) || n < 3 || n > maxPackedRanks {
		none := &treeSet{err: notApplicable("packed trees are for 3 to %d ranks, and not for all_to_all, scatter or gather",
			maxPackedRanks)}
		return treeSets{all: none, few: none}
	}
	type key struct {
		kind   collective.Kind
		root   int
		budget Budget
	}
	return topology.Once(r.t, key{r.spec.Kind, r.spec.Root, r.o.Budget}, r.packTrees)
}

func (r *request) packTrees() treeSets {
	g, err := pack.FromTopology(r.t)
	if err != nil {
		none := &treeSet{err: notApplicable("%v", err)}
		return treeSets{all: none, few: none}
	}
	p, err := pack.ForTopology(r.t, r.spec.Kind, r.spec.Root, pack.Options{Work: r.o.Budget.part(pack.DefaultWork)})
	x := treeSets{all: &treeSet{err: notApplicable("%v", err)}}
	if err == nil {
		x.all = r.treeSet(p, g)
		x.fewer = func() (out []*treeSet) {
			for _, f := range p.Fewer {
				out = append(out, r.treeSet(f, g))
			}
			return out
		}
	}
	switch {
	case x.all.err != nil:
		x.few = &treeSet{err: x.all.err}
	case x.all.parts <= manyParts || x.all.trees.Height() <= 2 && x.all.trees.Units > 0:
		x.few = &treeSet{err: notApplicable("trees in %d parts are few enough, or as low as can be", x.all.parts)}
	case p.Few == nil || p.Few.K == p.K:
		x.few = &treeSet{err: notApplicable("fewer parts are no better")}
	default:
		x.few = r.treeSet(p.Few, g)
	}
	return x
}

func (r *request) treeSet(p *pack.Packing, g *pack.Graph) *treeSet {
	trees, err := r.treesOf(p, r.treeOp())
	return &treeSet{trees: trees, rates: ratesOf(p, g), parts: p.K, share: p.Share, shared: !g.Direct(), paths: r.pathsOf(p.Paths),
		err: err}
}

// pathsOf are the ways of hops that are not the routes of the topology.
func (r *request) pathsOf(list []pack.Path) (out []schedule.Path) {
	for _, p := range list {
		out = append(out, schedule.NewPath(r.t, p.From, p.To, p.Stripes))
	}
	return out
}

// treesOf are the trees of a packing, which go in, out or both ways, as op says.
func (r *request) treesOf(p *pack.Packing, op collective.Kind) (*schedule.Trees, error) {
	chunks := p.K
	if pack.PerRoot(p.Kind) {
		chunks *= int64(r.spec.Ranks)
	}
	if chunks > 1<<20 {
		return nil, notApplicable("the trees cut the data into %d parts", chunks)
	}
	t := &schedule.Trees{Units: unitsOf(p), Local: r.local()}
	for root, list := range p.Trees {
		for _, x := range list {
			if x.Weight > 0 {
				t.List = append(t.List, schedule.Tree{Root: int32(root), Weight: int32(x.Weight), Parent: x.Parent, Up: x.Up})
			}
		}
	}
	return t, r.reachable(t, op)
}

// local is how many ranks each node has; all, where nodes differ.
func (r *request) local() int32 {
	if nodes := r.t.NumNodes(); r.spec.Ranks%nodes == 0 {
		return int32(r.spec.Ranks / nodes)
	}
	return int32(r.spec.Ranks)
}

// ratesOf are how fast ranks send to one another: as their links are; without direct
// links, as much as they have to send. Nil where all are alike.
func ratesOf(p *pack.Packing, g *pack.Graph) []order.Rate {
	hops := p.Hops()
	if g.Direct() {
		hops = g.Edges
	}
	var unit, most int64
	for _, h := range hops {
		unit, most = units.GCD(unit, h.Cap), max(most, h.Cap)
	}
	if unit == most {
		return nil
	}
	if most/unit > maxRate {
		unit = (most + maxRate - 1) / maxRate
	}
	out := make([]order.Rate, len(hops))
	for i, h := range hops {
		out[i] = order.Rate{From: h.From, To: h.To, Rate: max(1, h.Cap/unit)}
	}
	return out
}

// maxRate is how exact rates are.
const maxRate = 10_000

// unitsOf is how many parts each root has, 0 where that differs.
func unitsOf(p *pack.Packing) int32 {
	var units int64
	for root, list := range p.Trees {
		var sum int64
		for _, x := range list {
			sum += x.Weight
		}
		if root > 0 && sum != units {
			return 0
		}
		units = sum
	}
	return int32(units)
}

// reachable checks that all hops have a route, the ways that an operation goes.
func (r *request) reachable(t *schedule.Trees, op collective.Kind) error {
	for _, up := range []bool{false, true} {
		for i := range t.List {
			for v, p := range t.List[i].Parents(up) {
				from, to := int(p), v
				if up {
					from, to = to, from
				}
				if p < 0 || up && op == collective.AllGather || !up && op == collective.ReduceScatter {
					continue
				}
				if err := r.router.Reach(from, to); err != nil {
					return notApplicable("%v", err)
				}
			}
		}
	}
	return nil
}

// packedSchedule has a phase for each level of low trees, or one program for all levels
// of few messages.
func (r *request) packedSchedule(x *treeSet) (*schedule.Schedule, error) {
	t := x.trees
	if r.inOneProgram(x) {
		return of(r.inPieces(t, r.order(x))), nil
	}
	if height := t.Height(); height > maxLevels {
		return nil, notApplicable("trees of %d levels, and too many messages to order one by one", height)
	}
	return r.levels(t), nil
}

// levels has a phase for each level of trees: they are one strand.
func (r *request) levels(t *schedule.Trees) *schedule.Schedule {
	return (&stranded{t, t.Height(), 1}).schedule(r)
}

// maxLevels is the height up to which each level of trees is a phase; higher ones would
// make pipelines that are too long to fill.
const maxLevels = 12

func chunksOf(t *schedule.Trees) int {
	n := 0
	for i := range t.List {
		n += int(t.List[i].Weight)
	}
	return n
}

// inPieces is a channel whose data are cut into pieces instead of slices, and whose
// messages have one order.
func (r *request) inPieces(t *schedule.Trees, orders []schedule.TreeOrder) schedule.Channel {
	cut := *t
	n := int32(r.slices())
	cut.Units, cut.Pieces, cut.List = t.Units*n, n, slices.Clone(t.List)
	for i := range cut.List {
		cut.List[i].Weight *= n
	}
	return schedule.Channel{Share: 1, Slices: 1, Chunks: chunksOf(&cut), Trees: &cut,
		Phases: []schedule.Phase{{Gen: schedule.GenTrees, Op: r.treeOp(), Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output,
			Order: orders}}}
}

// treeOp is which ways trees go: in, out, or both.
func (r *request) treeOp() collective.Kind {
	switch r.spec.Kind {
	case collective.AllGather, collective.Broadcast:
		return collective.AllGather
	case collective.ReduceScatter, collective.Reduce:
		return collective.ReduceScatter
	}
	return collective.AllReduce
}

// order is that of all messages of trees, the same for any number of pieces.
func (r *request) order(x *treeSet) []schedule.TreeOrder {
	type key struct {
		trees  *schedule.Trees
		op     collective.Kind
		pieces bool
	}
	op, pieces := r.treeOp(), r.slices() > 1
	return topology.Once(r.t, key{x.trees, op, pieces}, func() []schedule.TreeOrder {
		return order.Trees(x.trees, r.spec.Ranks, op,
			x.rates, pieces)
	})
}

// inOneProgram reports whether to order all messages one by one: not where levels are few,
// and equal ranks are what lets the simulator fold them, nor where messages are many.
func (r *request) inOneProgram(x *treeSet) bool {
	return x.worthOrder() && (r.slices() == 1 || r.slices() <= min(maxPieces, maxProgram/x.hops(r.spec.Ranks), maxChunks/chunksOf(x.trees)))
}

// worthOrder reports whether the order of messages matters: where trees are high, or roots
// and connections unequal.
func (x *treeSet) worthOrder() bool {
	return x.trees.Height() > 2 || (x.trees.Units == 0 || !x.shared) && x.rates != nil
}
