package schedule

// An all-to-all over bent rails has three stages:
//
//	stage 1: inside the node, from the source to the GPU through which the data leaves
//	stage 2: across, to the GPU through which it enters
//	stage 3: inside the node, to the destination where that is another GPU
//
// Known from NCCL as PXN where nothing bends. On their way, chunks wait in scratch: after
// stage 1 where the block of their destination would lie if that were of the rank of their
// source, after stage 2 where the block of their source lies; in copies of scratch by rail.

// bentView is what one rank sees of bent rails.
type bentView struct {
	*Bends
	nodes, local, chunks int32
	rank, node, at       int32 // rank = node·local + at
	ops                  []Op
}

// hop is neighbouring units of a rail that leave a node through a GPU and enter another
// through one.
type bentHop struct{ rail, first, count, out, in int32 }

// hops are those from a kind of nodes to another.
func (b *Bends) hops(from, to int32) []bentHop {
	var list []bentHop
	for rail, units := range b.Kinds[from].By {
		for u, out := range units {
			h := bentHop{int32(rail), int32(u), 1, out, b.Kinds[to].By[rail][u]}
			if n := len(list) - 1; u > 0 && list[n].out == h.out && list[n].in == h.in {
				list[n].count++
				continue
			}
			list = append(list, h)
		}
	}
	return list
}

// copyOf is in which copy of scratch a GPU keeps a rail that bends to it, from 1 on; the last
// one is how many do. 0 is its own rail.
func (b *Bends) copyOf(kind, at, rail int32) (copy, last int32) {
	for j, units := range b.Kinds[kind].By {
		for _, by := range units {
			if by == at && int32(j) != at {
				if last++; int32(j) == rail {
					copy = last
				}
				break
			}
		}
	}
	return copy, last
}

// appendBentAllToAll appends the program of a rank in a stage.
func appendBentAllToAll(dst []Op, ch *Channel, ph *Phase, rank int) []Op {
	b := ch.Bends
	v := bentView{Bends: b, nodes: int32(len(b.Nodes)), local: b.rails(), chunks: int32(ch.Chunks), rank: int32(rank), ops: dst}
	v.node, v.at = v.rank/v.local, v.rank%v.local
	switch ph.Level {
	case 1:
		v.gather()
	case 2:
		v.cross()
	default:
		v.spread()
	}
	sendFirst(v.ops[len(dst):], rank, int(v.nodes*v.local))
	return v.ops
}

func (v *bentView) add(kind OpKind, peer int32, src, dst Loc) {
	v.ops = append(v.ops, Op{Kind: kind, Peer: peer, Src: src, Dst: dst})
}

// waiting is where what a GPU of the node sends to a rail waits at the rank.
func (v *bentView) waiting(h bentHop, source int32) Loc {
	c, _ := v.copyOf(v.Nodes[v.node], v.at, h.rail)
	return at(Scratch, v.toAll(h, source).shifted(c*v.chunks))
}

// toAll are the units of the blocks of a rail, in all nodes.
func (v *bentView) toAll(h bentHop, rail int32) ChunkSet {
	return ChunkSet{First: rail*v.Units + h.first, Count: h.count, Stride: 1, Outer: v.nodes, OuterStride: v.local * v.Units}
}

// ofNode are the units of the blocks of a node.
func (v *bentView) ofNode(h bentHop, node int32) ChunkSet {
	return ChunkSet{First: node*v.local*v.Units + h.first, Count: h.count, Stride: 1, Outer: v.local, OuterStride: v.Units}
}

// arrived is where they come in.
func (v *bentView) arrived(h bentHop, set ChunkSet) Loc {
	if h.rail == h.in {
		return at(Output, set)
	}
	c, last := v.copyOf(v.Nodes[v.node], h.in, h.rail)
	return at(Scratch, set.shifted((last+c)*v.chunks))
}

func (v *bentView) gather() {
	kind := v.Nodes[v.node]
	for _, h := range v.hops(kind, kind) {
		if h.out != v.at {
			v.add(Send, v.node*v.local+h.out, at(Input, v.toAll(h, h.rail)), Loc{})
			continue
		}
		v.add(Copy, -1, at(Input, v.toAll(h, h.rail)), v.waiting(h, v.at))
		for from := range v.local {
			if from != v.at {
				v.add(Recv, v.node*v.local+from, Loc{}, v.waiting(h, from))
			}
		}
	}
}

func (v *bentView) cross() {
	kind := v.Nodes[v.node]
	out, in := make([][]bentHop, len(v.Kinds)), make([][]bentHop, len(v.Kinds))
	for k := range v.Kinds {
		out[k], in[k] = v.hops(kind, int32(k)), v.hops(int32(k), kind)
	}
	for node, k := range v.Nodes {
		for _, h := range out[k] {
			c, _ := v.copyOf(kind, v.at, h.rail)
			src := at(Scratch, v.ofNode(h, int32(node)).shifted(c*v.chunks))
			switch {
			case h.out != v.at:
			case int32(node) == v.node:
				v.add(Copy, -1, src, v.arrived(h, v.ofNode(h, v.node)))
			default:
				v.add(Send, int32(node)*v.local+h.in, src, Loc{})
			}
		}
		for _, h := range in[k] {
			if h.in == v.at && int32(node) != v.node {
				v.add(Recv, int32(node)*v.local+h.out, Loc{}, v.arrived(h, v.ofNode(h, int32(node))))
			}
		}
	}
}

func (v *bentView) spread() {
	kind := v.Nodes[v.node]
	for _, h := range v.hops(kind, kind) {
		all := ChunkSet{First: h.first, Count: h.count, Stride: 1, Outer: v.nodes * v.local, OuterStride: v.Units}
		switch {
		case h.in == h.rail:
		case h.in == v.at:
			v.add(Send, v.node*v.local+h.rail, v.arrived(h, all), Loc{})
		case h.rail == v.at:
			v.add(Recv, v.node*v.local+h.in, Loc{}, at(Output, all))
		}
	}
}
