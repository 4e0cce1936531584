package schedule

import (
	"cmp"
	"slices"
)

// Where Trees.Join is set, all that a level sends from one rank to another goes in as few
// messages as its places in memory allow, so that many parts cost the latency of few. And a
// hop's level is the last one that leaves room for what is below it, so that hops of a kind
// come at the same time: into other nodes, and there to the GPUs that are left.

// late finds these levels: hops to leaves have the last one.
func (b *treePhases) late() {
	for i := range b.List {
		parent, level := b.List[i].Parent, slices.Repeat([]int32{int32(b.high)}, b.ranks)
		for v := range level {
			for u, last := parent[v], int32(b.high)-1; u >= 0 && level[u] > last; u, last = parent[u], last-1 {
				level[u] = last
			}
		}
		b.level = append(b.level, level)
	}
}

// joint is such a message: a hop of one or more trees.
type joint struct {
	from, to      int32
	src, own, dst Buffer // where it is read; for sums, what it is added to; where it goes
	set           ChunkSet
}

// places orders the messages of a connection.
func (m *joint) places(o *joint) int {
	return cmp.Or(cmp.Compare(m.src, o.src), cmp.Compare(m.own, o.own), cmp.Compare(m.dst, o.dst), cmp.Compare(m.set.First, o.set.First))
}

// joinedSpread is spread with joined messages.
func (b *treePhases) joinedSpread(d int32, first Buffer) [][]Op {
	var hops []joint
	for i := range b.List {
		for v, p := range b.List[i].Parent {
			if p >= 0 && b.level[i][v] == d {
				m := joint{from: p, to: int32(v), src: Output, dst: Output, set: b.chunks[i]}
				if p == b.List[i].Root {
					m.src = first
				}
				hops = append(hops, m)
			}
		}
	}
	own := make([][]ChunkSet, b.ranks)
	if d == 1 && first == Input {
		own = b.own()
	}
	return b.spellOut(hops, Recv, own)
}

// joinedGather is gather with joined messages. A rank takes what its children in a tree
// send in the order in which they lie ahead of it.
func (b *treePhases) joinedGather(d int32) [][]Op {
	var hops []joint
	for i := range b.List {
		for v, p := range b.List[i].Parent {
			if p >= 0 && b.level[i][v] == d {
				hops = append(hops, b.sumHop(i, int32(v), p))
			}
		}
	}
	return b.spellOut(hops, RecvReduce, make([][]ChunkSet, b.ranks))
}

// sumHop is the hop of a tree's sum from a child to its parent: the first is added to the
// parent's own data, the last one makes the root's result.
func (b *treePhases) sumHop(tree int, child, parent int32) joint {
	m := joint{from: child, to: parent, src: Input, own: Scratch, dst: Scratch, set: b.chunks[tree]}
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

// spellOut joins hops to messages and makes the programs of them, with copies in between:
// sends come before receives, so that nobody waits for others before it sends.
func (b *treePhases) spellOut(hops []joint, receive OpKind, copies [][]ChunkSet) [][]Op {
	out := make([][]Op, b.ranks)
	list := join(hops)
	slices.SortStableFunc(list, func(x, y joint) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(b.ahead(x.from, x.to), b.ahead(y.from, y.to)))
	})
	for _, m := range list {
		out[m.from] = append(out[m.from], Op{Kind: Send, Peer: m.to, Src: Loc{m.src, m.set}})
	}
	for r, sets := range copies {
		for _, set := range sets {
			out[r] = append(out[r], Op{Kind: Copy, Peer: -1, Src: Loc{Input, set}, Dst: Loc{Output, set}})
		}
	}
	slices.SortStableFunc(list, func(x, y joint) int {
		return cmp.Or(cmp.Compare(x.to, y.to), cmp.Compare(b.ahead(x.to, x.from), b.ahead(y.to, y.from)))
	})
	for _, m := range list {
		op := Op{Kind: receive, Peer: m.from, Dst: Loc{m.dst, m.set}}
		if receive == RecvReduce {
			op.Src = Loc{m.own, m.set}
		}
		out[m.to] = append(out[m.to], op)
	}
	return out
}

// join makes one message of hops between the same ranks and places whose chunks lie next
// to one another, or are sets of one length in equal steps.
func join(hops []joint) []joint {
	slices.SortFunc(hops, func(x, y joint) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), x.places(&y))
	})
	alike := func(x, y joint) bool {
		x.set, y.set = ChunkSet{}, ChunkSet{}
		return x == y
	}
	var whole, out []joint
	for _, h := range hops {
		if n := len(whole) - 1; n >= 0 && alike(whole[n], h) && whole[n].set.First+whole[n].set.Count == h.set.First {
			whole[n].set.Count += h.set.Count
			continue
		}
		whole = append(whole, h)
	}
	for _, h := range whole {
		if n := len(out) - 1; n < 0 || !alike(out[n], h) || !out[n].set.takes(h.set) {
			out = append(out, h)
		}
	}
	return out
}
