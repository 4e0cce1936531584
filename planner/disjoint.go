package planner

import (
	"maps"
	"slices"

	"railyard/model/topology"
)

// disjointRings finds link-disjoint Hamiltonian rings over ranks that are joined by
// direct links (cube-mesh, full mesh, mesh, torus): by exhaustive search in a fixed
// order, rank with the fewest ways on first (Warnsdorff), first undirected ones, each
// then used in both directions, then directed ones where that gives more. Rings are in
// positions of ranks. nil where direct links do not join all of them, or where no ring
// was found within the budget.
//
// Complexity: exponential in the worst case, hence the budget; regular graphs take a
// few steps a rank.
func disjointRings(t *topology.Topology, ranks []int32) [][]int32 {
	g := directGraph(t, ranks)
	if g == nil || !g.mayHaveRing() {
		return nil
	}
	undirected := newRingSearch(g, true).run()
	if 2*len(undirected)+1 < g.minDegree() {
		if rings := factorRings(g); len(rings) > len(undirected) {
			undirected = rings
		}
	}
	var best [][]int32
	for _, ring := range undirected {
		best = append(best, ring, backwards(ring))
	}
	if len(best) < g.minDegree() {
		if directed := newRingSearch(g, false).run(); len(directed) > len(best) {
			best = directed
		}
	}
	return best
}

func backwards(ring []int32) []int32 {
	out := slices.Clone(ring)
	slices.Reverse(out[1:])
	return out
}

// multigraph counts the free links from rank to rank.
type multigraph struct {
	next  [][]int32 // neighbours, ascending
	count []map[int32]int
}

// directGraph is the graph of direct links among ranks, by position; nil if some rank
// has none.
func directGraph(t *topology.Topology, ranks []int32) *multigraph {
	position := make(map[int]int32, len(ranks))
	for i, r := range ranks {
		position[int(r)] = int32(i)
	}
	g := &multigraph{next: make([][]int32, len(ranks)), count: make([]map[int32]int, len(ranks))}
	for i, r := range ranks {
		g.count[i] = map[int32]int{}
		for _, l := range t.Out(t.Ranks()[r]) {
			to := t.RankOf(t.Links()[l].To)
			if p, ok := position[to]; ok && to >= 0 {
				g.count[i][p] += int(t.Links()[l].Count)
			}
		}
		if len(g.count[i]) == 0 {
			return nil
		}
		g.next[i] = slices.Sorted(maps.Keys(g.count[i]))
	}
	return g
}

// colours are 1 and −1, alternating along links from rank 0 on, and 0 where no link
// leads; proper is false where neighbours have the same.
func (g *multigraph) colours() (colour []int, proper bool) {
	colour, proper = make([]int, len(g.next)), true
	colour[0] = 1
	for front := []int32{0}; len(front) > 0; front = front[1:] {
		a := front[0]
		for _, b := range g.next[a] {
			if colour[b] == 0 {
				colour[b] = -colour[a]
				front = append(front, b)
			}
			proper = proper && colour[b] != colour[a]
		}
	}
	return colour, proper
}

// mayHaveRing rules out, before any search, graphs that cannot have a Hamiltonian ring:
// those in several pieces, those with a dead end, and two-coloured ones with colours of
// unequal size (a mesh of an odd number of ranks).
func (g *multigraph) mayHaveRing() bool {
	colour, proper := g.colours()
	sum := 0
	for a, c := range colour {
		if c == 0 || len(g.next) > 2 && len(g.next[a]) < 2 {
			return false
		}
		sum += c
	}
	return !proper || sum == 0
}

func (g *multigraph) clone() *multigraph {
	c := &multigraph{next: g.next}
	for _, m := range g.count {
		c.count = append(c.count, maps.Clone(m))
	}
	return c
}

// degrees are how many links leave each rank.
func (g *multigraph) degrees() []int {
	out := make([]int, len(g.count))
	for r := range g.count {
		for _, n := range g.count[r] {
			out[r] += n
		}
	}
	return out
}

// minDegree is the fewest: no more rings than that are disjoint.
func (g *multigraph) minDegree() int { return slices.Min(g.degrees()) }
