package pack

import (
	"math"
	"slices"
)

// cheapest is what it takes to find one cheapest tree after another.
type cheapest struct {
	hopSearch
	time []float64 // by vertex: of the way from there, the sum of what keeps the busiest of each arc
}

// cheapestTree is that at the prices of now, of which each rank then takes the hop that is the cheapest at the prices that the tree
// itself makes: of what several of its hops share, and far from the root. Nil where not all are reached.
func (x *settling) cheapestTree(root int32) *grown {
	x.allHops()
	c := &x.cheapest
	into := c.arborescence(x.ranks, root, c.hops)
	x.looked += c.hopSearch.looked + c.scanned
	if c.hopSearch.looked, c.scanned = 0, 0; into == nil {
		return nil
	}
	t := &grown{slices.Repeat([]int32{-1}, x.ranks), make([][]int32, x.ranks)}
	for v, i := range into {
		if i >= 0 {
			from := c.hops[i].from
			t.parent[v], t.hops[v] = from, c.hop(from, int32(v))
			x.take(t.hops[v], 1)
		}
	}
	x.rehang(t)
	return t
}

// allHops finds the cheapest hops.
func (x *settling) allHops() {
	c := &x.cheapest
	c.prices = c.prices[:0]
	for i := range x.list {
		c.prices = append(c.prices, x.price(&x.list[i], 0))
	}
	c.all(x.arcs, c.prices, x.first)
}

// rehang gives each rank of a tree the cheapest hop from one that is not behind it, all others being in place.
func (x *settling) rehang(t *grown) {
	x.setDepths(t)
	for p := range int32(x.ranks) {
		v := x.at(p)
		from := t.parent[v]
		if from < 0 {
			continue
		}
		x.take(t.hops[v], -1)
		below := x.below(t, v)
		if now, hop, cost := x.cheapestHop(t, v, below); cost < x.costOf(t.hops[v], x.depth[from]+below)*(1-1e-9) {
			if t.parent[v], t.hops[v] = now, hop; now != from {
				x.setDepths(t)
			}
		}
		x.take(t.hops[v], 1)
	}
}

// setDepths finds how far from the root all ranks are.
func (x *settling) setDepths(t *grown) {
	var depth func(v int32) int32
	depth = func(v int32) int32 {
		if x.depth[v] < 0 {
			if x.depth[v] = 0; t.parent[v] >= 0 {
				x.depth[v] = depth(t.parent[v]) + 1
			}
		}
		return x.depth[v]
	}
	for v := range x.depth {
		x.depth[v] = -1
	}
	for v := range int32(x.ranks) {
		depth(v)
	}
}

// behind reports whether a rank gets its data by way of another, or is that.
func (x *settling) behind(t *grown, u, v int32) bool {
	for x.depth[u] > x.depth[v] {
		u = t.parent[u]
	}
	return u == v
}

// below is how many levels there are behind a rank, where trees have a limit.
func (x *settling) below(t *grown, v int32) (most int32) {
	if x.limit == math.MaxInt32 {
		return 0
	}
	x.looked += x.ranks
	for u := range int32(x.ranks) {
		if d := x.depth[u] - x.depth[v]; d > most && x.behind(t, u, v) {
			most = d
		}
	}
	return most
}

// costOf is what one more unit on a hop costs that leaves the tree at a depth.
func (x *settling) costOf(hop []int32, depth int32) (sum float64) {
	time := 0.0
	for _, i := range hop {
		sum, time = sum+x.price(&x.list[i], 0), time+x.list[i].time()
	}
	return sum + x.farther(time, depth)
}

// cheapestHop is that to a rank, with so many levels below it, from those that are not behind it.
func (x *settling) cheapestHop(t *grown, v, below int32) (from int32, hop []int32, cost float64) {
	for s := x.ranks; s < len(x.cost); s++ {
		x.cost[s] = math.Inf(1)
	}
	c := &x.cheapest
	c.time = slices.Grow(c.time[:0], len(x.cost))[:len(x.cost)]
	x.cost[v], c.time[v], from, cost = 0, 0, -1, math.Inf(1)
	c.queue = append(c.queue[:0], v)
	for k := 0; k < len(c.queue); k++ {
		at := c.queue[k]
		for _, i := range x.arcs.in[at] {
			a := &x.list[i]
			u, sum, time := a.from, x.cost[at]+x.price(a, 0), c.time[at]+a.time()
			if int(u) >= x.ranks {
				if sum < x.cost[u] {
					x.cost[u], c.time[u], x.by[u] = sum, time, i
					c.queue = append(c.queue, u)
				}
			} else if sum += x.farther(time, x.depth[u]+below); sum < cost && !x.behind(t, u, v) {
				cost, from, x.by[u] = sum, u, i
			}
		}
	}
	if from >= 0 {
		for u := from; u != v; u = x.list[x.by[u]].to {
			hop = append(hop, x.by[u])
		}
	}
	return from, hop, cost
}
