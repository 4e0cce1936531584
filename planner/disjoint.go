package planner

import (
	"slices"
	"sort"

	"railyard/model/topology"
)

// searchBudget bounds the ring search, in steps, so that its result does not depend on
// the machine.
const searchBudget = 2_000_000

// disjointRings finds link-disjoint Hamiltonian rings on a graph of direct links
// between ranks (cube-mesh, full mesh, mesh, torus): by exhaustive search in a fixed
// order, rank with the fewest ways on first (Warnsdorff), first undirected ones, each
// then used in both directions, then directed ones where that gives more. nil where
// ranks are not joined by direct links.
func disjointRings(t *topology.Topology) [][]int32 {
	g := directGraph(t)
	if g == nil {
		return nil
	}
	undirected := (&ringSearch{g: g.clone(), both: true}).run()
	var best [][]int32
	for _, ring := range undirected {
		best = append(best, ring, backwards(ring))
	}
	if degree := g.degree(0); len(best) < degree {
		if directed := (&ringSearch{g: g.clone()}).run(); len(directed) > len(best) {
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

// directGraph is the graph of direct links between ranks, in units of the slowest
// class; nil if some rank has none.
func directGraph(t *topology.Topology) *multigraph {
	n := t.NumRanks()
	g := &multigraph{next: make([][]int32, n), count: make([]map[int32]int, n)}
	for r, d := range t.Ranks() {
		g.count[r] = map[int32]int{}
		for _, l := range t.Out(d) {
			if to := t.RankOf(t.Links()[l].To); to >= 0 {
				g.count[r][int32(to)] += int(t.Links()[l].Count)
			}
		}
		if len(g.count[r]) == 0 {
			return nil
		}
		for q := range g.count[r] {
			g.next[r] = append(g.next[r], q)
		}
		slices.Sort(g.next[r])
	}
	return g
}

func (g *multigraph) clone() *multigraph {
	c := &multigraph{next: g.next, count: make([]map[int32]int, len(g.count))}
	for i, m := range g.count {
		c.count[i] = map[int32]int{}
		for k, v := range m {
			c.count[i][k] = v
		}
	}
	return c
}

func (g *multigraph) degree(r int) int {
	sum := 0
	for _, n := range g.count[r] {
		sum += n
	}
	return sum
}

// ringSearch looks for as many rings as the degree allows; it keeps the most found
// within the budget.
type ringSearch struct {
	g     *multigraph
	both  bool // a ring takes a link in each direction
	steps int
	used  []bool
	path  []int32
	rings [][]int32
	best  [][]int32
	want  int
}

func (s *ringSearch) run() [][]int32 {
	n := len(s.g.next)
	if n < 3 {
		return s.pair(n)
	}
	s.want = s.g.degree(0)
	for r := range n {
		s.want = min(s.want, s.g.degree(r))
	}
	if s.both {
		s.want /= 2
	}
	s.used = make([]bool, n)
	s.nextRing()
	return s.best
}

// pair is the ring of two ranks, which takes a link each way.
func (s *ringSearch) pair(n int) [][]int32 {
	if n < 2 || s.both {
		return nil
	}
	var out [][]int32
	for range s.g.count[0][1] {
		out = append(out, []int32{0, 1})
	}
	return out
}

// nextRing starts one more ring; true when all are found or the budget is spent.
func (s *ringSearch) nextRing() bool {
	if len(s.rings) > len(s.best) {
		s.best = slices.Clone(s.rings)
	}
	if len(s.rings) == s.want {
		return true
	}
	clear(s.used)
	s.used[0] = true
	s.path = append(s.path[:0], 0)
	return s.extend(0)
}

// extend goes on from rank a.
func (s *ringSearch) extend(a int32) bool {
	if s.steps++; s.steps > searchBudget {
		return true
	}
	if len(s.path) == len(s.g.next) {
		return s.close(a)
	}
	for _, b := range s.choices(a) {
		s.take(a, b, -1)
		s.used[b] = true
		s.path = append(s.path, b)
		if s.extend(b) {
			return true
		}
		s.path = s.path[:len(s.path)-1]
		s.used[b] = false
		s.take(a, b, 1)
	}
	return false
}

// choices are the unvisited neighbours of a, those with the fewest ways on first.
func (s *ringSearch) choices(a int32) []int32 {
	var out []int32
	for _, b := range s.g.next[a] {
		if !s.used[b] && s.g.count[a][b] > 0 {
			out = append(out, b)
		}
	}
	ways := func(b int32) int {
		n := 0
		for _, c := range s.g.next[b] {
			if !s.used[c] && s.g.count[b][c] > 0 {
				n++
			}
		}
		return n
	}
	sort.SliceStable(out, func(i, j int) bool { return ways(out[i]) < ways(out[j]) })
	return out
}

// close ends a ring at its start and looks for the next one.
func (s *ringSearch) close(a int32) bool {
	if s.g.count[a][0] == 0 {
		return false
	}
	s.take(a, 0, -1)
	ring := slices.Clone(s.path)
	s.rings = append(s.rings, ring)
	if s.nextRing() {
		return true
	}
	s.rings = s.rings[:len(s.rings)-1]
	s.take(a, 0, 1)
	s.path = ring
	clear(s.used)
	for _, r := range ring {
		s.used[r] = true
	}
	return false
}

func (s *ringSearch) take(a, b int32, by int) {
	s.g.count[a][b] += by
	if s.both {
		s.g.count[b][a] += by
	}
}
