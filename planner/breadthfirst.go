package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// maxBreadthFirst bounds the ranks of breadth_first, whose programs are spelled out:
// they hold about n² operations.
const maxBreadthFirst = 256

// breadthFirst is what the programs are made from: who is whose parent on the shortest
// paths from every root.
type breadthFirst struct {
	n      int
	steps  int         // the largest distance
	dist   [][]int32   // [root][rank]
	parent [][]int32   // [root][rank]; −1 at the root
	below  [][][]int32 // [root][rank]: children, ascending
}

// buildBreadthFirst stores and forwards over direct links: where ranks reach others
// only through other ranks (meshes, tori, any graph without switches), every collective
// still has a schedule. Every block travels down the breadth-first tree of its owner,
// so nothing takes longer than the diameter in steps; parents are chosen so that in
// each step the links carry equal amounts. L. Zhao, S. Pal, T. Chugh, W. Wang,
// J. Fantl, P. Basu, J. Khoury, A. Krishnamurthy, "Efficient direct-connect topologies
// for collective communications", 2022 (BFB). There the amounts are balanced exactly,
// by flows, with blocks cut as fine as it takes; here greedily, in whole blocks, and
// every channel starts the choice at another neighbour, which evens out the rest.
//
// Slices are not pipelined within one phase, so they become channels here, at most 8,
// that overlap; but broadcast and reduce, which go over the root's tree alone, are
// pipelined. Time O(n²·degree) a channel.
func buildBreadthFirst(r *request) (*schedule.Schedule, error) {
	n := r.spec.Ranks
	if r.spec.Kind == collective.AllToAllV {
		return nil, notApplicable("it does not make %v: blocks differ in size on their way", r.spec.Kind)
	}
	if n > maxBreadthFirst {
		return nil, notApplicable("%d ranks: at most %d", n, maxBreadthFirst)
	}
	g, err := r.neighbours()
	if err != nil {
		return nil, err
	}
	channels, slices := min(max(r.o.Channels, r.slices()), 8), 1
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		channels, slices = max(r.o.Channels, 1), r.slices()
	}
	s := &schedule.Schedule{}
	for c := range channels {
		b := newBreadthFirst(g, c)
		s.Channels = append(s.Channels, schedule.Channel{Share: 1, Slices: slices, Chunks: r.chunksFor(n), Phases: b.phases(r)})
	}
	return s, nil
}

// phases are the programs of a collective.
func (b *breadthFirst) phases(r *request) []schedule.Phase {
	root := r.spec.Root
	in, out, scratch := schedule.Input, schedule.Output, schedule.Scratch
	ops := func(op collective.Kind, programs [][]schedule.Op) schedule.Phase {
		return schedule.Phase{Gen: schedule.GenOps, Op: op, Src: in, Acc: scratch, Dst: out, Ops: programs}
	}
	switch r.spec.Kind {
	case collective.AllReduce:
		return []schedule.Phase{ops(collective.ReduceScatter, b.gatherSums(scratch, out)), ops(collective.AllGather, b.spread(out))}
	case collective.AllGather:
		return []schedule.Phase{ops(collective.AllGather, b.spread(in))}
	case collective.ReduceScatter:
		return []schedule.Phase{ops(collective.ReduceScatter, b.gatherSums(scratch, out))}
	case collective.AllToAll, collective.Scatter, collective.Gather, collective.SendRecv, collective.Barrier:
		return []schedule.Phase{ops(r.spec.Kind, b.deliver(r))}
	}
	ph := schedule.Phase{Gen: schedule.GenTree, Op: r.spec.Kind, Groups: all(identity(b.n)), Src: in, Acc: scratch, Dst: out, Root: root, Parents: b.parent[root]}
	return []schedule.Phase{ph}
}

// spread is the all-gather: in step t, everybody hands on the blocks whose owners are
// t−1 away, to the children in that owner's tree, and receives those that are t away.
func (b *breadthFirst) spread(src schedule.Buffer) [][]schedule.Op {
	out := make([][]schedule.Op, b.n)
	for v := range b.n {
		p := &program{}
		p.copy(chunkAt(src, v), chunkAt(schedule.Output, v))
		for t := 1; t <= b.steps; t++ {
			for root := range b.n {
				if int(b.dist[root][v]) == t-1 {
					for _, c := range b.below[root][v] {
						p.send(c, chunkAt(schedule.Output, root))
					}
				}
			}
			for root := range b.n {
				if int(b.dist[root][v]) == t {
					p.recv(b.parent[root][v], chunkAt(schedule.Output, root))
				}
			}
		}
		out[v] = p.ops
	}
	return out
}

// gatherSums is the reduce-scatter, the all-gather backwards: from the far end, sums
// flow up the tree of their owner.
func (b *breadthFirst) gatherSums(acc, dst schedule.Buffer) [][]schedule.Op {
	out := make([][]schedule.Op, b.n)
	for v := range b.n {
		p := &program{}
		held := make([]schedule.Buffer, b.n) // where the sum for each root is: Input until something was added
		for t := b.steps; t >= 1; t-- {
			for root := range b.n {
				if int(b.dist[root][v]) == t {
					p.send(b.parent[root][v], chunkAt(held[root], root))
				}
			}
			for root := range b.n {
				if int(b.dist[root][v]) != t-1 {
					continue
				}
				to := acc
				if root == v {
					to = dst
				}
				for _, c := range b.below[root][v] {
					p.recvReduce(c, chunkAt(held[root], root), chunkAt(to, root))
					held[root] = to
				}
			}
		}
		if held[v] == schedule.Input {
			p.copy(chunkAt(schedule.Input, v), chunkAt(dst, v))
		}
		out[v] = p.ops
	}
	return out
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
