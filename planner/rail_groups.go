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
	root    *railRoot                  // of a broadcast or reduce
	class   []int                      // by node: which are equivalent; the root's is by itself
	first   []int                      // by such nodes: one of them
	part    [][][]schedule.ChunkSet    // by rail, unit and node
	across  []schedule.Group           // level 2, without a root's node
	inside  map[int][]schedule.Group   // level 3, by first node
	between map[[2]*railKind][]railHop // of an all-to-all
}

// railRun is neighbouring units of a rail.
type railRun struct{ first, count int }

func newRailGroups(b *reroutes, spec collective.Spec) *railGroups {
	g := &railGroups{reroutes: b, spec: spec, class: slices.Clone(b.kind), inside: map[int][]schedule.Group{},
		between: map[[2]*railKind][]railHop{}}
	root := -1
	if spec.Kind.Rooted() {
		root = slices.IndexFunc(b.rank, func(ranks []int32) bool { return slices.Contains(ranks, int32(spec.Root)) })
		g.class[root] = len(b.kinds)
	}
	for kind := range len(b.kinds) + 1 {
		if first := slices.Index(g.class, kind); first >= 0 { // else its only node is the root's
			for node, k := range g.class {
				if k == kind {
					g.class[node] = len(g.first)
				}
			}
			g.first = append(g.first, first)
		}
	}
	g.number(root)
	for rail := range b.rails {
		for _, x := range g.runs(rail, b.kinds...) {
			c := schedule.Group{}
			for node := range b.rank {
				if node != root {
					c.Ranks, c.Parts = append(c.Ranks, g.through(node, rail, x)), append(c.Parts, g.ofNode(rail, x, node))
				}
			}
			g.across = append(g.across, c)
		}
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

// claim is which nodes are equivalent, and which chunks are theirs.
func (g *railGroups) claim() *schedule.Kinds {
	out := &schedule.Kinds{}
	for _, k := range g.class {
		out.Nodes = append(out.Nodes, int32(k))
	}
	for _, first := range g.first {
		k := schedule.NodeKind{}
		for _, r := range g.rank[first] {
			if r >= 0 {
				k.Ranks++
			}
		}
		if g.kinds[0].roots == nil {
			k.Chunks = schedule.RankList{k.Ranks * int32(g.units)}
		} else {
			for rail := range g.rails {
				k.Chunks = append(k.Chunks, g.ofNode(rail, railRun{0, g.units}, first).Count)
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

// of are groups of a stage, with all of a rank of a first node.
func (g *railGroups) of(x railStage, node int) []schedule.Group {
	switch {
	case g.root != nil && (x.op.Rooted() || node == g.root.node):
		return g.root.of(g, x, node)
	case x.level == 1:
		return g.home(node)
	case x.level == 2:
		return g.across
	}
	if g.inside[node] == nil {
		g.inside[node] = g.around(node)
	}
	return g.inside[node]
}

// around are the groups of level 3 in a node: the GPU through which units come, and all others.
func (g *railGroups) around(node int) []schedule.Group {
	var out []schedule.Group
	k := g.kindOfNode(node)
	for rail := range g.rails {
		for _, x := range g.runs(rail, k) {
			var ranks schedule.RankList
			for i := range g.rails {
				if r := g.rank[node][(k.by[rail][x.first]+i)%g.rails]; r >= 0 {
					ranks = append(ranks, r)
				}
			}
			for _, set := range g.ofNodes(rail, x, 0, len(g.rank)) {
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
