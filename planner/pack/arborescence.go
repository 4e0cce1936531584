package pack

import "slices"

// branch is an edge of a graph whose cheapest arborescence is sought.
type branch struct {
	from, to int32
	cost     float64
}

// arborescence is, by vertex, the edge that leads there in the spanning out-tree of a root that costs the least; −1 at the root.
// Nil where some vertex is not reached. Y. Chu, T. Liu, "On the shortest arborescence of a directed graph", 1965; J. Edmonds, "Optimum
// branchings", 1967: everybody takes its cheapest edge; each cycle of these becomes one vertex, into which edges cost what they
// cost more than the one that they take the place of.
func arborescence(n int, root int32, edges []branch) []int32 {
	into := slices.Repeat([]int32{-1}, n)
	for i, e := range edges {
		if e.to != root && e.from != e.to && (into[e.to] < 0 || e.cost < edges[into[e.to]].cost) {
			into[e.to] = int32(i)
		}
	}
	for v, i := range into {
		if i < 0 && int32(v) != root {
			return nil
		}
	}
	number, cyclic, count := cycles(into, edges, root)
	if count == n {
		return into
	}
	var inner []branch
	var outer []int32 // the edges of which these were made
	for i, e := range edges {
		if from, to := number[e.from], number[e.to]; from != to && e.to != root {
			cost := e.cost
			if cyclic[e.to] {
				cost -= edges[into[e.to]].cost
			}
			inner, outer = append(inner, branch{from, to, cost}), append(outer, int32(i))
		}
	}
	contracted := arborescence(count, number[root], inner)
	if contracted == nil {
		return nil
	}
	for _, i := range contracted {
		if i >= 0 {
			into[edges[outer[i]].to] = outer[i]
		}
	}
	return into
}

// cycles numbers vertices, those of a cycle alike, and says who is on one.
func cycles(into []int32, edges []branch, root int32) (number []int32, cyclic []bool, count int) {
	number, cyclic = slices.Repeat([]int32{-1}, len(into)), make([]bool, len(into))
	seen := make([]int32, len(into)) // by which walk
	for start := range int32(len(into)) {
		v := start
		for ; v != root && seen[v] == 0; v = edges[into[v]].from {
			seen[v] = start + 1
		}
		if v == root || seen[v] != start+1 || cyclic[v] {
			continue
		}
		for ; !cyclic[v]; v = edges[into[v]].from {
			cyclic[v], number[v] = true, int32(count)
		}
		count++
	}
	for v := range number {
		if number[v] < 0 {
			number[v] = int32(count)
			count++
		}
	}
	return number, cyclic, count
}
