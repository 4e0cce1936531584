package schedule

import (
	"fmt"

	"railyard/model/collective"
)

// An all-to-all with counts over the rails of a cluster. Chunk c of a rank's input
// crosses the network on rail c mod Local, from the node's GPU on that rail to the other
// node's GPU there:
//
//	stage 1: inside the node, from the source to the GPU on the rail;
//	         what stays in the node goes to its destination
//	stage 2: across, on the rail
//	stage 3: inside the node, from there to the destination
//
// With one chunk a block, the rail is that of the destination, which stage 2 reaches
// (NCCL's PXN). With Local chunks a block, each block uses all rails: all NICs of a node
// carry the same, however uneven the counts are inside the nodes (valiant load balancing
// over the rails; L. G. Valiant, "A scheme for fast parallel communication", 1982).
//
// On their way, chunks wait in scratch at the number rank·Chunks + c, which has their
// size. What is empty is not sent.

// railView is what one rank sees of the rails.
type railView struct {
	counts      [][]int64
	rank, local int32
	node, at    int32 // rank = node·local + at
	nodes       int32
	per, chunks int32 // chunks of a block, of all
	ops         []Op
}

// appendRails appends the program of a rank in a stage.
func (x *Expander) appendRails(dst []Op, ch *Channel, ph *Phase, rank int) []Op {
	spec := &x.s.Spec
	v := railView{counts: spec.Counts, rank: int32(rank), local: int32(ph.Local), nodes: int32(spec.Ranks / ph.Local),
		per: int32(ch.Chunks / spec.Ranks), chunks: int32(ch.Chunks), ops: dst}
	v.node, v.at = v.rank/v.local, v.rank%v.local
	switch ph.Level {
	case 1:
		v.toRails()
	case 2:
		v.across()
	default:
		v.fromRails()
	}
	return v.ops
}

// move is one operation of a stage: a set of chunks here and there, and what they are.
func (v *railView) move(kind OpKind, peer int32, src, dst Loc, count int64) {
	if count > 0 {
		v.ops = append(v.ops, Op{Kind: kind, Peer: peer, Src: src, Dst: dst})
	}
}

// count adds up what ranks from … from+sources−1 send to to … to+dests−1.
func (v *railView) count(from, sources, to, dests int32) (sum int64) {
	for s := from; s < from+sources; s++ {
		for d := to; d < to+dests; d++ {
			sum += v.counts[s][d]
		}
	}
	return sum
}

// leaving visits the chunks of a source that leave its node on a rail: those to the nodes
// before, and to those after. It says how much that is.
func (v *railView) leaving(source, rail int32, visit func(set ChunkSet, count int64)) {
	part := func(first, nodes int32) {
		set := ChunkSet{First: first*v.local*v.per + rail, Count: nodes * v.per, Stride: v.local}
		sum := int64(0)
		for node := first; node < first+nodes; node++ {
			to, dests := v.onRail(node, rail)
			sum += v.count(source, 1, to, dests)
		}
		visit(set, sum)
	}
	part(0, v.node)
	part(v.node+1, v.nodes-v.node-1)
}

// onRail are the ranks of a node to which chunks come on a rail.
func (v *railView) onRail(node, rail int32) (first, count int32) {
	if v.per == 1 {
		return node*v.local + rail, 1
	}
	return node * v.local, v.local
}

// waiting moves a set of a source's chunks to where they wait.
func (v *railView) waiting(source int32, set ChunkSet) Loc {
	return at(Scratch, set.shifted(source*v.chunks))
}

// block are the chunks of a rank's block.
func (v *railView) block(rank int32) ChunkSet { return Range(rank*v.per, v.per) }

func (v *railView) toRails() {
	for k := int32(1); k < v.local; k++ {
		p := (v.at + k) % v.local
		peer := v.node*v.local + p
		v.move(Send, peer, at(Input, v.block(peer)), Loc{}, v.count(v.rank, 1, peer, 1))
		v.leaving(v.rank, p, func(set ChunkSet, n int64) { v.move(Send, peer, at(Input, set), Loc{}, n) })
	}
	v.move(Copy, -1, at(Input, v.block(v.rank)), at(Output, v.block(v.rank)), v.count(v.rank, 1, v.rank, 1))
	v.leaving(v.rank, v.at, func(set ChunkSet, n int64) { v.move(Copy, -1, at(Input, set), v.waiting(v.rank, set), n) })
	for k := int32(1); k < v.local; k++ {
		source := v.node*v.local + (v.at-k+v.local)%v.local
		v.move(Recv, source, Loc{}, at(Output, v.block(source)), v.count(source, 1, v.rank, 1))
		v.leaving(source, v.at, func(set ChunkSet, n int64) { v.move(Recv, source, Loc{}, v.waiting(source, set), n) })
	}
}

func (v *railView) across() {
	for k := int32(1); k < v.nodes; k++ {
		node := (v.node + k) % v.nodes
		to, dests := v.onRail(node, v.at)
		v.move(Send, node*v.local+v.at, at(Scratch, v.between(v.node, node)), Loc{}, v.count(v.node*v.local, v.local, to, dests))
	}
	for k := int32(1); k < v.nodes; k++ {
		node := (v.node - k + v.nodes) % v.nodes
		to, dests := v.onRail(v.node, v.at)
		dst := at(Scratch, v.between(node, v.node))
		if v.per == 1 {
			dst = at(Output, Range(node*v.local, v.local))
		}
		v.move(Recv, node*v.local+v.at, Loc{}, dst, v.count(node*v.local, v.local, to, dests))
	}
}

// between are the places of what goes from a node to another on the rank's rail.
func (v *railView) between(from, to int32) ChunkSet {
	return ChunkSet{First: from*v.local*v.chunks + to*v.local*v.per + v.at, Count: v.per, Stride: v.local, Outer: v.local,
		OuterStride: v.chunks}
}

func (v *railView) fromRails() {
	for k := int32(1); k < v.local; k++ {
		peer := v.node*v.local + (v.at+k)%v.local
		v.arrived(peer, v.at, func(from, _ ChunkSet, n int64) { v.move(Send, peer, at(Scratch, from), Loc{}, n) })
	}
	v.arrived(v.rank, v.at, func(from, to ChunkSet, n int64) { v.move(Copy, -1, at(Scratch, from), at(Output, to), n) })
	for k := int32(1); k < v.local; k++ {
		rail := (v.at - k + v.local) % v.local
		v.arrived(v.rank, rail, func(_, to ChunkSet, n int64) { v.move(Recv, v.node*v.local+rail, Loc{}, at(Output, to), n) })
	}
}

// arrived visits what has come for a rank on a rail from the nodes before and after its
// own: where that waits, and where it belongs.
func (v *railView) arrived(rank, rail int32, visit func(from, to ChunkSet, count int64)) {
	part := func(first, sources int32) {
		visit(ChunkSet{First: first*v.chunks + rank*v.per + rail, Count: sources, Stride: v.chunks},
			ChunkSet{First: first*v.per + rail, Count: sources, Stride: v.per}, v.count(first, sources, rank, 1))
	}
	part(0, v.node*v.local)
	part((v.node+1)*v.local, (v.nodes-v.node-1)*v.local)
}

// validateRails checks a phase of an all-to-all over rails.
func (s *Schedule) validateRails(ch *Channel, ph *Phase) error {
	n := s.Spec.Ranks
	switch {
	case ph.Op != collective.AllToAllV || s.Spec.Kind != collective.AllToAllV:
		return fmt.Errorf("generator rails does not make %v", ph.Op)
	case ph.Local < 1 || n%ph.Local != 0:
		return fmt.Errorf("local: %d ranks are no whole number of nodes of %d", n, ph.Local)
	case ch.Chunks != n && ch.Chunks != n*ph.Local:
		return fmt.Errorf("rails: %d chunks: must be 1 or %d for each of %d blocks", ch.Chunks, ph.Local, n)
	case int64(n)*int64(ch.Chunks) > 1<<30:
		return fmt.Errorf("rails: %d ranks are too many for %d chunks", n, ch.Chunks)
	case ph.Level < 1 || ph.Level > 3 || ph.Level == 3 && ch.Chunks == n && ph.Local > 1:
		return fmt.Errorf("rails: level %d: must be from 1 to 3, or to 2 with one chunk a block", ph.Level)
	}
	return nil
}
