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

// rails writes the program of one rank.
type rails struct {
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
	v := rails{counts: spec.Counts, rank: int32(rank), local: int32(ph.Local), nodes: int32(spec.Ranks / ph.Local),
		per: int32(ch.Chunks / spec.Ranks), chunks: int32(ch.Chunks), ops: dst}
	v.node, v.at = v.rank/v.local, v.rank%v.local
	inside := func(k int32) int32 { return v.node*v.local + (v.at+k+v.local)%v.local }
	switch ph.Level {
	case 1:
		v.stage(v.local, inside, v.toRails)
	case 2:
		v.stage(v.nodes, func(k int32) int32 { return (v.node+k+v.nodes)%v.nodes*v.local + v.at }, v.across)
	default:
		v.stage(v.local, inside, v.fromRails)
	}
	return v.ops
}

// part visits a set of chunks at its source and at its destination, and what they are.
type part func(src, dst Loc, count int64)

// stage sends to all others of a group, from the next one on, copies what stays, and receives from those before. Of two of
// them, moves visits what goes from one to the other; what is empty does not.
func (v *rails) stage(members int32, member func(k int32) int32, moves func(from, to int32, visit part)) {
	do := func(kind OpKind, peer int32, from, to int32) {
		moves(from, to, func(src, dst Loc, count int64) {
			switch {
			case count == 0:
				return
			case kind == Send:
				dst = Loc{}
			case kind == Recv:
				src = Loc{}
			}
			v.ops = append(v.ops, Op{Kind: kind, Peer: peer, Src: src, Dst: dst})
		})
	}
	for k := int32(1); k < members; k++ {
		do(Send, member(k), v.rank, member(k))
	}
	do(Copy, -1, v.rank, v.rank)
	for k := int32(1); k < members; k++ {
		do(Recv, member(-k), member(-k), v.rank)
	}
}

// count adds up what ranks from … from+sources−1 send to to … to+dests−1.
func (v *rails) count(from, sources, to, dests int32) (sum int64) {
	for s := from; s < from+sources; s++ {
		for d := to; d < to+dests; d++ {
			sum += v.counts[s][d]
		}
	}
	return sum
}

// onRail are the ranks of a node to which chunks come on a rail.
func (v *rails) onRail(node, rail int32) (first, count int32) {
	if v.per == 1 {
		return node*v.local + rail, 1
	}
	return node * v.local, v.local
}

// others visits the nodes before the rank's own, and those after.
func (v *rails) others(visit func(first, nodes int32)) {
	visit(0, v.node)
	visit(v.node+1, v.nodes-v.node-1)
}

// toRails: what stays in the node, and the chunks that leave it on the rail of a rank to other nodes.
func (v *rails) toRails(from, to int32, visit part) {
	visit(at(Input, Range(to*v.per, v.per)), at(Output, Range(from*v.per, v.per)), v.count(from, 1, to, 1))
	rail := to % v.local
	v.others(func(first, nodes int32) {
		set := ChunkSet{First: first*v.local*v.per + rail, Count: nodes * v.per, Stride: v.local}
		sum := int64(0)
		for node := first; node < first+nodes; node++ {
			dest, dests := v.onRail(node, rail)
			sum += v.count(from, 1, dest, dests)
		}
		visit(at(Input, set), at(Scratch, set.shifted(from*v.chunks)), sum)
	})
}

// across: what goes from one node to another on the rank's rail.
func (v *rails) across(from, to int32, visit part) {
	a, b := from/v.local, to/v.local
	if a == b {
		return
	}
	src := at(Scratch, ChunkSet{First: a*v.local*v.chunks + b*v.local*v.per + v.at, Count: v.per, Stride: v.local, Outer: v.local,
		OuterStride: v.chunks})
	dst := src
	if v.per == 1 {
		dst = at(Output, Range(a*v.local, v.local))
	}
	dest, dests := v.onRail(b, v.at)
	visit(src, dst, v.count(a*v.local, v.local, dest, dests))
}

// fromRails: what has come for a rank on another's rail from other nodes.
func (v *rails) fromRails(from, to int32, visit part) {
	rail := from % v.local
	v.others(func(first, nodes int32) {
		first, sources := first*v.local, nodes*v.local
		visit(at(Scratch, ChunkSet{First: first*v.chunks + to*v.per + rail, Count: sources, Stride: v.chunks}),
			at(Output, ChunkSet{First: first*v.per + rail, Count: sources, Stride: v.per}), v.count(first, sources, to, 1))
	})
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
