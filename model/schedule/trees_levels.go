package schedule

import (
	"cmp"
	"slices"

	"railyard/model/collective"
)

// A phase that takes one level of trees: parents send to their children, or children what they
// have summed up to their parents. Where Trees.Join is set, all that a level sends from one rank
// to another goes in as few messages as its places in memory allow, so that many parts cost the
// latency of few. And a hop's level is then the last one that leaves room for what is below it, so
// that hops of a kind come at the same time: into other nodes, and there to the GPUs that are left.

// latestLevels finds these levels: hops to leaves have the last one.
func (b *treePhases) latestLevels() {
	for i := range b.List {
		parent, level := b.List[i].Parents(b.up), slices.Repeat([]int32{int32(b.high)}, b.ranks)
		for v := range level {
			for u, last := parent[v], int32(b.high)-1; u >= 0 && level[u] > last; u, last = parent[u], last-1 {
				level[u] = last
			}
		}
		b.level[i] = level
	}
}

// joint is a message: a hop of one or more trees.
type joint struct {
	from, to      int32
	tree          int32  // the first of them
	src, own, dst Buffer // where it is read; for sums, what it is added to; where it goes
	set           ChunkSet
}

// places orders the messages of a connection.
func (m *joint) places(o *joint) int {
	return cmp.Or(cmp.Compare(m.src, o.src), cmp.Compare(m.own, o.own), cmp.Compare(m.dst, o.dst), cmp.Compare(m.set.First, o.set.First))
}

// ofLevel are the programs of all ranks in a phase of one level.
func (b *treePhases) ofLevel(ph *Phase) [][]Op {
	hops := b.hops[:0]
	sums := ph.Op == collective.ReduceScatter
	for i := range b.List {
		for v, p := range b.List[i].Parents(sums) {
			switch {
			case p < 0 || b.level[i][v] != int32(ph.Level) || b.leaves(p, int32(v)):
			case sums:
				hops = append(hops, b.sumHop(i, int32(v), p))
			case p == b.List[i].Root:
				hops = append(hops, joint{p, int32(v), int32(i), ph.Src, Output, Output, b.chunks[i]})
			default:
				hops = append(hops, joint{p, int32(v), int32(i), Output, Output, Output, b.chunks[i]})
			}
		}
	}
	b.hops = hops
	own := make([][]ChunkSet, b.ranks) // what a rank has to copy
	if !sums && ph.Level == 1 && ph.Src == Input {
		own = b.own()
	}
	if b.Join {
		hops = join(hops, b.Early)
	}
	return b.spellOut(hops, sums, own)
}

// sumHop is the hop of a tree's sum from a child to its parent: the first is added to the
// parent's own data, the last one makes the root's result. A rank takes what its children send in
// the order in which they lie ahead of it.
func (b *treePhases) sumHop(tree int, child, parent int32) joint {
	m := joint{child, parent, int32(tree), Input, Scratch, Scratch, b.chunks[tree]}
	if len(b.children[tree][child]) > 0 {
		m.src = Scratch
	}
	nearer, farther := 0, 0
	for _, v := range b.children[tree][parent] {
		switch cmp.Or(cmp.Compare(b.level[tree][child], b.level[tree][v]), cmp.Compare(b.ahead(parent, v), b.ahead(parent, child))) {
		case -1:
			nearer++
		case 1:
			farther++
		}
	}
	if nearer == 0 {
		m.own = Input
	}
	if farther == 0 && b.List[tree].Root == parent {
		m.dst = Output
	}
	return m
}

// spellOut makes the programs of messages, with copies in between: sends come before receives,
// so that nobody waits for others before it sends.
func (b *treePhases) spellOut(list []joint, sums bool, copies [][]ChunkSet) [][]Op {
	count := make([]int, b.ranks)
	for r := range count {
		count[r] = len(copies[r])
	}
	for i := range list {
		count[list[i].from]++
		count[list[i].to]++
	}
	out := make([][]Op, b.ranks)
	for r, n := range count {
		out[r] = make([]Op, 0, n)
	}
	b.sort(list, func(m joint) (rank, peer int32) { return m.from, m.to }, !sums)
	for _, m := range list {
		out[m.from] = append(out[m.from], Op{Kind: Send, Peer: m.to, Src: Loc{m.src, m.set}})
	}
	for r, sets := range copies {
		for _, set := range sets {
			out[r] = append(out[r], Op{Kind: Copy, Peer: -1, Src: Loc{Input, set}, Dst: Loc{Output, set}})
		}
	}
	b.sort(list, func(m joint) (rank, peer int32) { return m.to, m.from }, sums)
	for _, m := range list {
		op := Op{Kind: Recv, Peer: m.from, Dst: Loc{m.dst, m.set}}
		if sums {
			op.Kind, op.Src = RecvReduce, Loc{m.own, m.set}
		}
		out[m.to] = append(out[m.to], op)
	}
	return out
}

// sort puts what ranks send or receive in an order that looks the same from each of them, and for
// the messages of a connection the same from both its ends: by how far ahead the peer lies and,
// before that where the ranks are parents, how far the tree's root is ahead of the parent. Equal
// programs fold in the simulator, and nobody is served first by all. Joined messages have several
// roots.
func (b *treePhases) sort(list []joint, ends func(joint) (rank, peer int32), parents bool) {
	if b.sketched != nil { // in which it makes no difference
		return
	}
	slices.SortStableFunc(list, func(x, y joint) int {
		r, p := ends(x)
		o, q := ends(y)
		if r != o {
			return cmp.Compare(r, o)
		}
		near := cmp.Compare(b.ahead(r, p), b.ahead(r, q))
		switch {
		case b.Join:
			return near
		case parents:
			return cmp.Or(b.compare(r, x.tree, y.tree), near)
		}
		return cmp.Or(near, b.compare(p, x.tree, y.tree))
	})
}

// compare orders trees by how far their roots are ahead of a parent.
func (b *treePhases) compare(parent, x, y int32) int {
	return cmp.Or(cmp.Compare(b.ahead(parent, b.List[x].Root), b.ahead(parent, b.List[y].Root)), cmp.Compare(x, y))
}

// join makes one message of hops between the same ranks and places whose chunks lie next
// to one another, or are sets of one length in equal steps; with early, in equal steps only.
func join(hops []joint, early bool) (out []joint) {
	slices.SortFunc(hops, func(x, y joint) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), x.places(&y))
	})
	for len(hops) > 0 {
		first, end := hops[0], 0
		var sets []ChunkSet
		for ; end < len(hops) && first.likewise(hops[end]); end++ {
			sets = append(sets, hops[end].set)
		}
		if !early {
			sets = neighbours(sets)
		}
		for _, first.set = range inSteps(sets) {
			out = append(out, first)
		}
		hops = hops[end:]
	}
	return out
}

// likewise reports whether two messages go between the same places, whatever their chunks.
func (m joint) likewise(o joint) bool {
	m.set, m.tree = o.set, o.tree
	return m == o
}
