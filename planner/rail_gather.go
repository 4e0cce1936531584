package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// A gather goes straight to the root's node, each unit over its rail, or the one that it is rerouted to, so that all adapters of that
// node take in as much:
//
//	level 1: inside the nodes, from a unit's GPU to the one through which it leaves
//	level 2: across
//	level 3: inside the root's node, from where units enter, and from its own GPUs, to the root
//
// A scatter is the same in reverse.

// collects reports whether the collective is one of these.
func (g *railGroups) collects() bool {
	return g.spec.Kind == collective.Gather || g.spec.Kind == collective.Scatter
}

// collecting are the groups of a stage with ranks of a node: whoever collects units, or deals them out, then who has them.
func (r *railRoot) collecting(g *railGroups, x railStage, node int) []schedule.Group {
	switch {
	case x.level == 1 && node != r.node:
		return g.home(node, true)
	case node != r.node:
		return nil
	case x.level == 2:
		return r.across(g, pairUp)
	}
	var out []schedule.Group
	for rail, from := range g.rank[node] {
		switch {
		case from < 0:
		case x.level == 1:
			out = append(out, pairUp(from, from, g.ofNode(rail, railRun{0, g.units}, node)))
		default:
			for _, set := range r.through(g, rail) {
				out = append(out, pairUp(r.rank, from, set))
			}
		}
	}
	return out
}

// through are the units that the root gets from a GPU of its node: the GPU's own, and others' that enter through it.
func (r *railRoot) through(g *railGroups, at int) []schedule.ChunkSet {
	list := []schedule.ChunkSet{g.ofNode(at, railRun{0, g.units}, r.node)}
	for rail, by := range g.kindOfNode(r.node).by {
		for u := range by {
			for node := range g.rank {
				if node != r.node && by[u] == at {
					list = append(list, g.part[rail][u][node])
				}
			}
		}
	}
	return schedule.Union(list)
}

// pairUp is a group of a rank and another, whose chunks go from one to the other; or of a rank alone.
func pairUp(root, other int32, set schedule.ChunkSet) schedule.Group {
	if root == other {
		return schedule.Group{Ranks: schedule.RankList{root}, Parts: []schedule.ChunkSet{set}}
	}
	return schedule.Group{Ranks: schedule.RankList{root, other}, Parts: []schedule.ChunkSet{schedule.Range(set.First, 0), set}}
}
