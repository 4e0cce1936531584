package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// outTree is a spanning tree that carries weight units of its root's data outwards.
type outTree struct {
	root   int32
	weight int32
	parent []int32 // by rank, −1 at the root
}

// packing is trees for every root, of the same total weight each.
type packing struct {
	units int32 // of each root
	trees []outTree
}

// J. Edmonds, "Edge-disjoint branchings", 1973; L. Zhao et al., "ForestColl:
// throughput-optimal collective communications on heterogeneous network fabrics", 2024.
// Deviation: a level of the trees is a phase, so that a schedule is a pipeline of
// levels over slices, and low trees make short pipelines.

// packedSchedule makes all_gather, reduce_scatter and all_reduce from packed trees.
func (r *request) packedSchedule(p *packing) *schedule.Schedule {
	b := &treePhases{packing: p, ranks: r.spec.Ranks}
	b.prepare()
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks * int(p.units)}
	if r.spec.Kind != collective.AllGather {
		for d := b.height; d >= 1; d-- {
			ch.Phases = append(ch.Phases, b.phase(collective.ReduceScatter, b.gather(d)))
		}
	}
	if r.spec.Kind != collective.ReduceScatter {
		first := schedule.Input
		if r.spec.Kind == collective.AllReduce {
			first = schedule.Output
		}
		for d := int32(1); d <= b.height; d++ {
			ch.Phases = append(ch.Phases, b.phase(collective.AllGather, b.spread(d, first)))
		}
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}
}

// treePhases lays trees out in levels.
type treePhases struct {
	*packing
	ranks  int
	height int32
	depth  [][]int32 // by tree and rank
	chunks []schedule.ChunkSet
}

func (b *treePhases) prepare() {
	used := make([]int32, b.ranks) // units of each root given to trees so far
	for _, t := range b.trees {
		b.chunks = append(b.chunks, schedule.Range(t.root*b.units+used[t.root], t.weight))
		used[t.root] += t.weight
		depth := t.depths()
		for _, d := range depth {
			b.height = max(b.height, d)
		}
		b.depth = append(b.depth, depth)
	}
}

// depths counts the hops from the root to each rank.
func (t *outTree) depths() []int32 {
	out := make([]int32, len(t.parent))
	for r := range out {
		for v := int32(r); t.parent[v] >= 0; v = t.parent[v] {
			out[r]++
		}
	}
	return out
}

func (b *treePhases) phase(op collective.Kind, programs [][]schedule.Op) schedule.Phase {
	return schedule.Phase{Gen: schedule.GenOps, Op: op, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output, Ops: programs}
}

// spread is the phase that takes level d: parents at depth d−1 send to their children.
// What the root sends lies in first. Sends come before receives, so that nobody waits
// for others before it sends.
func (b *treePhases) spread(d int32, first schedule.Buffer) [][]schedule.Op {
	out := make([][]schedule.Op, b.ranks)
	b.visit(d, func(tree int, child, parent int32) {
		from := schedule.Loc{Buf: schedule.Output, Set: b.chunks[tree]}
		if d == 1 {
			from.Buf = first
		}
		out[parent] = append(out[parent], schedule.Op{Kind: schedule.Send, Peer: child, Src: from})
	})
	if d == 1 && first == schedule.Input {
		for rank := range out {
			own := schedule.Range(int32(rank)*b.units, b.units)
			out[rank] = append(out[rank], schedule.Op{Kind: schedule.Copy, Peer: -1, Src: schedule.Loc{Buf: schedule.Input, Set: own}, Dst: schedule.Loc{Buf: schedule.Output, Set: own}})
		}
	}
	b.visit(d, func(tree int, child, parent int32) {
		out[child] = append(out[child], schedule.Op{Kind: schedule.Recv, Peer: parent, Dst: schedule.Loc{Buf: schedule.Output, Set: b.chunks[tree]}})
	})
	return out
}

// gather is the reverse: children at depth d send what they have summed up to their
// parents, which add it to their own.
func (b *treePhases) gather(d int32) [][]schedule.Op {
	out := make([][]schedule.Op, b.ranks)
	inner := func(tree int, v int32) bool { // it has children, so its sum lies in scratch
		for w, p := range b.trees[tree].parent {
			if p == v && b.depth[tree][w] == b.depth[tree][v]+1 {
				return true
			}
		}
		return false
	}
	b.visit(d, func(tree int, child, parent int32) {
		from := schedule.Loc{Buf: schedule.Input, Set: b.chunks[tree]}
		if inner(tree, child) {
			from.Buf = schedule.Scratch
		}
		out[child] = append(out[child], schedule.Op{Kind: schedule.Send, Peer: parent, Src: from})
	})
	added := map[[2]int32]bool{} // tree and parent: one child's part is in already
	left := map[[2]int32]int{}   // children still to come
	b.visit(d, func(tree int, child, parent int32) { left[[2]int32{int32(tree), parent}]++ })
	b.visit(d, func(tree int, child, parent int32) {
		key := [2]int32{int32(tree), parent}
		own, to := schedule.Input, schedule.Scratch
		if added[key] {
			own = schedule.Scratch
		}
		if left[key]--; left[key] == 0 && b.trees[tree].root == parent {
			to = schedule.Output
		}
		added[key] = true
		out[parent] = append(out[parent], schedule.Op{Kind: schedule.RecvReduce, Peer: child,
			Src: schedule.Loc{Buf: own, Set: b.chunks[tree]}, Dst: schedule.Loc{Buf: to, Set: b.chunks[tree]}})
	})
	return out
}

// visit calls f for each edge of all trees that ends at depth d, children rotated by
// tree so that nobody is first everywhere.
func (b *treePhases) visit(d int32, f func(tree int, child, parent int32)) {
	for i := range b.trees {
		t := &b.trees[i]
		for k := range b.ranks {
			v := int32((int(t.root) + k) % b.ranks)
			if b.depth[i][v] == d {
				f(i, v, t.parent[v])
			}
		}
	}
}
