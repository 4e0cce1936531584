package pack

import (
	"fmt"
	"math"
	"slices"
)

// settling chooses trees for whole units of the data, each of which takes the hops that are the cheapest while all others are in
// place, again and again: the price of a resource grows with a power of its load, from a low one at first to a high one in the
// end. Hops are transfers with all that they load, so that links behind switches are shared out by what trees need of them,
// whatever the number of ranks.
//
// N. Garg, J. Könemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing problems", 1998.
// Deviation: whole units, taken off and grown anew as Prim's trees are (1957).
type settling struct {
	*hops
	roots []int32 // by unit
	trees [][]int32
	ways  []*hops // by unit, where they are not the same for all

	load  []float64 // by resource, in seconds
	full  float64   // the largest load
	steep int       // prices grow with the power of loads that so many squarings make
	near  float64   // what hops cost more the farther from the root, of their price on a full link: 1 at first, so that trees are low

	// of the tree that grows
	in    []bool
	from  []int32
	depth []int32
	cost  []float64
}

const (
	settleRounds          = 20
	firstSteep, lastSteep = 2, 5 // powers of 4 to 32
	leastNear             = 1e-3
	nearEnough            = 0.995 // the share of the bound from which on nothing is chosen anew
)

func newSettling(h *hops, roots []int32) *settling {
	return &settling{hops: h, roots: roots, trees: make([][]int32, len(roots)), load: make([]float64, h.resources), full: h.longest(),
		in: make([]bool, h.n), from: make([]int32, h.n), depth: make([]int32, h.n), cost: make([]float64, h.n)}
}

// settle grows all trees again and again, lower ones first, and keeps the best of all rounds: those in which the fullest
// resource works the least long, until that is no more than least.
func (x *settling) settle(least float64) error {
	best, full := x.trees, math.Inf(1)
	for round := range settleRounds {
		done := float64(round) / (settleRounds - 1)
		x.steep, x.near = firstSteep+int(math.Round((lastSteep-firstSteep)*done)), math.Pow(leastNear, done)
		if err := x.grow(); err != nil {
			return err
		}
		if x.full < full {
			best, full = slices.Clone(x.trees), x.full
		}
		if full*nearEnough <= least {
			break
		}
	}
	x.trees, x.full = best, full
	return nil
}

// grow grows every tree anew.
func (x *settling) grow() error {
	for i, old := range x.trees {
		if x.ways != nil {
			x.hops = x.ways[i]
		}
		x.charge(old, -1)
		if x.trees[i] = x.tree(x.roots[i]); x.trees[i] == nil {
			return fmt.Errorf("pack: transfers do not reach every rank")
		}
	}
	x.full = slices.Max(x.load)
	return nil
}

func (x *settling) charge(parent []int32, units float64) {
	for v, u := range parent {
		if u >= 0 {
			x.take(u, int32(v), units)
		}
	}
}

// take adds the load of units on a hop.
func (x *settling) take(u, v int32, units float64) {
	for _, t := range x.hop(u, v) {
		x.load[t.resource] += units * t.time
		x.full = max(x.full, x.load[t.resource])
	}
}

// of is what one more unit on a hop costs.
func (x *settling) of(u, v int32) float64 {
	hop := x.hop(u, v)
	if hop == nil {
		return math.Inf(1)
	}
	c, time := 0.0, 0.0
	for _, t := range hop {
		p := (x.load[t.resource] + t.time) / x.full
		for range x.steep {
			p *= p
		}
		c += t.time * p
		time = max(time, t.time)
	}
	return c + x.near*time*float64(1+x.depth[u])
}

// tree grows by the cheapest rank. What it takes becomes dearer as it grows: a hop that has become dearer since it was looked
// at is looked for anew. Nil where not all are reached.
func (x *settling) tree(root int32) []int32 {
	parent := make([]int32, x.n)
	for v := range parent {
		parent[v], x.in[v], x.cost[v] = -1, false, math.Inf(1)
	}
	x.depth[root] = 0
	x.enter(root)
	for range x.n - 1 {
		v := x.cheapest()
		if v < 0 {
			return nil
		}
		u := x.from[v]
		parent[v], x.depth[v] = u, x.depth[u]+1
		x.take(u, v, 1)
		x.enter(v)
	}
	return parent
}

func (x *settling) enter(u int32) {
	x.in[u] = true
	for v := range int32(x.n) {
		if !x.in[v] {
			x.better(u, v)
		}
	}
}

func (x *settling) better(u, v int32) {
	if c := x.of(u, v); c < x.cost[v] {
		x.cost[v], x.from[v] = c, u
	}
}

// cheapest is the rank outside the tree that costs the least; -1: none is reached.
func (x *settling) cheapest() int32 {
	for {
		least := int32(-1)
		for v := range int32(x.n) {
			if !x.in[v] && !math.IsInf(x.cost[v], 1) && (least < 0 || x.cost[v] < x.cost[least]) {
				least = v
			}
		}
		if least < 0 || x.of(x.from[least], least) <= x.cost[least]*(1+1e-9) {
			return least
		}
		x.cost[least] = math.Inf(1)
		for u := range int32(x.n) {
			if x.in[u] {
				x.better(u, least)
			}
		}
	}
}
