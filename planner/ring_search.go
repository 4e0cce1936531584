package planner

import "slices"

// searchBudget bounds the ring search, in steps, so that its result does not depend on
// the machine.
const searchBudget = 500_000

// ringSearch looks for as many rings as the degree allows; it keeps the most found
// within the budget.
type ringSearch struct {
	g     *multigraph
	free  [][]int32 // by rank and number of the neighbour: the links that no ring takes yet
	back  [][]int32 // where a ring takes a link in each direction: the number of the rank with its neighbour
	steps int
	used  []bool
	path  []int32
	rings [][]int32
	best  [][]int32
	want  int
}

// newRingSearch is for rings that take a link in each direction, or in one.
func newRingSearch(g *multigraph, both bool) *ringSearch {
	s := &ringSearch{g: g, free: make([][]int32, len(g.next)), used: make([]bool, len(g.next)), want: g.minDegree()}
	if both {
		s.want /= 2
		s.back = make([][]int32, len(g.next))
	}
	for a, next := range g.next {
		for _, b := range next {
			s.free[a] = append(s.free[a], int32(g.count[a][b]))
			if both {
				s.back[a] = append(s.back[a], int32(slices.Index(g.next[b], int32(a))))
			}
		}
	}
	return s
}

func (s *ringSearch) run() [][]int32 {
	if n := len(s.g.next); n < 3 {
		return s.pair(n)
	}
	s.nextRing()
	return s.best
}

// pair is the ring of two ranks, which takes a link each way.
func (s *ringSearch) pair(n int) [][]int32 {
	if n < 2 || s.back != nil {
		return nil
	}
	return slices.Repeat([][]int32{{0, 1}}, int(s.free[0][0]))
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
	var headroom [8]choice
	for _, c := range s.choices(a, headroom[:0]) {
		b := s.g.next[a][c.i]
		s.take(a, c.i, -1)
		s.used[b] = true
		s.path = append(s.path, b)
		if s.extend(b) {
			return true
		}
		s.path = s.path[:len(s.path)-1]
		s.used[b] = false
		s.take(a, c.i, 1)
	}
	return false
}

// choice is a neighbour's number, and how many ways lead on from it.
type choice struct {
	i    int32
	ways int
}

// choices are the unvisited neighbours of a, those with the fewest ways on first.
func (s *ringSearch) choices(a int32, out []choice) []choice {
	for i, b := range s.g.next[a] {
		if s.used[b] || s.free[a][i] == 0 {
			continue
		}
		c := choice{int32(i), 0}
		for k, d := range s.g.next[b] {
			if !s.used[d] && s.free[b][k] > 0 {
				c.ways++
			}
		}
		at := len(out)
		for at > 0 && out[at-1].ways > c.ways {
			at--
		}
		out = slices.Insert(out, at, c)
	}
	return out
}

// close ends a ring at its start and looks for the next one.
func (s *ringSearch) close(a int32) bool {
	i, found := slices.BinarySearch(s.g.next[a], 0)
	if !found || s.free[a][i] == 0 {
		return false
	}
	s.take(a, int32(i), -1)
	ring := slices.Clone(s.path)
	s.rings = append(s.rings, ring)
	if s.nextRing() {
		return true
	}
	s.rings = s.rings[:len(s.rings)-1]
	s.take(a, int32(i), 1)
	s.path = slices.Clone(ring) // best may keep ring
	clear(s.used)
	for _, r := range ring {
		s.used[r] = true
	}
	return false
}

// take changes how many links to a's neighbour number i are free.
func (s *ringSearch) take(a, i, by int32) {
	s.free[a][i] += by
	if s.back != nil && s.back[a][i] >= 0 {
		s.free[s.g.next[a][i]][s.back[a][i]] += by
	}
}
