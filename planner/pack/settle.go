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
// Trees are spanning ones, whose hops carry a unit each (Prim, 1957), or the paths from a source to all ranks that it has
// something for, whose hops carry what goes beyond (Dijkstra, 1959).
//
// N. Garg, J. Könemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing problems", 1998.
// Deviation: whole units, taken off and grown anew.
type settling struct {
	*Hops
	roots  []int32     // by unit
	demand [][]float64 // by unit and rank: what the path there carries; nil: trees span
	most   []float64   // by unit: of its demand
	trees  [][]int32

	load  []float64 // by resource, in seconds
	price []float64
	full  float64 // the largest load
	steep float64
	near  float64 // what hops cost more the farther from the root, of their price on a full link: 1 at first, so that trees are low
	room  bool    // hops cost nothing else, but have to have room beside the fullest (see shorten)

	// of the tree that grows
	in    []bool
	from  []int32
	depth []int32
	dist  []float64 // what the path to a rank costs; 0 in trees that span
	cost  []float64
}

const (
	settleRounds          = 20
	firstSteep, lastSteep = 4.0, 32.0
	leastNear             = 1e-3
	nearEnough            = 0.995 // the share of the bound from which on nothing is chosen anew
)

func newSettling(h *Hops, roots []int32, demand [][]float64) *settling {
	most := make([]float64, len(demand))
	for i, row := range demand {
		most[i] = slices.Max(row)
	}
	n, resources := h.n, h.resources
	return &settling{Hops: h, roots: roots, demand: demand, most: most, trees: make([][]int32, len(roots)),
		load: make([]float64, resources), price: make([]float64, resources), full: math.SmallestNonzeroFloat64,
		in: make([]bool, n), from: make([]int32, n), depth: make([]int32, n), dist: make([]float64, n), cost: make([]float64, n)}
}

// settle grows all trees again and again, lower ones first, and keeps the best of all rounds: those in which the fullest
// resource works the least long, until that is no more than least.
func (x *settling) settle(least float64) error {
	best, full := x.trees, math.Inf(1)
	for round := range settleRounds {
		done := float64(round) / (settleRounds - 1)
		x.steep, x.near = firstSteep*math.Pow(lastSteep/firstSteep, done), math.Pow(leastNear, done)
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
	x.put(best)
	return nil
}

// grow grows every tree anew.
func (x *settling) grow() error {
	for r := range x.load {
		x.reprice(int32(r))
	}
	for i, old := range x.trees {
		x.charge(i, old, -1)
		if x.trees[i] = x.tree(i); x.trees[i] == nil {
			return fmt.Errorf("pack: transfers do not reach every rank")
		}
	}
	x.full = slices.Max(x.load)
	return nil
}

// put has other trees take the place of those that there are.
func (x *settling) put(trees [][]int32) {
	clear(x.load)
	x.trees, x.full = trees, math.SmallestNonzeroFloat64
	for i, parent := range trees {
		x.charge(i, parent, 1)
	}
}

// shorten grows paths of fewer hops on which nothing becomes fuller than the fullest is, again and again until none is shorter.
func (x *settling) shorten() {
	x.room, x.near = true, 1
	for shorter := true; shorter; {
		shorter = false
		for i, old := range x.trees {
			x.charge(i, old, -1)
			if tree := x.tree(i); tree != nil && x.length(i, tree) < x.length(i, old) {
				x.trees[i], shorter = tree, true
				continue
			} else if tree != nil {
				x.charge(i, tree, -1)
			}
			x.charge(i, old, 1)
		}
	}
}

// length is how many hops all paths of a tree have together.
func (x *settling) length(unit int, parent []int32) (hops int) {
	for v, d := range x.demand[unit] {
		for u := int32(v); d > 0 && parent[u] >= 0; u = parent[u] {
			hops++
		}
	}
	return hops
}

func (x *settling) reprice(resource int32) {
	x.price[resource] = math.Pow(x.load[resource]/x.full, x.steep)
}

func (x *settling) charge(unit int, parent []int32, times float64) {
	for v := range parent {
		x.chargeTo(unit, int32(v), parent, times)
	}
}

// chargeTo adds what a rank of a tree takes: the hop to it, or the path.
func (x *settling) chargeTo(unit int, v int32, parent []int32, times float64) {
	switch u := parent[v]; {
	case u < 0:
	case x.demand == nil:
		x.take(u, v, times)
	case x.wants(unit, v):
		for w := v; parent[w] >= 0; w = parent[w] {
			x.take(parent[w], w, times*x.demand[unit][v])
		}
	}
}

// wants reports whether a tree has to reach a rank.
func (x *settling) wants(unit int, v int32) bool {
	return x.demand == nil && v != x.roots[unit] || x.demand != nil && int(v) < len(x.demand[unit]) && x.demand[unit][v] > 0
}

// take adds the load of units on a hop.
func (x *settling) take(u, v int32, units float64) {
	for _, t := range x.hop(u, v) {
		x.load[t.resource] += units * t.time
		if !x.room {
			x.full = max(x.full, x.load[t.resource])
			x.reprice(t.resource)
		}
	}
}

// of is what a hop costs.
func (x *settling) of(unit int, u, v int32) float64 {
	hop := x.hop(u, v)
	if hop == nil {
		return math.Inf(1)
	}
	c, time := 0.0, 0.0
	for _, t := range hop {
		if c += t.time * x.price[t.resource]; x.room {
			if c = 0; x.load[t.resource]+t.time*x.most[unit] > x.full*(1+1e-12) {
				return math.Inf(1)
			}
		}
		time = max(time, t.time)
	}
	switch {
	case x.room:
		return 1
	case x.demand == nil:
		return c + x.near*time*float64(1+x.depth[u])
	}
	return c + x.near*time
}

// tree grows by the cheapest rank. What it takes becomes dearer as it grows: a hop that has become dearer since it was looked
// at is looked for anew. Nil where not all are reached that have to be.
func (x *settling) tree(unit int) []int32 {
	parent, left := make([]int32, x.n), 0
	for v := range parent {
		parent[v], x.in[v], x.cost[v] = -1, false, math.Inf(1)
		if x.wants(unit, int32(v)) {
			left++
		}
	}
	root := x.roots[unit]
	x.depth[root], x.dist[root] = 0, 0
	for v := root; ; {
		if x.enter(unit, v); left == 0 {
			return parent
		}
		if v = x.cheapest(unit); v < 0 {
			x.charge(unit, parent, -1)
			return nil
		}
		u := x.from[v]
		parent[v], x.depth[v] = u, x.depth[u]+1
		x.chargeTo(unit, v, parent, 1)
		x.pathTo(unit, v, parent)
		if x.wants(unit, v) {
			left--
		}
	}
}

// pathTo finds out anew what a path costs; nothing in trees that span.
func (x *settling) pathTo(unit int, v int32, parent []int32) float64 {
	x.dist[v] = 0
	if u := parent[v]; x.demand != nil && u >= 0 {
		x.dist[v] = x.pathTo(unit, u, parent) + x.of(unit, u, v)
	}
	return x.dist[v]
}

func (x *settling) enter(unit int, u int32) {
	x.in[u] = true
	for v := range int32(x.n) {
		if !x.in[v] {
			x.better(unit, u, v)
		}
	}
}

func (x *settling) better(unit int, u, v int32) {
	if c := x.dist[u] + x.of(unit, u, v); c < x.cost[v] {
		x.cost[v], x.from[v] = c, u
	}
}

// cheapest is the rank outside the tree that costs the least; -1: none is reached.
func (x *settling) cheapest(unit int) int32 {
	for {
		least := int32(-1)
		for v := range int32(x.n) {
			if !x.in[v] && !math.IsInf(x.cost[v], 1) && (least < 0 || x.cost[v] < x.cost[least]) {
				least = v
			}
		}
		if least < 0 {
			return least
		}
		if u := x.from[least]; x.dist[u]+x.of(unit, u, least) <= x.cost[least]*(1+1e-9) {
			return least
		}
		x.cost[least] = math.Inf(1)
		for u := range int32(x.n) {
			if x.in[u] {
				x.better(unit, u, least)
			}
		}
	}
}
