package pack

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/topology"
)

// treesBound is a rate, in bytes/s for each root or of the whole buffer, that no schedule of a collective beats along arcs; 0 where these
// do not join all ranks. The data of a root take a tree from it, or to it, or messages that cost at least as much; what is summed up and
// spread to all, one to some rank and one from there (see TestGossipTakesTwoTrees). So for any prices of resources, the trees that cost
// the least, times the rate, are worth no more than all resources together. Prices grow where the cheapest trees crowd, which approaches
// the optimum of packing trees, until the best of them are within 0.2 % of it, or a budget of work ends: of few ranks.
//
// N. Garg, J. Könemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing problems", 1998.
func treesBound(a *arcs, kind collective.Kind, root int32) float64 {
	if a.ranks < 2 || len(a.list) == 0 {
		return 0
	}
	b := newPricedTrees(a, kind, root)
	best, packed, growth := math.Inf(1), 0.0, growthOfPrices
	for rounds := 1; b.looked < workOfBound && slices.Max(b.weight) < 1e200; rounds++ {
		before := b.looked
		clear(b.used)
		cost := b.cheapest()
		if math.IsInf(cost, 1) {
			return 0
		}
		if rounds == 2 { // the fewer rounds there can be, the larger steps are; in the first, all roots are looked at
			growth = max(growth, spreadOfPrices*float64(b.looked-before)/workOfBound)
		}
		room, most := 0.0, slices.Max(b.used)
		for _, w := range b.weight {
			room += w
		}
		best, packed = min(best, room/cost), packed+1/most
		for i, u := range b.used {
			b.load[i] += u / most
			b.weight[i] *= math.Exp(growth * u / most)
		}
		if best <= 1.002*packed/slices.Max(b.load) || growth > mostGrowth {
			break
		}
	}
	return best * (1 + 1e-9)
}

const (
	workOfBound    = 20_000_000 // in arcs that are looked at: a fifth of a second
	growthOfPrices = 0.05       // by that power of e, what is used the longest in a round is dearer in the next
	spreadOfPrices = 20         // the same of all rounds, at least, where these are fewer
	mostGrowth     = 2          // ten rounds: fewer say nothing
)

// pricedTrees looks for the cheapest trees of a collective, again and again at prices that only grow.
type pricedTrees struct {
	*arcs
	kind   collective.Kind
	root   int32
	weight []float64 // by resource: what it is worth
	load   []float64 // by resource: for how long all trees so far take it
	used   []float64 // by resource: the same of a round
	prices []float64 // by arc
	least  []float64 // by rank: what its trees cost when last looked for, and so at least
	hopSearch
	back []branch // the hops, backwards
}

func newPricedTrees(a *arcs, kind collective.Kind, root int32) *pricedTrees {
	resources := func() []float64 { return make([]float64, a.resources) }
	b := &pricedTrees{arcs: a, kind: kind, root: root, weight: resources(), load: resources(), used: resources(),
		prices: make([]float64, len(a.list)), least: make([]float64, a.ranks)}
	for _, x := range a.list {
		for _, t := range x.takes {
			b.weight[t.resource] = 1
		}
	}
	return b
}

// cheapest is what the cheapest trees cost; infinite where some rank is not reached.
func (b *pricedTrees) cheapest() (sum float64) {
	for i, x := range b.arcs.list {
		b.prices[i] = 0
		for _, t := range x.takes {
			b.prices[i] += b.weight[t.resource] * t.time
		}
	}
	b.all(b.arcs, b.prices, 0)
	b.back = b.back[:0]
	for _, h := range b.hops {
		b.back = append(b.back, branch{h.to, h.from, h.cost})
	}
	switch {
	case b.kind == collective.AllReduce:
		return b.take(b.cheapestRoot())
	case !PerRoot(b.kind):
		return b.take(b.root)
	}
	for r := range int32(b.ranks) {
		sum += b.take(r)
	}
	return sum
}

// cheapestRoot is the rank whose trees, to it and from it, cost the least together.
func (b *pricedTrees) cheapestRoot() int32 {
	for {
		v := int32(slices.Index(b.least, slices.Min(b.least)))
		cost := 0.0
		for _, list := range b.lists() {
			for _, i := range b.arborescence(b.ranks, v, list) {
				if i >= 0 {
					cost += list[i].cost
				}
			}
		}
		if b.least[v] = cost; cost <= slices.Min(b.least) {
			return v
		}
	}
}

// lists are the hops, the ways that data go.
func (b *pricedTrees) lists() (out [][]branch) {
	if up(b.kind) {
		out = append(out, b.back)
	}
	if down(b.kind) {
		out = append(out, b.hops)
	}
	return out
}

// take counts what the cheapest trees of a root use, and says what they cost.
func (b *pricedTrees) take(root int32) (cost float64) {
	for _, list := range b.lists() {
		into := b.arborescence(b.ranks, root, list)
		if into == nil {
			return math.Inf(1)
		}
		for _, i := range into {
			if i < 0 {
				continue
			}
			cost += list[i].cost
			for _, k := range b.hop(b.hops[i].from, b.hops[i].to) {
				for _, t := range b.arcs.list[k].takes {
					b.used[t.resource] += t.time
				}
			}
		}
	}
	b.looked += b.scanned
	b.scanned = 0
	return cost
}

// TreesBound is a rate of the whole buffer, in bytes/s, that no schedule of a collective beats along what routes take, with all that it
// keeps busy; 0 where there is none, or where links are all there is, of which BoundFor knows. Closer than that where hosts and adapters
// are shared, which ranks cannot choose as graphs let them. Like that it leaves out PCIe between GPUs of a node that scale-up links join,
// and it does not hold where switches combine or multiply data.
func TreesBound(t *topology.Topology, kind collective.Kind, root int) float64 {
	type key struct {
		kind collective.Kind
		root int
	}
	return topology.Once(t, key{kind, root}, func() float64 {
		g, err := FromTopology(t)
		if err != nil {
			return 0
		}
		s := newSearch(g, kind, root, Options{}, Result{})
		if s.transfers() != nil {
			return 0
		}
		far := s.anyFar()
		if len(far) == 0 {
			return 0
		}
		rate := treesBound(s.arcsAnd(far), kind, int32(root))
		if PerRoot(kind) {
			rate *= float64(g.Ranks)
		}
		return rate
	})
}
