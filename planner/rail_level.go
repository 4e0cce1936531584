package planner

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/units"
)

// So many nodes, or one in so many, have to have less room than others for it to be better
// that are all equivalent: few hold up nobody but themselves, while others have time to spare, which
// hides latencies. All-gathers of 1 GiB on superpod-h100, 16 and 64 nodes, the same adapter
// lost: with one such node all alike are 1 to 2 % slower, with two to six within 1 %, with eight
// of 64 5 % faster and planned in a tenth of the time. Of an all-to-all, which has few messages,
// one is enough.
const manyNarrow, oneNarrowIn = 8, 10

// level gives all nodes the room that every one of them has, if the narrowest node has no
// more in all: what enters every node, or leaves it, takes that one as long anyway, and
// between nodes that are equivalent all messages are as long. Of an all-reduce, others have use for
// all of their room; of an all-to-all, nodes that have lost ranks need less; of a gather, only the root's has much to take in.
func (b *reroutes) level(of collective.Kind) bool {
	room, widest, least, need := slices.Clone(b.kinds[0].room), 0.0, math.Inf(1), 1.0
	for _, k := range b.kinds {
		ranks := 1.0 // what enters the node
		if of == collective.AllToAll {
			ranks = float64(len(k.by) - k.lost())
		}
		need = max(need, ranks)
		widest, least = max(widest, sum(k.room)), min(least, sum(k.room)/ranks)
		for i := range room {
			room[i] = min(room[i], k.room[i])
		}
	}
	narrow := 0
	for _, k := range b.kind {
		if sum(b.kinds[k].room) < widest {
			narrow++
		}
	}
	few := narrow > 0 && narrow < manyNarrow && narrow*oneNarrowIn < len(b.kind) && of != collective.AllToAll
	if few || of == collective.AllReduce || of == collective.Gather || sum(room)/need < least {
		return false
	}
	kinds := b.kinds
	b.kinds = nil
	for node, i := range b.kind {
		b.kind[node] = b.kindOf(&railKind{room: room, by: slices.Clone(kinds[i].by)})
	}
	return true
}

// straighten makes of rerouted units, alike in all nodes, shares of rails that are not: what a
// root deals out belongs to no GPU.
func (b *reroutes) straighten() {
	for _, k := range b.kinds {
		shares := k.entering()
		common := int64(0)
		for _, n := range shares {
			common = units.GCD(common, int64(n))
		}
		some := slices.IndexFunc(shares, func(n int) bool { return n > 0 })
		k.roots = nil
		for i, n := range shares {
			if n == 0 {
				k.by[i] = []int{some}
			} else {
				k.by[i] = []int{i}
			}
			k.roots = append(k.roots, []int32{int32(int64(n) / common)})
		}
	}
	b.units = 1
}

// dealEvenly deals a chunk of each unit to each node.
func (b *reroutes) dealEvenly() {
	for _, k := range b.kinds {
		k.roots = nil
		for range k.by {
			k.roots = append(k.roots, slices.Repeat([]int32{1}, b.units))
		}
	}
}
