package planner

import (
	"slices"

	"railyard/model/schedule"
)

// railRoot deals a broadcast out to all nodes but the root's, some chunks of each unit to each
// of them, which gather it from one another over rerouted rails; a reduce is the same in
// reverse. So data crosses twice, in two phases of level 2, but enters every node once, and
// leaves the root's once:
//
//	level 1: inside the root's node, from the root to the GPUs through which units leave
//	level 2: across, from these; then among the other nodes
//	level 3: inside the node, to all others, in the root's node from where units left
//
// What leaves through the root itself is spread in its node by all others, each of which has
// that of some nodes, so that the root sends it but once over its scale-up links too.
type railRoot struct {
	rank   int32
	node   int
	others []int32               // of its node
	sets   [][]schedule.ChunkSet // by other: what it has and spreads
}

func newRailRoot(g *railGroups, rank int32, node int) *railRoot {
	r := &railRoot{rank: rank, node: node}
	for _, x := range g.rank[node] {
		if x >= 0 && x != rank {
			r.others = append(r.others, x)
		}
	}
	nodes, n := len(g.rank), len(r.others)
	r.sets = make([][]schedule.ChunkSet, n)
	for rail := range g.rails {
		for _, x := range g.runs(rail, g.kindOfNode(node)) {
			if i := slices.Index(r.others, g.through(node, rail, x)); i >= 0 {
				r.sets[i] = append(r.sets[i], g.ofNodes(rail, x, 0, nodes)...)
				continue
			}
			for i := range n {
				r.sets[i] = append(r.sets[i], g.ofNodes(rail, x, i*nodes/n, (i+1)*nodes/n)...)
			}
		}
	}
	return r
}

// of are groups of a stage: from the root's node, or in it.
func (r *railRoot) of(g *railGroups, x railStage, node int) []schedule.Group {
	switch {
	case node != r.node:
		return nil
	case x.level == 2:
		return r.across(g, func(root, other int32, set schedule.ChunkSet) schedule.Group {
			return schedule.Group{Ranks: schedule.RankList{root, other}, Whole: set}
		})
	}
	alone := []schedule.Group{{Ranks: schedule.RankList{r.rank}}} // it has all data
	if len(r.others) == 0 {
		return alone
	}
	var out []schedule.Group
	for i, other := range r.others {
		ranks := schedule.RankList{r.rank, other}
		if x.level == 3 {
			ranks = slices.Concat(r.others[i:], r.others[:i])
		}
		for _, set := range r.sets[i] {
			out = append(out, schedule.Group{Ranks: ranks, Whole: set})
		}
	}
	if x.level == 3 {
		out = append(out, alone...)
	}
	return out
}

// across are the groups of level 2 between the root's node and all others: the GPU of the root's node through which a node's units leave
// or enter, and the one in that node.
func (r *railRoot) across(g *railGroups, pair func(root, other int32, set schedule.ChunkSet) schedule.Group) (out []schedule.Group) {
	for node := range g.rank {
		for rail := range g.rails {
			for _, x := range g.runs(rail, g.kindOfNode(r.node), g.kindOfNode(node)) {
				if set := g.ofNode(rail, x, node); node != r.node && set.Count > 0 {
					out = append(out, pair(g.through(r.node, rail, x), g.through(node, rail, x), set))
				}
			}
		}
	}
	return out
}
