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

// levelHop is a hop of a tree to a rank.
type levelHop struct{ level, tree, to int32 }

// indexHops finds those of ranks whose programs are asked for, by level.
func (b *treePhases) indexHops() {
	b.hops, b.rooted = make([][]levelHop, b.ranks), make([][]int32, b.ranks)
	for i := range b.List {
		root := b.List[i].Root
		b.rooted[root], b.begins = append(b.rooted[root], int32(i)), append(b.begins, b.List[i].begins())
		for v, u := range b.List[i].Parents(b.up) {
			h := levelHop{b.level[i][v], int32(i), int32(v)}
			for _, r := range []int32{int32(v), u} {
				if u >= 0 && !b.leaves(r) {
					b.hops[r] = append(b.hops[r], h)
				}
			}
		}
	}
	for _, hops := range b.hops {
		slices.SortStableFunc(hops, func(x, y levelHop) int { return cmp.Compare(x.level, y.level) })
	}
}

// copied are the chunks of the trees of a rank that begin in a phase, neighbouring ones as one, if they are copied there.
func (b *treePhases) copied(ph *Phase, rank int32) []ChunkSet {
	if ph.Op != collective.AllGather || ph.Src != Input {
		return nil
	}
	var out []ChunkSet
	for _, i := range b.rooted[rank] {
		if b.begins[i] == int32(ph.Level) {
			out = append(out, b.chunks[i])
		}
	}
	return neighbours(out)
}

// appendLevel appends a rank's program in a phase of one level.
func (b *treePhases) appendLevel(dst []Op, ph *Phase, rank int32) []Op {
	sums, all := ph.Op == collective.ReduceScatter, b.hops[rank]
	first, _ := slices.BinarySearchFunc(all, int32(ph.Level), func(h levelHop, level int32) int { return cmp.Compare(h.level, level) })
	var hops []joint
	for _, h := range all[first:] {
		if h.level != int32(ph.Level) {
			break
		}
		switch p := b.List[h.tree].Parents(b.up)[h.to]; {
		case sums:
			hops = append(hops, b.sumHop(int(h.tree), h.to, p))
		case p == b.List[h.tree].Root:
			hops = append(hops, joint{p, h.to, h.tree, ph.Src, Output, Output, b.chunks[h.tree]})
		default:
			hops = append(hops, joint{p, h.to, h.tree, Output, Output, Output, b.chunks[h.tree]})
		}
	}
	if b.Join {
		hops = join(hops, b.Early)
	}
	return b.spellOut(dst, hops, rank, sums, b.copied(ph, rank))
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

// spellOut appends the program of a rank's messages, with copies in between: sends come before receives, so that nobody waits for others
// before it sends. They are put in an order that looks the same from each rank, and for the messages of a connection the same from both its
// ends.
func (b *treePhases) spellOut(dst []Op, list []joint, rank int32, sums bool, copies []ChunkSet) []Op {
	b.sort(list, rank, !sums)
	for _, m := range list {
		if m.from == rank {
			dst = append(dst, Op{Kind: Send, Peer: m.to, Src: Loc{m.src, m.set}})
		}
	}
	for _, set := range copies {
		dst = append(dst, Op{Kind: Copy, Peer: -1, Src: Loc{Input, set}, Dst: Loc{Output, set}})
	}
	b.sort(list, rank, sums)
	for _, m := range list {
		switch {
		case m.to != rank:
		case sums:
			dst = append(dst, Op{Kind: RecvReduce, Peer: m.from, Src: Loc{m.own, m.set}, Dst: Loc{m.dst, m.set}})
		default:
			dst = append(dst, Op{Kind: Recv, Peer: m.from, Dst: Loc{m.dst, m.set}})
		}
	}
	return dst
}

// sort puts what a rank sends or receives in order: by how far ahead the peer lies and, before that where the ranks are parents, how far
// the tree's root is ahead of the parent. Equal programs fold in the simulator, and nobody is served first by all. Joined messages have
// several roots.
func (b *treePhases) sort(list []joint, rank int32, parents bool) {
	slices.SortStableFunc(list, func(x, y joint) int {
		p, q := x.peer(rank), y.peer(rank)
		near := cmp.Compare(b.ahead(rank, p), b.ahead(rank, q))
		switch {
		case b.Join:
			return near
		case parents:
			return cmp.Or(b.compare(rank, x.tree, y.tree), near)
		}
		return cmp.Or(near, b.compare(p, x.tree, y.tree))
	})
}

// peer is the other end of a rank's message.
func (m *joint) peer(rank int32) int32 { return m.from + m.to - rank }

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
