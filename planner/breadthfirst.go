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
	n, pieces, slices := r.spec.Ranks, min(max(r.o.Channels, r.slices()), maxBlockPieces(r.spec.Ranks)), 1
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		pieces, slices = max(r.o.Channels, 1), r.slices()
	}
	s := &schedule.Schedule{}
	out, in := x.out.trees(pieces), x.in.trees(pieces)
	for i := range pieces {
		s.Channels = append(s.Channels, schedule.Channel{Share: 1, Slices: slices, Chunks: r.chunksFor(n), Phases: r.breadthFirstPhases(out[i], in[i])})
	}
	return s, nil
}

// breadthFirstDepths: in as many pieces as a block needs for exact balance, and whole.
func breadthFirstDepths(r *request) []int {
	k := r.spec.Kind
	switch k {
	case collective.Broadcast, collective.Reduce:
		return pipelined
	case collective.Barrier, collective.SendRecv:
		return []int{1}
	case collective.AllGather, collective.ReduceScatter, collective.AllReduce:
	default:
		return []int{1, 4}
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
	ops := func(op collective.Kind, programs [][]schedule.Op) schedule.Phase {
		return schedule.Phase{Gen: schedule.GenOps, Op: op, Src: input, Acc: scratch, Dst: output, Ops: programs}
	}
	parents := out.parent
	switch r.spec.Kind {
	case collective.AllReduce:
		return []schedule.Phase{ops(collective.ReduceScatter, in.gatherSums(scratch, output)), ops(collective.AllGather, out.spread(output))}
	case collective.AllGather:
		return []schedule.Phase{ops(collective.AllGather, out.spread(input))}
	case collective.ReduceScatter:
		return []schedule.Phase{ops(collective.ReduceScatter, in.gatherSums(scratch, output))}
	case collective.AllToAll, collective.Scatter, collective.Gather, collective.SendRecv, collective.Barrier:
		return []schedule.Phase{ops(r.spec.Kind, deliver(r, out, in))}
	case collective.Reduce:
		parents = in.parent
	}
	root := r.spec.Root
	return []schedule.Phase{{Gen: schedule.GenTree, Op: r.spec.Kind, Groups: all(identity(out.n)), Src: input, Acc: scratch, Dst: output, Root: root, Parents: parents[root]}}
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
