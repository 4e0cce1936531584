package pack

import (
	"math"
	"slices"
)

// branch is an edge of a graph whose cheapest arborescence is sought.
type branch struct {
	from, to int32
	cost     float64
}

// arborescence is, by vertex, the edge that leads there in the spanning out-tree of a root that costs the least; −1 at the root.
// Nil where some vertex is not reached. Y. Chu, T. Liu, "On the shortest arborescence of a directed graph", 1965; J. Edmonds, "Optimum
// branchings", 1967: everybody takes its cheapest edge; each cycle of these becomes one vertex, into which edges cost what they
// cost more than the one that they take the place of. Cycles are found as R. Tarjan does ("Finding optimum branchings", 1977), along one
// path of cheapest edges at a time, back to what the root reaches. Of edges from one vertex into a cycle only the cheapest is kept.
func arborescence(n int, root int32, edges []branch) []int32 {
	return new(branching).arborescence(n, root, edges)
}

// branching is the state of the search: vertices, and behind them the cycles that have become one.
type branching struct {
	edges  []branch
	into   [][]entry // by vertex: the edges that lead into it
	store  []entry
	count  []int32
	chosen []entry   // by vertex: its cheapest one
	around []int32   // by vertex: the cycle that it became part of; −1: none
	top    []int32   // by vertex: the same, of the outermost, as far as known
	cycle  [][]int32 // by vertex: what it was made of
	state  []progress
	path   []int32
	kept   []int32 // by vertex: where the edge from there is in the list that is made, counted from one

	scanned int // edges
}

// entry is an edge into a vertex, and what it costs there.
type entry struct {
	edge int32
	cost float64
}

type progress uint8

const (
	untouched progress = iota
	onPath
	reached
)

func (b *branching) arborescence(n int, root int32, edges []branch) []int32 {
	b.begin(n, edges)
	b.state[root] = reached
	for v := range int32(n) {
		if b.state[b.outermost(v)] == untouched && !b.walk(v) {
			return nil
		}
	}
	out := slices.Repeat([]int32{-1}, n)
	for v := range int32(len(b.into)) {
		if b.around[v] < 0 && v != root {
			b.open(v, out)
		}
	}
	return out
}

func (b *branching) begin(n int, edges []branch) {
	b.edges, b.count = edges, append(b.count[:0], make([]int32, n)...)
	for _, e := range edges {
		b.count[e.to]++
	}
	b.store = slices.Grow(b.store[:0], len(edges))[:len(edges)]
	b.into, b.chosen, b.around, b.top, b.cycle, b.state, b.kept = b.into[:0], b.chosen[:0], b.around[:0], b.top[:0], b.cycle[:0],
		b.state[:0], b.kept[:0]
	first := int32(0)
	for v := range n {
		b.add(b.store[first:first:first+b.count[v]], nil)
		first += b.count[v]
	}
	for i, e := range edges {
		b.into[e.to] = append(b.into[e.to], entry{int32(i), e.cost})
	}
}

// add adds a vertex that edges lead into, made of others.
func (b *branching) add(into []entry, cycle []int32) int32 {
	v := int32(len(b.into))
	b.into, b.chosen, b.around, b.top = append(b.into, into), append(b.chosen, entry{}), append(b.around, -1), append(b.top, v)
	b.cycle, b.state, b.kept = append(b.cycle, cycle), append(b.state, untouched), append(b.kept, 0)
	return v
}

// outermost is the vertex that another has become part of.
func (b *branching) outermost(v int32) int32 {
	for b.top[v] != v {
		b.top[v] = b.top[b.top[v]]
		v = b.top[v]
	}
	return v
}

// walk goes back along cheapest edges from a vertex until the root reaches it, and says whether it does.
func (b *branching) walk(v int32) bool {
	b.path = append(b.path[:0], v)
	for b.state[v] != reached {
		b.state[v] = onPath
		b.scanned += len(b.into[v])
		best := entry{-1, math.Inf(1)}
		for _, e := range b.into[v] {
			if e.cost < best.cost && b.outermost(b.edges[e.edge].from) != v {
				best = e
			}
		}
		if best.edge < 0 {
			return false
		}
		b.chosen[v] = best
		switch u := b.outermost(b.edges[best.edge].from); b.state[u] {
		case onPath:
			v = b.contract(u)
		case untouched:
			b.path, v = append(b.path, u), u
		default:
			v = u
		}
	}
	for _, u := range b.path {
		b.state[u] = reached
	}
	return true
}

// contract makes one vertex of those of the path from one on.
func (b *branching) contract(from int32) int32 {
	i := slices.Index(b.path, from)
	cycle := slices.Clone(b.path[i:])
	c := b.add(nil, cycle)
	for _, v := range cycle {
		b.around[v], b.top[v] = c, c
	}
	var into []entry
	for _, v := range cycle {
		b.scanned += len(b.into[v])
		for _, e := range b.into[v] {
			e.cost -= b.chosen[v].cost
			switch u := b.outermost(b.edges[e.edge].from); {
			case u == c:
			case b.kept[u] == 0:
				into = append(into, e)
				b.kept[u] = int32(len(into))
			case e.cost < into[b.kept[u]-1].cost:
				into[b.kept[u]-1] = e
			}
		}
	}
	for _, e := range into {
		b.kept[b.outermost(b.edges[e.edge].from)] = 0
	}
	b.into[c], b.path = into, append(b.path[:i], c)
	return c
}

// open gives all that a vertex was made of the edges that lead there: its own where it begins, and elsewhere those of the cycles.
func (b *branching) open(v int32, out []int32) {
	at := b.edges[b.chosen[v].edge].to
	for out[at] = b.chosen[v].edge; at != v; at = b.around[at] {
		for _, u := range b.cycle[b.around[at]] {
			if u != at {
				b.open(u, out)
			}
		}
	}
}
