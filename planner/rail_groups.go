package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// railGroups are the groups in which ranks talk over rerouted rails. Chunks of an all-gather are units
// for each rank, in their order. Those of an all-reduce, which has no level 1, are numbered by
// rail, of a rail by node, and so are those that a root deals out (see railRoot).
type railGroups struct {
	*reroutes
	spec    collective.Spec
	chunks  int
	root    *railRoot                         // of a broadcast or reduce
	claimed *schedule.Kinds                   // which nodes are equivalent
	first   []int                             // the first of each of these
	part    [][][]schedule.ChunkSet           // by rail, unit and node
	steps   [][]int32                         // by depth and node: whose chunks are in equal steps with its own (see align)
	passes  [][]railPass                      // level 2, by stage, without a root's node
	whole   map[railUnits][]schedule.ChunkSet // once known: those of all nodes
	between map[[2]*railKind][]railHop        // of an all-to-all
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
	g.number(root)
	g.align(slices.Concat(tiers, [][]int32{identity(len(b.rank))}))
	x := newRailTiers(tiers, len(b.rank), func(node int) bool { return node != root })
	g.claimed = g.claim(x, root)
	first := make([]bool, len(b.rank))
	for _, node := range g.claimed.First() {
		g.first, first[node] = append(g.first, int(node)), true
	}
	if spec.Kind != collective.AllToAll {
		g.passes = x.passes(first)
	}
	if root >= 0 {
		g.root = newRailRoot(g, int32(spec.Root), root)
	}
	return g
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
				case node == root:
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

// of are groups of a stage, with all of the ranks of the first nodes.
func (g *railGroups) of(x railStage) (out []schedule.Group) {
	if x.level == 2 && !x.op.Rooted() {
		return g.passing(g.passes[x.tier])
	}
	for _, node := range g.first {
		switch {
		case g.root != nil && (x.op.Rooted() || node == g.root.node):
			out = append(out, g.root.of(g, x, node)...)
		case x.level == 1:
			out = append(out, g.home(node)...)
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
// which they leave.
func (g *railGroups) home(node int) []schedule.Group {
	var out []schedule.Group
	for rail, r := range g.rank[node] {
		if r < 0 {
			continue
		}
		for _, x := range g.runs(rail, g.kindOfNode(node)) {
			set := g.ofNode(rail, x, node)
			c := schedule.Group{Ranks: schedule.RankList{r}, Parts: []schedule.ChunkSet{set}}
			if by := g.through(node, rail, x); by != r {
				c.Ranks, c.Parts = append(c.Ranks, by), []schedule.ChunkSet{schedule.Range(set.First, 0), set}
			}
			out = append(out, c)
		}
	}
	return out
}
