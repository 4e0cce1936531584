package pack

import (
	"math"
	"slices"
)

// cheapestFrom is the cheapest tree that leads from a root to all others (Chu and Liu, 1965;
// Edmonds, 1967): everybody takes the cheapest way in; where these form a circle it becomes
// one vertex, into which a way costs what it costs more than the one it takes the place of.
// cost is [from][to], infinite where there is no way. Nil where not all are reached.
func cheapestFrom(root int, cost [][]float64) []int {
	n := len(cost)
	parent := make([]int, n)
	for v := range parent {
		parent[v] = -1
		for u := range n {
			if u != v && v != root && (parent[v] < 0 || cost[u][v] < cost[parent[v]][v]) {
				parent[v] = u
			}
		}
		if v != root && math.IsInf(cost[parent[v]][v], 1) {
			return nil
		}
	}
	circle := circleOf(parent)
	if circle == nil {
		return parent
	}
	c := contract(cost, parent, circle)
	inner := cheapestFrom(c.place[root], c.cost)
	if inner == nil {
		return nil
	}
	for v := range parent {
		switch at := c.place[v]; {
		case at == c.circle || v == root:
		case inner[at] == c.circle:
			parent[v] = c.from[at]
		default:
			parent[v] = c.vertex[inner[at]]
		}
	}
	entered := c.into[inner[c.circle]]
	parent[entered] = c.vertex[inner[c.circle]]
	return parent
}

// circleOf is vertices that are each other's ancestors; nil where there are none.
func circleOf(parent []int) []int {
	seen := make([]int, len(parent)) // from which vertex
	for start := range parent {
		v := start
		for v >= 0 && seen[v] == 0 {
			seen[v] = start + 1
			v = parent[v]
		}
		if v < 0 || seen[v] != start+1 {
			continue
		}
		circle := []int{v}
		for u := parent[v]; u != v; u = parent[u] {
			circle = append(circle, u)
		}
		return circle
	}
	return nil
}

// contraction is a graph in which a circle is the last vertex.
type contraction struct {
	cost       [][]float64
	place      []int // by old vertex: the new one
	vertex     []int // by new vertex: the old one
	circle     int
	into, from []int // by new vertex: where its way into the circle ends, and where the circle's way to it begins
}

func contract(cost [][]float64, parent, circle []int) *contraction {
	c := &contraction{place: make([]int, len(cost))}
	for v := range cost {
		if !slices.Contains(circle, v) {
			c.place[v] = len(c.vertex)
			c.vertex = append(c.vertex, v)
		}
	}
	c.circle = len(c.vertex)
	for _, v := range circle {
		c.place[v] = c.circle
	}
	c.vertex = append(c.vertex, circle[0])
	c.into, c.from = make([]int, c.circle), make([]int, c.circle)
	c.cost = make([][]float64, c.circle+1)
	for i := range c.cost {
		c.cost[i] = slices.Repeat([]float64{math.Inf(1)}, c.circle+1)
	}
	for i, u := range c.vertex[:c.circle] {
		for j, v := range c.vertex[:c.circle] {
			c.cost[i][j] = cost[u][v]
		}
		for _, v := range circle {
			if x := cost[u][v] - cost[parent[v]][v]; x < c.cost[i][c.circle] {
				c.cost[i][c.circle], c.into[i] = x, v
			}
			if x := cost[v][u]; x < c.cost[c.circle][i] {
				c.cost[c.circle][i], c.from[i] = x, v
			}
		}
	}
	return c
}
