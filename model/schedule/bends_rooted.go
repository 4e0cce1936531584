package schedule

import (
	"slices"

	"railyard/model/collective"
)

// bentRoot deals a broadcast out to all nodes but the root's, some chunks of each unit to each
// of them, which gather it from one another over bent rails; a reduce is the same in
// reverse. So data crosses twice, in two phases of stage 2, but enters every node once, and
// leaves the root's once:
//
//	stage 1: inside the root's node, from the root to the GPUs through which units leave
//	stage 2: across, from these; then among the other nodes
//	stage 3: inside the node, to all others, in the root's node from where units left
//
// What leaves through the root itself is spread in its node by all others, each of which has
// that of some nodes, so that the root sends it but once over its scale-up links too.
type bentRoot struct {
	rank, node int32
	others     RankList     // of its node
	sets       [][]ChunkSet // by other: what it has and spreads
	hops       [][]bentHop  // to nodes of each kind
}

// rootNode is the node of a root, −1 where there is none.
func (b *Bends) rootNode(spec collective.Spec) int32 {
	if !spec.Kind.Rooted() {
		return -1
	}
	left := int32(spec.Root)
	for node := range b.Nodes {
		if left -= b.Ranks(node); left < 0 {
			return int32(node)
		}
	}
	return -1
}

func newBentRoot(g *bentGroups, rank, node int32) *bentRoot {
	r := &bentRoot{rank: rank, node: node}
	for k := range g.Kinds {
		r.hops = append(r.hops, g.hops(g.Nodes[node], int32(k)))
	}
	for _, x := range g.ranks[node] {
		if x >= 0 && x != rank {
			r.others = append(r.others, x)
		}
	}
	r.share(g)
	return r
}

// share says what the others of the root's node have of it.
func (r *bentRoot) share(g *bentGroups) {
	kind, nodes, n := g.Nodes[r.node], len(g.Nodes), len(r.others)
	r.sets = make([][]ChunkSet, n)
	for rail := range g.rails() {
		for _, x := range g.runs(rail, kind) {
			if i := slices.Index(r.others, g.ranks[r.node][g.Kinds[kind].By[rail][x.first]]); i >= 0 {
				r.sets[i] = append(r.sets[i], g.chunks(rail, x, 0, nodes)...)
				continue
			}
			for i := range n {
				r.sets[i] = append(r.sets[i], g.chunks(rail, x, i*nodes/n, (i+1)*nodes/n)...)
			}
		}
	}
}

// of are the groups of a rank in a phase from the root's node, or in that node.
func (r *bentRoot) of(g *bentGroups, ph *Phase, rank int32) []*Group {
	switch {
	case ph.Level == 2 && ph.Op.Rooted():
		return r.across(g, rank)
	case ph.Level == 2 || g.nodeOf[rank] != r.node:
		return nil
	case len(r.others) == 0 || ph.Level == 3 && rank == r.rank:
		return []*Group{{Ranks: RankList{rank}}}
	case ph.Level == 3:
		return r.around()
	}
	return r.home(rank)
}

// home are the groups of stage 1 with a rank: the root and another one of its node.
func (r *bentRoot) home(rank int32) []*Group {
	var out []*Group
	for i, other := range r.others {
		if rank != r.rank && rank != other {
			continue
		}
		for _, set := range r.sets[i] {
			out = append(out, &Group{Ranks: RankList{r.rank, other}, Whole: set})
		}
	}
	return out
}

// across are the groups of stage 2 with a rank: the GPU through which units leave the root's
// node, and the one through which they enter the node that they are dealt to.
func (r *bentRoot) across(g *bentGroups, rank int32) []*Group {
	var out []*Group
	at := g.nodeOf[rank]
	for node, k := range g.Nodes {
		if int32(node) == r.node || at != r.node && at != int32(node) {
			continue
		}
		for _, h := range r.hops[k] {
			ends := RankList{g.ranks[r.node][h.out], g.ranks[node][h.in]}
			if set := g.units(h.rail, bentRun{h.first, h.count}, int32(node)); set.Count > 0 && slices.Contains(ends, rank) {
				out = append(out, &Group{Ranks: ends, Whole: set})
			}
		}
	}
	return out
}

// around are the groups of stage 3 in the root's node: one that has units, and the others.
func (r *bentRoot) around() []*Group {
	var out []*Group
	for i := range r.others {
		ranks := slices.Concat(r.others[i:], r.others[:i])
		for _, set := range r.sets[i] {
			out = append(out, &Group{Ranks: ranks, Whole: set})
		}
	}
	return out
}
