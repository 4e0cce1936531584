package planner

import (
	"slices"

	"railyard/model/schedule"
)

// An all-to-all over rerouted rails is known from NCCL as PXN where nothing is rerouted. On their way, chunks
// wait in scratch: after level 1 where the block of their destination would lie if that were of the
// rank of their source, after level 2 where the block of their source lies; in copies of scratch by
// rail.

// railExchange writes the program of a rank.
type railExchange struct {
	*railGroups
	node, at int
	ops      []schedule.Op
}

// railHop is neighbouring units of a rail that leave a node through a GPU and enter another
// through one.
type railHop struct {
	rail, out, in int
	railRun
}

// exchange is the program of a rank in an all-to-all.
func (g *railGroups) exchange(level, node, at int) []schedule.Op {
	v := railExchange{railGroups: g, node: node, at: at}
	switch level {
	case 1:
		v.gather()
	case 2:
		v.cross()
	default:
		v.spread()
	}
	return v.ops
}

// hops are those from a node to another.
func (g *railGroups) hops(from, to int) []railHop {
	a, b := g.kindOfNode(from), g.kindOfNode(to)
	if list, ok := g.between[[2]*railKind{a, b}]; ok {
		return list
	}
	var list []railHop
	for rail := range g.rails {
		for _, x := range g.runs(rail, a, b) {
			list = append(list, railHop{rail, a.by[rail][x.first], b.by[rail][x.first], x})
		}
	}
	g.between[[2]*railKind{a, b}] = list
	return list
}

// copyOf is in which copy of scratch a GPU keeps a rail that is rerouted to it, from 1 on; the last
// one is how many do. 0 is its own rail.
func (k *railKind) copyOf(at, rail int) (copy, last int) {
	for j, units := range k.by {
		if j != at && slices.Contains(units, at) {
			if last++; j == rail {
				copy = last
			}
		}
	}
	return copy, last
}

func (v *railExchange) add(kind schedule.OpKind, node, rail int, src, dst schedule.Loc) {
	peer := int32(-1)
	if rail >= 0 {
		peer = v.rank[node][rail]
	}
	v.ops = append(v.ops, schedule.Op{Kind: kind, Peer: peer, Src: src, Dst: dst})
}

// in is a set of places in a copy of a buffer.
func (v *railExchange) in(b schedule.Buffer, copies int, set schedule.ChunkSet) schedule.Loc {
	set.First += int32(copies * v.chunks)
	return schedule.Loc{Buf: b, Set: set}
}

// waiting is where what a GPU of the node sends to a rail waits at the rank.
func (v *railExchange) waiting(h railHop, source int) schedule.Loc {
	c, _ := v.kindOfNode(v.node).copyOf(v.at, h.rail)
	return v.in(schedule.Scratch, c, v.toAll(h, source))
}

// toAll are the units of the blocks of a rail, in all nodes.
func (v *railExchange) toAll(h railHop, rail int) schedule.ChunkSet {
	return schedule.ChunkSet{First: int32(rail*v.units + h.first), Count: int32(h.count), Stride: 1, Outer: int32(len(v.rank)),
		OuterStride: int32(v.rails * v.units)}
}

// blocks are the units of the blocks of so many ranks from one on.
func (v *railExchange) blocks(h railHop, rank, ranks int) schedule.ChunkSet {
	return schedule.ChunkSet{First: int32(rank*v.units + h.first), Count: int32(h.count), Stride: 1, Outer: int32(ranks),
		OuterStride: int32(v.units)}
}

func (v *railExchange) nodeBlocks(h railHop, node int) schedule.ChunkSet {
	return v.blocks(h, node*v.rails, v.rails)
}

// arrived is where they come in.
func (v *railExchange) arrived(h railHop, set schedule.ChunkSet) schedule.Loc {
	if h.rail == h.in {
		return v.in(schedule.Output, 0, set)
	}
	c, last := v.kindOfNode(v.node).copyOf(h.in, h.rail)
	return v.in(schedule.Scratch, last+c, set)
}

func (v *railExchange) gather() {
	for _, h := range v.hops(v.node, v.node) {
		own := v.in(schedule.Input, 0, v.toAll(h, h.rail))
		if h.out != v.at {
			v.add(schedule.Send, v.node, h.out, own, schedule.Loc{})
			continue
		}
		v.add(schedule.Copy, v.node, -1, own, v.waiting(h, v.at))
		for from := range v.rails {
			if from != v.at {
				v.add(schedule.Recv, v.node, from, schedule.Loc{}, v.waiting(h, from))
			}
		}
	}
}

func (v *railExchange) cross() {
	for node := range v.rank {
		for _, h := range v.hops(v.node, node) {
			if h.out != v.at {
				continue
			}
			c, _ := v.kindOfNode(v.node).copyOf(v.at, h.rail)
			src := v.in(schedule.Scratch, c, v.nodeBlocks(h, node))
			if node == v.node {
				v.add(schedule.Copy, node, -1, src, v.arrived(h, v.nodeBlocks(h, node)))
			} else {
				v.add(schedule.Send, node, h.in, src, schedule.Loc{})
			}
		}
		for _, h := range v.hops(node, v.node) {
			if h.in == v.at && node != v.node {
				v.add(schedule.Recv, node, h.out, schedule.Loc{}, v.arrived(h, v.nodeBlocks(h, node)))
			}
		}
	}
}

func (v *railExchange) spread() {
	for _, h := range v.hops(v.node, v.node) {
		all := v.blocks(h, 0, v.spec.Ranks)
		switch {
		case h.in == h.rail:
		case h.in == v.at:
			v.add(schedule.Send, v.node, h.rail, v.arrived(h, all), schedule.Loc{})
		case h.rail == v.at:
			v.add(schedule.Recv, v.node, h.in, schedule.Loc{}, v.in(schedule.Output, 0, all))
		}
	}
}
