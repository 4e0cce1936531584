package planner

import (
	"math"
	"slices"

	"railyard/model/schedule"
)

// An all-to-all over rerouted rails is known from NCCL as PXN where nothing is rerouted. On their way, chunks
// wait in scratch: after level 1 where the block of their destination would lie if that were of the
// rank of their source, after level 2 where the block of their source lies; in copies of scratch by
// rail. Where their node has more ranks than the destination's, those that are too many take further copies.

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

// nodeSizes are what an all-to-all has to know of nodes that have lost ranks.
type nodeSizes struct {
	start []int32   // by node: its first rank; and behind the last one
	spans []nodeRun // of all nodes
	most  int       // how many times as many ranks as another a node may have, rounded up
}

// nodeRun is neighbouring nodes that have ranks on the same rails.
type nodeRun struct{ first, count int }

func newNodeSizes(ranks [][]int32) *nodeSizes {
	x := &nodeSizes{start: []int32{0}}
	lost := func(rank int32) bool { return rank < 0 }
	least, most := int32(math.MaxInt32), int32(0)
	for node, list := range ranks {
		n := len(x.spans) - 1
		if n >= 0 && slices.EqualFunc(list, ranks[x.spans[n].first], func(a, b int32) bool { return lost(a) == lost(b) }) {
			x.spans[n].count++
		} else {
			x.spans = append(x.spans, nodeRun{node, 1})
		}
		size := int32(len(slices.DeleteFunc(slices.Clone(list), lost)))
		least, most = min(least, size), max(most, size)
		x.start = append(x.start, x.start[node]+size)
	}
	x.most = int((most + least - 1) / least)
	return x
}

func (x *nodeSizes) size(node int) int32 { return x.start[node+1] - x.start[node] }

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

// toAll are the units of a rank for the rail of all nodes: where they are at the rank, and where they wait at the GPU through which they
// leave; as many at a time as lie in equal steps.
func (v *railExchange) toAll(h railHop, source int) (own, waiting []schedule.Loc) {
	place := v.rank[v.node][source] - v.start[v.node]
	c, _ := v.kindOfNode(v.node).copyOf(h.out, h.rail)
	for more := range v.most {
		for _, run := range v.spans {
			size, to := v.size(run.first), v.rank[run.first][h.rail]
			if to < 0 || int(place/size) != more {
				continue
			}
			at := func(rank int32) schedule.ChunkSet {
				set := v.blocks(h, int(rank), run.count)
				set.OuterStride *= size
				return set
			}
			own = append(own, v.in(schedule.Input, 0, at(to)))
			waiting = append(waiting, v.in(schedule.Scratch, c*v.most+more, at(v.start[run.first]+place%size)))
		}
	}
	return own, waiting
}

// blocks are the units of the blocks of so many ranks from one on.
func (v *railExchange) blocks(h railHop, rank, ranks int) schedule.ChunkSet {
	return schedule.ChunkSet{First: int32(rank*v.units + h.first), Count: int32(h.count), Stride: 1, Outer: int32(ranks),
		OuterStride: int32(v.units)}
}

// onward are the units of a node's ranks for one of another: where they wait in it, and where they come in there.
func (v *railExchange) onward(h railHop, from, to int) (waiting, arrived []schedule.Loc) {
	c, _ := v.kindOfNode(from).copyOf(h.out, h.rail)
	size := int(v.size(to))
	for more := range v.most {
		if n := min(int(v.size(from))-more*size, size); n > 0 && v.rank[to][h.rail] >= 0 {
			waiting = append(waiting, v.in(schedule.Scratch, c*v.most+more, v.blocks(h, int(v.start[to]), n)))
			arrived = append(arrived, v.arrived(h, to, v.blocks(h, int(v.start[from])+more*size, n)))
		}
	}
	return waiting, arrived
}

// arrived is where they come in.
func (v *railExchange) arrived(h railHop, node int, set schedule.ChunkSet) schedule.Loc {
	if h.rail == h.in {
		return v.in(schedule.Output, 0, set)
	}
	c, last := v.kindOfNode(node).copyOf(h.in, h.rail)
	return v.in(schedule.Scratch, (last+1)*v.most+c-1, set)
}

func (v *railExchange) gather() {
	for _, h := range v.hops(v.node, v.node) {
		own, waiting := v.toAll(h, v.at)
		for i := range own {
			if h.out != v.at {
				v.add(schedule.Send, v.node, h.out, own[i], schedule.Loc{})
			} else {
				v.add(schedule.Copy, v.node, -1, own[i], waiting[i])
			}
		}
		for from := range v.rails {
			if from == v.at || h.out != v.at || v.rank[v.node][from] < 0 {
				continue
			}
			_, waiting := v.toAll(h, from)
			for _, l := range waiting {
				v.add(schedule.Recv, v.node, from, schedule.Loc{}, l)
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
			waiting, arrived := v.onward(h, v.node, node)
			for i := range waiting {
				if node == v.node {
					v.add(schedule.Copy, node, -1, waiting[i], arrived[i])
				} else {
					v.add(schedule.Send, node, h.in, waiting[i], schedule.Loc{})
				}
			}
		}
		for _, h := range v.hops(node, v.node) {
			if h.in != v.at || node == v.node {
				continue
			}
			_, arrived := v.onward(h, node, v.node)
			for _, l := range arrived {
				v.add(schedule.Recv, node, h.out, schedule.Loc{}, l)
			}
		}
	}
}

func (v *railExchange) spread() {
	for _, h := range v.hops(v.node, v.node) {
		all := v.blocks(h, 0, v.spec.Ranks)
		switch {
		case h.in == h.rail, v.rank[v.node][h.rail] < 0:
		case h.in == v.at:
			v.add(schedule.Send, v.node, h.rail, v.arrived(h, v.node, all), schedule.Loc{})
		case h.rail == v.at:
			v.add(schedule.Recv, v.node, h.in, schedule.Loc{}, v.in(schedule.Output, 0, all))
		}
	}
}
