package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/planner/pack"
)

// maxPackedRanks bounds what is written out tree by tree.
const maxPackedRanks = 256

// maxProgram bounds the messages that are ordered one by one.
const maxProgram = 600_000

// maxPieces is up to how many pieces messages are ordered one by one; with more, levels are
// phases.
const maxPieces = 1024

// maxChunks bounds the parts and pieces of the data together.
const maxChunks = 1 << 23

// buildPackedTrees sends data down spanning trees that together fill the links that limit
// (see the package pack), or, the other way round, sums it up along them; all_reduce is
// both. Where all ranks are alike, every rank is root of as much; all_reduce takes other
// roots where these do more.
func buildPackedTrees(r *request) (*schedule.Schedule, error) { return r.buildTrees(r.allTrees()) }

// buildFewTrees is the same with fewer parts, where the best number of them is large:
// fewer and larger messages that come less near to the bound.
func buildFewTrees(r *request) (*schedule.Schedule, error) { return r.buildTrees(r.fewTrees()) }

func (r *request) buildTrees(x *treeSet) (*schedule.Schedule, error) {
	if x.err != nil {
		return nil, x.err
	}
	if x.trees.Height() == 1 && x.trees.Units > 0 {
		return nil, notApplicable("every rank reaches all others at once: direct does the same")
	}
	return r.packedSchedule(x)
}

// treeSet is trees, or why there are none.
type treeSet struct {
	trees *schedule.Trees
	parts int64 // of each root's data, or of all
	err   error
}

// allTrees packs trees once for all pipeline depths.
func (r *request) allTrees() *treeSet {
	if r.packed == (treeSet{}) {
		r.packed.find(r, false)
	}
	return &r.packed
}

// fewTrees does that for trees in few parts.
func (r *request) fewTrees() *treeSet {
	if r.few == (treeSet{}) {
		if all := r.allTrees(); all.err != nil {
			r.few.err = all.err
		} else if all.parts <= manyParts || all.trees.Height() <= 2 && all.trees.Units > 0 {
			r.few.err = notApplicable("trees in %d parts are few enough, or as low as can be", all.parts)
		} else {
			if r.few.find(r, true); r.few.err == nil && r.few.parts == all.parts {
				r.few = treeSet{err: notApplicable("fewer parts are no better")}
			}
		}
	}
	return &r.few
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

// uses says what trees a collective takes.
var uses = map[collective.Kind]pack.Use{
	collective.AllGather: pack.AllGather, collective.ReduceScatter: pack.AllGather, collective.AllReduce: pack.AllReduce,
	collective.Broadcast: pack.Broadcast, collective.Reduce: pack.Reduce,
}

// find makes a schedule's trees of the packing.
func (x *treeSet) find(r *request, few bool) { x.trees, x.parts, x.err = r.packTrees(few) }

func (r *request) packTrees(few bool) (*schedule.Trees, int64, error) {
	use, ok := uses[r.spec.Kind]
	if n := r.spec.Ranks; !ok || n < 3 || n > maxPackedRanks {
		return nil, 0, notApplicable("packed trees are for 3 to %d ranks, and not for all_to_all, scatter or gather", maxPackedRanks)
	}
	g, err := pack.FromTopology(r.t)
	if err != nil {
		return nil, 0, notApplicable("%v", err)
	}
	p, err := pack.PackFor(g, use, r.spec.Root, pack.Options{Few: few})
	if err != nil {
		return nil, 0, notApplicable("%v", err)
	}
	chunks := p.K
	if p.Use == pack.AllGather {
		chunks *= int64(r.spec.Ranks)
	}
	if chunks > 1<<20 {
		return nil, 0, notApplicable("the trees cut the data into %d parts", chunks)
	}
	t := &schedule.Trees{Units: unitsOf(p), Rates: ratesOf(p, g), Local: int32(r.spec.Ranks)}
	if nodes := r.t.NumNodes(); r.spec.Ranks%nodes == 0 {
		t.Local = int32(r.spec.Ranks / nodes)
	}
	for root, list := range p.Trees {
		for _, x := range list {
			if x.Weight > 0 {
				t.List = append(t.List, schedule.Tree{Root: int32(root), Weight: int32(x.Weight), Parent: x.Parent})
			}
		}
	}
	if err := r.reachable(t); err != nil {
		return nil, 0, err
	}
	return t, p.K, nil
}

// ratesOf are how fast ranks send to one another: as their links are; without direct
// links, as much as they have to send. Nil where all are alike.
func ratesOf(p *pack.Packing, g *pack.Graph) []schedule.TreeRate {
	hops := p.Hops()
	if g.Direct() {
		hops = g.Edges
	}
	var unit, most int64
	for _, h := range hops {
		unit, most = gcd(unit, h.Cap), max(most, h.Cap)
	}
	if unit == most {
		return nil
	}
	if most/unit > maxRate {
		unit = (most + maxRate - 1) / maxRate
	}
	out := make([]schedule.TreeRate, len(hops))
	for i, h := range hops {
		out[i] = schedule.TreeRate{From: h.From, To: h.To, Rate: int32(max(1, h.Cap/unit))}
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

// reachable checks that all hops have a route.
func (r *request) reachable(t *schedule.Trees) error {
	for i := range t.List {
		for v, p := range t.List[i].Parent {
			if p >= 0 {
				if _, err := r.router.Route(int(p), v); err != nil {
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
		return r.wholeTrees(t), nil
	}
	height := t.Height()
	if height > maxLevels {
		return nil, notApplicable("trees of %d levels, and too many messages to order one by one", height)
	}
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: chunksOf(t), Trees: t}
	level := func(op collective.Kind, src schedule.Buffer, d int) {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenTrees, Op: op, Src: src, Acc: schedule.Scratch, Dst: schedule.Output, Level: d})
	}
	if r.spec.Kind.Reduces() {
		for d := height; d > 0; d-- {
			level(collective.ReduceScatter, schedule.Input, d)
		}
	}
	from := schedule.Input
	if r.spec.Kind == collective.AllReduce {
		from = schedule.Output
	}
	for d := 1; d <= height && r.spec.Kind != collective.ReduceScatter && r.spec.Kind != collective.Reduce; d++ {
		level(collective.AllGather, from, d)
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}, nil
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

// wholeTrees cuts the data into pieces instead of slices.
func (r *request) wholeTrees(t *schedule.Trees) *schedule.Schedule {
	cut := *t
	n := int32(r.slices())
	cut.Units, cut.Pieces, cut.List = t.Units*n, n, slices.Clone(t.List)
	for i := range cut.List {
		cut.List[i].Weight *= n
	}
	op := collective.AllReduce
	switch r.spec.Kind {
	case collective.AllGather, collective.Broadcast:
		op = collective.AllGather
	case collective.ReduceScatter, collective.Reduce:
		op = collective.ReduceScatter
	}
	return &schedule.Schedule{Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: chunksOf(&cut), Trees: &cut,
		Phases: []schedule.Phase{{Gen: schedule.GenTrees, Op: op, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output}}}}}
}

// inOneProgram reports whether to order all messages one by one: not where levels are few,
// and equal ranks are what lets the simulator fold them, nor where messages are many.
func (r *request) inOneProgram(x *treeSet) bool {
	return x.trees.Height() > 2 && (r.slices() == 1 || r.slices() <= min(maxPieces, maxProgram/x.hops(r.spec.Ranks), maxChunks/chunksOf(x.trees)))
}
