package planner

import (
	"encoding/binary"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/symmetry"
)

// railGroups are the groups in which ranks talk over rerouted rails. Chunks of an all-gather are units
// for each rank, in their order. Those of an all-reduce, which has no level 1, are numbered by
// rail, of a rail by node, and so are those that a root deals out (see railRoot).
type railGroups struct {
	*reroutes
	spec       collective.Spec
	inner      string // generator inside nodes, at level 3
	chunks     int
	root       *railRoot                         // of a broadcast or reduce
	kindOf     []int32                           // by group of the outermost tier, or node: which are equivalent
	first      [][]int                           // by such kind: the nodes of the first of them
	part       [][][]schedule.ChunkSet           // by rail, unit and node
	steps      [][]int32                         // by depth and node: whose chunks are in equal steps with its own (see align)
	passes     [][]railPass                      // level 2, by stage, without a root's node
	whole      map[railUnits][]schedule.ChunkSet // once known: those of all nodes
	between    map[[2]*railKind][]railHop        // of an all-to-all
	*nodeSizes                                   // the same
}

// railRun is neighbouring units of a rail.
type railRun struct{ first, count int }

type railUnits struct {
	rail int
	railRun
}

func newRailGroups(b *reroutes, spec collective.Spec, tiers [][]int32) *railGroups {
	g := &railGroups{reroutes: b, spec: spec, whole: map[railUnits][]schedule.ChunkSet{}, between: map[[2]*railKind][]railHop{}}
	root := -1
	if spec.Kind.Rooted() {
		root = slices.IndexFunc(b.rank, func(ranks []int32) bool { return slices.Contains(ranks, int32(spec.Root)) })
	}
	all := slices.Concat(tiers, [][]int32{identity(len(b.rank))})
	g.classify(all, root)
	g.number(root)
	g.align(all)
	switch {
	case spec.Kind == collective.AllToAll:
		g.nodeSizes = newNodeSizes(b.rank)
	case !g.collects():
		first := make([]bool, len(b.rank))
		for _, node := range slices.Concat(g.first...) {
			first[node] = true
		}
		g.passes = newRailTiers(tiers, len(first), func(node int) bool { return node != root }).passes(first)
	}
	if root >= 0 {
		g.root = newRailRoot(g, int32(spec.Root), root)
	}
	return g
}

// classify finds which groups of the outermost tier are of one shape, of nodes of the same kinds; the root's is by itself.
func (g *railGroups) classify(tiers [][]int32, root int) {
	keys, nodes := [][]byte{}, [][]int{}
	for node, group := range tiers[0] {
		if int(group) == len(nodes) {
			keys, nodes = append(keys, nil), append(nodes, nil)
		}
		key := &keys[group]
		for _, of := range tiers[1:] { // numbered from the group's first node on
			*key = binary.AppendVarint(*key, int64(of[node]-of[append(nodes[group], node)[0]]))
		}
		*key = binary.AppendVarint(*key, int64(g.kind[node]))
		if node == root {
			*key = append(*key, 0)
		}
		nodes[group] = append(nodes[group], node)
	}
	var kinds symmetry.Numbering[string]
	for group, key := range keys {
		kind := kinds.Of(string(key))
		if kind == len(g.first) {
			g.first = append(g.first, nodes[group])
		}
		g.kindOf = append(g.kindOf, int32(kind))
	}
}

// number gives chunks their numbers.
func (g *railGroups) number(root int) {
	next := int32(0)
	g.part = make([][][]schedule.ChunkSet, g.rails)
	for rail := range g.part {
		g.part[rail] = make([][]schedule.ChunkSet, g.units)
		for u := range g.part[rail] {
			g.part[rail][u] = make([]schedule.ChunkSet, len(g.rank))
		}
		for node, ranks := range g.rank {
			roots := g.kindOfNode(node).roots
			for u := range g.units {
				set := schedule.Range(next, 0)
				switch {
				case node == root && roots != nil: // it deals them out
				case roots != nil:
					set.Count = roots[rail][u]
					next += set.Count
				case ranks[rail] >= 0:
					set = schedule.One(ranks[rail]*int32(g.units) + int32(u))
				}
				g.part[rail][u][node] = set
			}
		}
	}
	if g.chunks = int(next); g.kinds[0].roots == nil {
		g.chunks = g.spec.Ranks * g.units
	}
}

func (g *railGroups) kindOfNode(node int) *railKind { return g.kinds[g.kind[node]] }

// claim is which groups of the outermost tier are equivalent, and which chunks are theirs.
func (g *railGroups) claim() *schedule.Kinds {
	out := &schedule.Kinds{Nodes: g.kindOf}
	bands := g.rails
	if g.kinds[0].roots == nil {
		bands = 1
	}
	for _, nodes := range g.first {
		k := schedule.NodeKind{Chunks: make(schedule.RankList, bands)}
		for _, node := range nodes {
			for rail, r := range g.rank[node] {
				if r >= 0 {
					k.Ranks++
				}
				k.Chunks[rail%bands] += g.ofNode(rail, railRun{0, g.units}, node).Count
			}
		}
		out.Of = append(out.Of, k)
	}
	return out
}

// runs cuts a rail where some of these kinds of nodes reroute it otherwise.
func (b *reroutes) runs(rail int, kinds ...*railKind) []railRun {
	var out []railRun
	for u := range b.units {
		if u == 0 || slices.ContainsFunc(kinds, func(k *railKind) bool { return k.by[rail][u] != k.by[rail][u-1] }) {
			out = append(out, railRun{first: u})
		}
		out[len(out)-1].count++
	}
	return out
}

// through is the rank of a node through which a run of units goes.
func (g *railGroups) through(node, rail int, x railRun) int32 {
	return g.rank[node][g.kindOfNode(node).by[rail][x.first]]
}

// ofNode are the chunks of a run of a node, whose numbers follow one another.
func (g *railGroups) ofNode(rail int, x railRun, node int) schedule.ChunkSet {
	out := g.part[rail][x.first][node]
	for u := x.first + 1; u < x.first+x.count; u++ {
		out.Count += g.part[rail][u][node].Count
	}
	return out
}

// ofAll are those of all nodes.
func (g *railGroups) ofAll(rail int, x railRun) []schedule.ChunkSet {
	key := railUnits{rail, x}
	if g.whole[key] == nil {
		g.whole[key] = g.ofNodes(rail, x, 0, len(g.rank))
	}
	return g.whole[key]
}

// ofNodes are those of nodes from one to before another.
func (g *railGroups) ofNodes(rail int, x railRun, from, to int) []schedule.ChunkSet {
	var list []schedule.ChunkSet
	for node := from; node < to; node++ { // so that numbers ascend
		for _, parts := range g.part[rail][x.first : x.first+x.count] {
			list = append(list, parts[node])
		}
	}
	return schedule.Union(list)
}

// of are groups of a stage, with all of the ranks of the first groups of nodes.
func (g *railGroups) of(x railStage) (out []schedule.Group) {
	if x.level == 2 && !x.op.Rooted() {
		return g.passing(g.passes[x.tier])
	}
	for _, node := range slices.Concat(g.first...) {
		switch {
		case g.collects():
			out = append(out, g.root.collecting(g, x, node)...)
		case g.root != nil && (x.op.Rooted() || node == g.root.node):
			out = append(out, g.root.of(g, x, node)...)
		case x.level == 1:
			out = append(out, g.home(node, false)...)
		default:
			out = append(out, g.around(node)...)
		}
	}
	return out
}

// around are the groups of level 3 in a node: the GPU through which units come, and all others.
func (g *railGroups) around(node int) []schedule.Group {
	var out []schedule.Group
	k := g.kindOfNode(node)
	for rail := range g.rails {
		for _, x := range g.runs(rail, k) {
			sets := g.ofAll(rail, x)
			var ranks schedule.RankList
			for i := range g.rails {
				if r := g.rank[node][(k.by[rail][x.first]+i)%g.rails]; r >= 0 {
					ranks = append(ranks, r)
				}
			}
			for _, set := range sets {
				out = append(out, schedule.Group{Ranks: ranks, Whole: set})
			}
		}
	}
	return out
}

// home are the groups of level 1 in a node: the GPU that units belong to, and the one through
// which they leave; or in this order, where that one collects them.
func (g *railGroups) home(node int, collected bool) (out []schedule.Group) {
	for rail, r := range g.rank[node] {
		if r < 0 {
			continue
		}
		for _, x := range g.runs(rail, g.kindOfNode(node)) {
			first, other := r, g.through(node, rail, x)
			if collected {
				first, other = other, first
			}
			out = append(out, pairUp(first, other, g.ofNode(rail, x, node)))
		}
	}
	return out
}
