package schedule

import (
	"cmp"
	"slices"

	"railyard/model/collective"
)

// An all-gather over bent rails has three stages, a reduce-scatter the same in reverse:
//
//	stage 1: inside the node, from a unit's GPU to the one through which it leaves
//	stage 2: across, on each rail, or part of one that bends otherwise
//	stage 3: inside the node, from where units enter to all others
//
// In each, ranks act in groups, in which everybody talks to everybody at once. Chunks of an
// all-gather are Units for each rank, in their order. Those of an all-reduce, which has no
// stage 1, are numbered by rail, of a rail by node, and so are those that a root deals out
// (see bentRoot).
type bentGroups struct {
	*Bends
	ranks  [][]int32
	nodeOf []int32        // by rank
	part   [][][]ChunkSet // by rail, unit and node
	with   [][][]*Group   // by kind and rail: groups of stage 2 that go through such a GPU
	all    [][]bentUnits
	root   *bentRoot // of a broadcast or reduce
}

// bentUnits are units of a rail that go through one GPU of nodes of a kind, of all nodes.
type bentUnits struct {
	rail, by int32
	sets     []ChunkSet
}

// bentRun is neighbouring units of a rail.
type bentRun struct{ first, count int32 }

func newBentGroups(b *Bends, spec collective.Spec) *bentGroups {
	g := &bentGroups{Bends: b, ranks: b.ranksOf(), part: make([][][]ChunkSet, b.rails())}
	rootNode := b.rootNode(spec)
	for node, ranks := range g.ranks {
		for _, r := range ranks {
			if r >= 0 {
				g.nodeOf = append(g.nodeOf, int32(node))
			}
		}
	}
	next := int32(0)
	for rail := range g.part {
		g.part[rail] = make([][]ChunkSet, b.Units)
		for u := range g.part[rail] {
			g.part[rail][u] = make([]ChunkSet, len(b.Nodes))
		}
		for node, k := range b.Nodes {
			for u := range b.Units {
				set := &g.part[rail][u][node]
				switch r := g.ranks[node][rail]; {
				case int32(node) == rootNode:
					*set = Range(next, 0)
				case b.Kinds[k].Roots != nil:
					*set = Range(next, b.Kinds[k].Roots[rail][u])
					next += set.Count
				case r >= 0:
					*set = One(r*b.Units + u)
				default:
					*set = Range(0, 0)
				}
			}
		}
	}
	g.crossings(rootNode)
	for k := range b.Kinds {
		g.all = append(g.all, g.unitsOf(int32(k)))
	}
	if rootNode >= 0 {
		g.root = newBentRoot(g, int32(spec.Root), rootNode)
	}
	return g
}

// runs cuts a rail where some kinds of nodes bend it otherwise: all, or those given.
func (b *Bends) runs(rail int32, kinds ...int32) []bentRun {
	if kinds == nil {
		for k := range b.Kinds {
			kinds = append(kinds, int32(k))
		}
	}
	var out []bentRun
	for u := range b.Units {
		bends := func(k int32) bool { return b.Kinds[k].By[rail][u] != b.Kinds[k].By[rail][u-1] }
		if u == 0 || slices.ContainsFunc(kinds, bends) {
			out = append(out, bentRun{first: u})
		}
		out[len(out)-1].count++
	}
	return out
}

// of are the groups of a rank in a stage.
func (g *bentGroups) of(ph *Phase, rank int32) []*Group {
	node := g.nodeOf[rank]
	if g.root != nil && (ph.Op.Rooted() || node == g.root.node) {
		return g.root.of(g, ph, rank)
	}
	switch ph.Level {
	case 1:
		return g.home(node, rank)
	case 2:
		return g.with[g.Nodes[node]][slices.Index(g.ranks[node], rank)]
	}
	return g.inside(node)
}

// op is what the groups of a stage do.
func (g *bentGroups) op(ph *Phase) collective.Kind {
	gathers := ph.Op == collective.AllGather
	switch {
	case ph.Level == 2 || ph.Op.Rooted():
		return ph.Op
	case ph.Level == 1 && gathers:
		return collective.Scatter
	case ph.Level == 1:
		return collective.Gather
	case gathers:
		return collective.Broadcast
	}
	return collective.Reduce
}

// units are the chunks of a run of a node, whose numbers follow one another.
func (g *bentGroups) units(rail int32, x bentRun, node int32) ChunkSet {
	out := g.part[rail][x.first][node]
	for u := x.first + 1; u < x.first+x.count; u++ {
		out.Count += g.part[rail][u][node].Count
	}
	return out
}

// chunks are those of a run of units, of nodes from one to before another.
func (g *bentGroups) chunks(rail int32, x bentRun, from, to int) []ChunkSet {
	var list []ChunkSet
	for node := from; node < to; node++ { // so that numbers ascend
		for _, parts := range g.part[rail][x.first : x.first+x.count] {
			list = append(list, parts[node])
		}
	}
	return fewSets(list)
}

// crossings are the groups of stage 2, without a root's node.
func (g *bentGroups) crossings(rootNode int32) {
	g.with = make([][][]*Group, len(g.Kinds))
	for k := range g.with {
		g.with[k] = make([][]*Group, g.rails())
	}
	for rail := range g.rails() {
		for _, x := range g.runs(rail) {
			c := &Group{}
			for node, k := range g.Nodes {
				if int32(node) == rootNode {
					continue
				}
				c.Ranks = append(c.Ranks, g.ranks[node][g.Kinds[k].By[rail][x.first]])
				c.Parts = append(c.Parts, g.units(rail, x, int32(node)))
			}
			for k := range g.Kinds {
				by := g.Kinds[k].By[rail][x.first]
				g.with[k][by] = append(g.with[k][by], c)
			}
		}
	}
}

// unitsOf are what GPUs of nodes of a kind have after stage 2.
func (g *bentGroups) unitsOf(kind int32) []bentUnits {
	var out []bentUnits
	for rail := range g.rails() {
		for _, x := range g.runs(rail, kind) {
			out = append(out, bentUnits{rail, g.Kinds[kind].By[rail][x.first], g.chunks(rail, x, 0, len(g.Nodes))})
		}
	}
	return out
}

// fewSets is the union of ranges as few sets.
func fewSets(list []ChunkSet) []ChunkSet {
	slices.SortFunc(list, func(a, b ChunkSet) int { return cmp.Compare(a.First, b.First) })
	var whole, out []ChunkSet
	for _, s := range list {
		if n := len(whole) - 1; n >= 0 && whole[n].First+whole[n].Count == s.First {
			whole[n].Count += s.Count
		} else if s.Count > 0 {
			whole = append(whole, s)
		}
	}
	for _, s := range whole {
		if n := len(out) - 1; n < 0 || !out[n].takes(s) {
			out = append(out, s)
		}
	}
	return out
}

// inside are the groups of stage 3 in a node: the GPU through which units come, and all others.
func (g *bentGroups) inside(node int32) []*Group {
	var out []*Group
	for _, x := range g.all[g.Nodes[node]] {
		var ranks RankList
		for i := range g.rails() {
			if r := g.ranks[node][(x.by+i)%g.rails()]; r >= 0 {
				ranks = append(ranks, r)
			}
		}
		for _, set := range x.sets {
			out = append(out, &Group{Ranks: ranks, Whole: set})
		}
	}
	return out
}

// home are the groups of stage 1 with a rank: the GPU that units belong to, and those
// through which they leave.
func (g *bentGroups) home(node, rank int32) []*Group {
	var out []*Group
	kind := g.Nodes[node]
	for rail, r := range g.ranks[node] {
		if r < 0 {
			continue
		}
		for _, x := range g.runs(int32(rail), kind) {
			c := &Group{Ranks: RankList{r}, Parts: []ChunkSet{g.units(int32(rail), x, node)}}
			if by := g.ranks[node][g.Kinds[kind].By[rail][x.first]]; by != r {
				c.Ranks, c.Parts = append(c.Ranks, by), []ChunkSet{Range(r*g.Units, 0), c.Parts[0]}
			}
			if slices.Contains(c.Ranks, rank) {
				out = append(out, c)
			}
		}
	}
	return out
}
