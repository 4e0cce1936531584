package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// maxBreadthFirst bounds the ranks of breadth_first, whose programs are spelled out:
// they hold about n² operations for each piece.
const maxBreadthFirst = 256

// breadthFirst is what the programs of a piece of every block are made from: who is whose
// parent on the shortest paths from every root.
type breadthFirst struct {
	n      int
	steps  int         // the largest distance
	dist   [][]int32   // [root][rank]
	parent [][]int32   // [root][rank]; −1 at the root
	below  [][][]int32 // [root][rank]: children, ascending
}

// buildBreadthFirst stores and forwards over direct links: where ranks reach others
// only through other ranks (meshes, tori, any graph without switches), every collective
// still has a schedule. Every block travels on shortest paths from its owner, so nothing
// takes longer than the diameter in steps; blocks are cut into pieces, each of which goes
// down a tree of its own, so that in each step the fullest link carries as little as it can.
// L. Zhao, S. Pal, T. Chugh, W. Wang, J. Fantl, P. Basu, J. Khoury, A. Krishnamurthy,
// "Efficient direct-connect topologies for collective communications", 2022 (BFB).
//
// Pieces are channels that overlap, and what slices are for other algorithms; but broadcast
// and reduce, which go over the root's tree alone, are pipelined.
func buildBreadthFirst(r *request) (*schedule.Schedule, error) {
	x, err := r.breadthFirst()
	if err != nil {
		return nil, err
	}
	if r.spec.Kind == collective.AllToAllV {
		return nil, notApplicable("it does not make %v: blocks differ in size on their way", r.spec.Kind)
	}
	n, pieces, depth := r.spec.Ranks, min(max(r.o.Channels, r.slices()), maxBlockPieces(r.spec.Ranks)), 1
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		pieces, depth = max(r.o.Channels, 1), r.slices()
	}
	s := &schedule.Schedule{}
	out, in := x.out.trees(pieces), x.in.trees(pieces)
	for i := range pieces {
		ch := schedule.Channel{Share: 1, Slices: depth, Chunks: r.chunksFor(n), Phases: r.breadthFirstPhases(out[i], in[i])}
		if ch.Phases == nil { // blocks that only have to get to one place
			ch = inOneStage(r.alongPaths(r.deliver(out[i], in[i]), 1).Channels[0])
		}
		s.Channels = append(s.Channels, ch)
	}
	return s, nil
}

// inOneStage has all steps in one phase, so that none begins before the one before has ended.
func inOneStage(ch schedule.Channel) schedule.Channel {
	for _, ph := range ch.Phases[1:] {
		for v, ops := range ph.Ops {
			ch.Phases[0].Ops[v] = append(ch.Phases[0].Ops[v], ops...)
		}
	}
	ch.Slices, ch.Phases = 1, ch.Phases[:1]
	return ch
}

// breadthFirstDepths: in as many pieces as a block needs for exact balance, and whole.
func breadthFirstDepths(r *request) []int {
	k := r.spec.Kind
	switch k {
	case collective.Broadcast, collective.Reduce:
		return pipelined
	case collective.Barrier, collective.SendRecv:
		return []int{1}
	case collective.AllToAll, collective.Scatter, collective.Gather:
		if r.spec.Ranks > maxFlowRanks { // whose simulation takes seconds
			return []int{1, 4}
		}
		return []int{1, 2, 4}
	}
	x, err := r.breadthFirst()
	if err != nil {
		return []int{1}
	}
	out := []int{1, x.out.bestPieces()}
	if k == collective.ReduceScatter {
		out[1] = x.in.bestPieces()
	}
	return slices.Compact(out)
}

// breadthFirstPhases are the programs of a piece, which goes down trees that lead out from
// their roots and up those that lead in to them.
func (r *request) breadthFirstPhases(out, in *breadthFirst) []schedule.Phase {
	input, output, scratch := schedule.Input, schedule.Output, schedule.Scratch
	ops := func(op collective.Kind, programs []schedule.Program) schedule.Phase {
		return schedule.Phase{Gen: schedule.GenOps, Op: op, Src: input, Acc: scratch, Dst: output, Ops: programs}
	}
	parents := out.parent
	switch r.spec.Kind {
	case collective.AllReduce:
		return []schedule.Phase{ops(collective.ReduceScatter, in.gatherSums(scratch, output)),
			ops(collective.AllGather, out.spread(output))}
	case collective.AllGather:
		return []schedule.Phase{ops(collective.AllGather, out.spread(input))}
	case collective.ReduceScatter:
		return []schedule.Phase{ops(collective.ReduceScatter, in.gatherSums(scratch, output))}
	case collective.AllToAll, collective.Scatter, collective.Gather, collective.SendRecv, collective.Barrier:
		return nil
	case collective.Reduce:
		parents = in.parent
	}
	root := r.spec.Root
	return []schedule.Phase{{Gen: schedule.GenTree, Op: r.spec.Kind, Groups: all(identity(out.n)), Src: input, Acc: scratch, Dst: output,
		Root: root, Parents: parents[root]}}
}

// spread is the all-gather: in step t, everybody hands on the blocks whose owners are
// t−1 away, to the children in that owner's tree, and receives those that are t away. What
// goes the same way in a step is as few messages as it can be.
func (b *breadthFirst) spread(src schedule.Buffer) []schedule.Program {
	out := make([]schedule.Program, b.n)
	for v := range b.n {
		p := &program{}
		p.copy(chunkAt(src, v), chunkAt(schedule.Output, v))
		for t := 1; t <= b.steps; t++ {
			to, from := make([][]int32, b.n), make([][]int32, b.n)
			for root := range b.n {
				switch int(b.dist[root][v]) {
				case t - 1:
					for _, c := range b.below[root][v] {
						to[c] = append(to[c], int32(root))
					}
				case t:
					from[b.parent[root][v]] = append(from[b.parent[root][v]], int32(root))
				}
			}
			eachSet(to, func(c int32, set schedule.ChunkSet) { p.send(c, schedule.Loc{Buf: schedule.Output, Set: set}) })
			eachSet(from, func(c int32, set schedule.ChunkSet) { p.recv(c, schedule.Loc{Buf: schedule.Output, Set: set}) })
		}
		out[v] = p.ops
	}
	return out
}

// eachSet visits the chunks of each peer as progressions: the numbers of a list that are
// equally far apart, as many as there are before the distance changes.
func eachSet(byPeer [][]int32, visit func(peer int32, set schedule.ChunkSet)) {
	for peer, list := range byPeer {
		for len(list) > 0 {
			set := schedule.One(list[0])
			for i := 1; i < len(list) && (i == 1 || list[i]-list[i-1] == set.Stride); i++ {
				set.Count, set.Stride = set.Count+1, list[i]-list[i-1]
			}
			visit(int32(peer), set)
			list = list[set.Count:]
		}
	}
}

// gatherSums is the reduce-scatter, the all-gather backwards: from the far end, sums
// flow up the tree of their owner. A message holds sums of one sort.
func (b *breadthFirst) gatherSums(acc, dst schedule.Buffer) []schedule.Program {
	out := make([]schedule.Program, b.n)
	for v := range b.n {
		p := &program{}
		for t := b.steps; t >= 1; t-- {
			to := acc
			if t == 1 { // v is the root
				to = dst
			}
			up, down := b.sums(v, t)
			for sort := range up {
				src := schedule.Input
				if sort&inner > 0 {
					src = acc
				}
				eachSet(up[sort], func(peer int32, set schedule.ChunkSet) { p.send(peer, schedule.Loc{Buf: src, Set: set}) })
			}
			for sort := range down {
				src := schedule.Input
				if sort&further > 0 {
					src = to
				}
				eachSet(down[sort], func(c int32, set schedule.ChunkSet) {
					p.recvReduce(c, schedule.Loc{Buf: src, Set: set}, schedule.Loc{Buf: to, Set: set})
				})
			}
		}
		out[v] = p.ops
	}
	return out
}

// A sum goes up from a leaf, which sends its input, or from an inner rank; and it is the
// first that its parent adds to its own input, or a further one.
const (
	inner   = 1
	further = 2
)

// sums are the blocks whose sums a rank sends up in a step to each peer, and those to
// which it adds what each peer sends: by sort, first ones before further ones.
func (b *breadthFirst) sums(v, t int) (up, down [4][][]int32) {
	for sort := range up {
		up[sort], down[sort] = make([][]int32, b.n), make([][]int32, b.n)
	}
	for root := range b.n {
		switch int(b.dist[root][v]) {
		case t:
			p := b.parent[root][v]
			list := &up[b.sort(root, p, int32(v))][p]
			*list = append(*list, int32(root))
		case t - 1:
			for _, c := range b.below[root][v] {
				list := &down[b.sort(root, int32(v), c)][c]
				*list = append(*list, int32(root))
			}
		}
	}
	return up, down
}

func (b *breadthFirst) sort(root int, parent, child int32) int {
	sort := 0
	if len(b.below[root][child]) > 0 {
		sort |= inner
	}
	if b.below[root][parent][0] != child {
		sort |= further
	}
	return sort
}

// program is a rank's operations.
type program struct{ ops []schedule.Op }

func chunkAt(b schedule.Buffer, chunk int) schedule.Loc {
	return schedule.Loc{Buf: b, Set: schedule.One(int32(chunk))}
}

func (p *program) send(to int32, src schedule.Loc) {
	p.ops = append(p.ops, schedule.Op{Kind: schedule.Send, Peer: to, Src: src})
}

func (p *program) recv(from int32, dst schedule.Loc) {
	p.ops = append(p.ops, schedule.Op{Kind: schedule.Recv, Peer: from, Dst: dst})
}

func (p *program) recvReduce(from int32, src, dst schedule.Loc) {
	p.ops = append(p.ops, schedule.Op{Kind: schedule.RecvReduce, Peer: from, Src: src, Dst: dst})
}

func (p *program) copy(src, dst schedule.Loc) {
	if src != dst {
		p.ops = append(p.ops, schedule.Op{Kind: schedule.Copy, Peer: -1, Src: src, Dst: dst})
	}
}
