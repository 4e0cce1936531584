package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// outTree is a spanning tree that carries weight units of its root's data outwards.
type outTree struct {
	root   int32
	weight int32
	turn   int32   // number of the variant, where trees are rotated over the places of a node
	parent []int32 // by rank, −1 at the root
}

// packing is trees for every root, of the same total weight each.
type packing struct {
	units int32 // of each root
	local int32 // ranks of a node, by which trees are rotated; all ranks where they are not
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

// edge is a hop of a tree as one of its ends sees it.
type edge struct{ tree, peer int32 }

// edges lists, for each rank, the hops that end at depth d: those on which it sends
// outwards, and those on which it receives.
func (b *treePhases) edges(d int32) (down, up [][]edge) {
	down, up = make([][]edge, b.ranks), make([][]edge, b.ranks)
	for i := range b.trees {
		for v, p := range b.trees[i].parent {
			if b.depth[i][v] == d {
				down[p] = append(down[p], edge{int32(i), int32(v)})
				up[v] = append(up[v], edge{int32(i), p})
			}
		}
	}
	for r := range int32(b.ranks) {
		slices.SortFunc(down[r], func(x, y edge) int {
			return cmp.Or(b.compare(r, x, y), cmp.Compare(b.ahead(r, x.peer), b.ahead(r, y.peer)))
		})
		slices.SortFunc(up[r], func(x, y edge) int {
			return cmp.Or(cmp.Compare(b.ahead(r, x.peer), b.ahead(r, y.peer)), b.compare(x.peer, x, y))
		})
	}
	return down, up
}

// compare orders a parent's hops so that it looks the same from every parent, and the
// same from both ends of a hop: by how far the tree's root and its turn are ahead of the
// parent. Equal programs fold in the simulator, and nobody is served first by all.
func (b *treePhases) compare(parent int32, x, y edge) int {
	s, t := &b.trees[x.tree], &b.trees[y.tree]
	return cmp.Or(cmp.Compare(b.ahead(parent, s.root), b.ahead(parent, t.root)), cmp.Compare(b.turned(parent, s.turn), b.turned(parent, t.turn)),
		cmp.Compare(s.weight, t.weight), cmp.Compare(x.tree, y.tree))
}

// ahead counts from a rank on, node by node and place by place.
func (b *treePhases) ahead(from, to int32) int32 {
	n := int32(b.ranks) / b.local
	return (to/b.local-from/b.local+n)%n*b.local + (to%b.local-from%b.local+b.local)%b.local
}

func (b *treePhases) turned(from, turn int32) int32 { return (turn - from%b.local + b.local) % b.local }

// spread is the phase that takes level d: parents at depth d−1 send to their children.
// What the root sends lies in first. Sends come before receives, so that nobody waits
// for others before it sends.
func (b *treePhases) spread(d int32, first schedule.Buffer) [][]schedule.Op {
	out := make([][]schedule.Op, b.ranks)
	down, up := b.edges(d)
	from := schedule.Output
	if d == 1 {
		from = first
	}
	for r := range out {
		for _, e := range down[r] {
			out[r] = append(out[r], schedule.Op{Kind: schedule.Send, Peer: e.peer, Src: schedule.Loc{Buf: from, Set: b.chunks[e.tree]}})
		}
		if d == 1 && first == schedule.Input {
			own := schedule.Range(int32(r)*b.units, b.units)
			out[r] = append(out[r], schedule.Op{Kind: schedule.Copy, Peer: -1, Src: schedule.Loc{Buf: schedule.Input, Set: own}, Dst: schedule.Loc{Buf: schedule.Output, Set: own}})
		}
		for _, e := range up[r] {
			out[r] = append(out[r], schedule.Op{Kind: schedule.Recv, Peer: e.peer, Dst: schedule.Loc{Buf: schedule.Output, Set: b.chunks[e.tree]}})
		}
	}
	return out
}

// gather is the reverse: children at depth d send what they have summed up to their
// parents, which add it to their own.
func (b *treePhases) gather(d int32) [][]schedule.Op {
	out := make([][]schedule.Op, b.ranks)
	down, up := b.edges(d)
	below, _ := b.edges(d + 1)
	for r := range out {
		sums := map[int32]bool{} // trees in which the rank has children, so that its sum lies in scratch
		for _, e := range below[r] {
			sums[e.tree] = true
		}
		for _, e := range up[r] {
			from := schedule.Loc{Buf: schedule.Input, Set: b.chunks[e.tree]}
			if sums[e.tree] {
				from.Buf = schedule.Scratch
			}
			out[r] = append(out[r], schedule.Op{Kind: schedule.Send, Peer: e.peer, Src: from})
		}
		out[r] = b.add(out[r], int32(r), down[r])
	}
	return out
}

// add receives from all children and adds: the first to the rank's own data, the last
// into the output where it is the root's.
func (b *treePhases) add(ops []schedule.Op, rank int32, children []edge) []schedule.Op {
	left := map[int32]int{}
	for _, e := range children {
		left[e.tree]++
	}
	added := map[int32]bool{}
	for _, e := range children {
		own, to := schedule.Input, schedule.Scratch
		if added[e.tree] {
			own = schedule.Scratch
		}
		if left[e.tree]--; left[e.tree] == 0 && b.trees[e.tree].root == rank {
			to = schedule.Output
		}
		added[e.tree] = true
		ops = append(ops, schedule.Op{Kind: schedule.RecvReduce, Peer: e.peer,
			Src: schedule.Loc{Buf: own, Set: b.chunks[e.tree]}, Dst: schedule.Loc{Buf: to, Set: b.chunks[e.tree]}})
	}
	return ops
}
