package pack

import (
	"math"
	"slices"
)

// directedBound is the rate of an all-reduce over direct links that are not as fast both ways. Every element is summed up along a
// tree to some rank, and the sum spreads from there along another, or takes at least as much (see TestGossipTakesTwoTrees). So
// for any lengths of links, the shortest two trees of the same root, times the rate, fit into the sum of capacities times
// lengths. Lengths grow where the shortest trees crowd, which approaches the optimum of packing pairs of trees, until the
// best of them are within 0.2 % of it, or a budget of work ends; the bound is that of lengths in whole numbers, exactly.
//
// N. Garg, J. Könemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing problems", 1998.
func directedBound(g *Graph) Fraction {
	b := newTwoTrees(g)
	weight, load := slices.Repeat([]float64{1}, len(g.Edges)), make([]float64, len(g.Edges))
	best, lengths, packed := math.Inf(1), slices.Clone(b.length), 0.0
	for b.work < workOfBound && slices.Max(weight) < 1e200 {
		room := 0.0
		for i, e := range g.Edges {
			b.length[i] = weight[i] / float64(e.Cap/b.unit)
			room += weight[i]
		}
		cost, edges := b.cheapest()
		if room/cost < best {
			best = room / cost
			copy(lengths, b.length)
		}
		most := 0.0
		used := map[int32]float64{}
		for _, i := range edges {
			used[i] += 1 / float64(g.Edges[i].Cap/b.unit)
			most = max(most, used[i])
		}
		packed += 1 / most
		for i, u := range used {
			load[i] += u / most
			weight[i] *= math.Exp(growthOfLengths * u / most)
		}
		if best <= 1.002*packed/slices.Max(load) {
			break
		}
	}
	return b.exactly(lengths)
}

const (
	workOfBound     = 4_000_000 // in links that are looked at: half a second
	growthOfLengths = 0.05
)

// twoTrees looks for the cheapest pair of trees of the same root, to it and from it.
type twoTrees struct {
	g         *Graph
	unit      int64
	length    []float64
	out, back []branch
	least     []float64 // by root: what its trees cost when last looked for, and so at least, since lengths only grow
	work      int
}

func newTwoTrees(g *Graph) *twoTrees {
	b := &twoTrees{g: g, unit: g.unit(), length: make([]float64, len(g.Edges)), least: make([]float64, g.Ranks)}
	for _, e := range g.Edges {
		b.out, b.back = append(b.out, branch{from: e.From, to: e.To}), append(b.back, branch{from: e.To, to: e.From})
	}
	return b
}

// cheapest is what the cheapest pair costs, and its links.
func (b *twoTrees) cheapest() (cost float64, edges []int32) {
	for i, l := range b.length {
		b.out[i].cost, b.back[i].cost = l, l
	}
	for {
		v := slices.Index(b.least, slices.Min(b.least))
		cost, edges = b.of(int32(v))
		if b.least[v] = cost; cost <= slices.Min(b.least) {
			return cost, edges
		}
	}
}

// of are the cheapest trees of a root.
func (b *twoTrees) of(root int32) (cost float64, edges []int32) {
	for _, list := range [][]branch{b.out, b.back} {
		b.work += len(list)
		for _, i := range arborescence(b.g.Ranks, root, list) {
			if i >= 0 {
				cost, edges = cost+list[i].cost, append(edges, i)
			}
		}
	}
	return cost, edges
}

// exactly is the bound of lengths as whole numbers, whose sums floats hold exactly.
func (b *twoTrees) exactly(lengths []float64) Fraction {
	longest, room, most := slices.Max(lengths), int64(0), math.MaxInt64/int64(len(lengths))
	for i, l := range lengths {
		b.length[i] = math.Round(l / longest * (1 << 24))
		x := mulMin(b.g.Edges[i].Cap/b.unit, int64(b.length[i]), most)
		if x == most {
			return Fraction{math.MaxInt64, 1} // rates too uneven for 64 bits: no bound
		}
		room += x
	}
	clear(b.least)
	cost, _ := b.cheapest()
	f := fraction(room, int64(cost))
	return fraction(mulMin(f.Num, b.unit, math.MaxInt64), f.Den)
}
