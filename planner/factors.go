package planner

import (
	"math/rand/v2"
	"slices"

	"railyard/internal/maxflow"
)

// factorTries bounds the exchanges that factorRings tries for each rank and factor.
const factorTries = 400

// factorSeed makes the search repeatable.
const factorSeed = 2009

// factorRings splits a graph in which every rank has the same even number 2k of links
// (a torus, say) into k link-disjoint Hamiltonian rings, where the exhaustive search
// does not get that far. A 2k-regular graph splits into k two-factors, sets of rings
// that pass every rank once (J. Petersen, "Die Theorie der regulären graphs", 1891:
// orient an Euler tour, then take perfect matchings). Then exchanges on alternating
// squares merge rings: two opposite sides of the square go from one factor to another,
// which gives the other two sides for them. Exchanges that make more rings are
// rejected, those that leave their number are taken, so that the search does not stop
// at the first plateau. It returns the factors that became a single ring; it need not
// find all of them. Time O(tries·n), and n²·k for the matchings.
func factorRings(g *multigraph) [][]int32 {
	degree := g.minDegree()
	if degree%2 == 1 || degree < 4 || slices.Max(g.degrees()) > degree {
		return nil
	}
	x := &factors{n: len(g.next), next: make([][][2]int32, degree/2)}
	out := g.eulerOrientation()
	for f := range x.next {
		x.next[f] = factorOf(takeMatching(out))
	}
	x.merge(factorTries * x.n * len(x.next))
	var rings [][]int32
	for f := range x.next {
		if ring := x.ring(f, 0); len(ring) == x.n {
			rings = append(rings, ring)
		}
	}
	return rings
}

// eulerOrientation walks every link once and lists, for each rank, the ranks that the
// walk goes to from there: half of its links.
func (g *multigraph) eulerOrientation() [][]int32 {
	free := g.clone()
	out := make([][]int32, len(g.next))
	for start := range g.next {
		for at := int32(start); ; {
			i := slices.IndexFunc(free.next[at], func(b int32) bool { return free.count[at][b] > 0 })
			if i < 0 {
				break // back at the start, whose links are used up; or there were none left
			}
			b := free.next[at][i]
			free.count[at][b]--
			free.count[b][at]--
			out[at] = append(out[at], b)
			at = b
		}
	}
	return out
}

// takeMatching removes from out a perfect matching of ranks to ranks, which a regular
// bipartite graph always has (Kőnig): a flow of one from and to each.
func takeMatching(out [][]int32) []int32 {
	n := int32(len(out))
	net := maxflow.New(int(2*n) + 2)
	arcs := make([][]int32, n)
	for a, list := range out {
		net.Arc(2*n, int32(a), 1)
		net.Arc(n+int32(a), 2*n+1, 1)
		for _, b := range list {
			arcs[a] = append(arcs[a], net.Arc(int32(a), n+b, 1))
		}
	}
	net.Flow(2*n, 2*n+1, int64(n))
	to := make([]int32, n)
	for a, list := range arcs {
		i := slices.IndexFunc(list, func(arc int32) bool { return net.Carried(arc) > 0 })
		to[a] = out[a][i]
		out[a] = slices.Delete(out[a], i, i+1)
	}
	return to
}

// factorOf makes the two neighbours of each rank from the one that it leads to.
func factorOf(to []int32) [][2]int32 {
	out := make([][2]int32, len(to))
	for a, b := range to {
		out[a][0] = b
		out[b][1] = int32(a)
	}
	return out
}

// factors are two-factors: next[f][v] are the two neighbours of v in factor f.
type factors struct {
	n    int
	next [][][2]int32
}

// ring follows factor f from a rank until it comes back.
func (x *factors) ring(f int, from int32) []int32 {
	out := []int32{from}
	before, at := from, x.next[f][from][0]
	for at != from {
		out = append(out, at)
		step := x.next[f][at][0]
		if step == before {
			step = x.next[f][at][1]
		}
		before, at = at, step
	}
	return out
}

// rings counts the rings of factor f.
func (x *factors) rings(f int, seen []bool) int {
	clear(seen)
	count := 0
	for v := range x.n {
		if seen[v] {
			continue
		}
		count++
		for _, r := range x.ring(f, int32(v)) {
			seen[r] = true
		}
	}
	return count
}

// merge tries exchanges until every factor is one ring or the tries are used up.
func (x *factors) merge(tries int) {
	rng := rand.New(rand.NewPCG(factorSeed, uint64(x.n)))
	seen := make([]bool, x.n)
	count := make([]int, len(x.next))
	total := 0
	for f := range count {
		count[f] = x.rings(f, seen)
		total += count[f]
	}
	for ; tries > 0 && total > len(x.next); tries-- {
		f, h := rng.IntN(len(x.next)), rng.IntN(len(x.next))
		a := int32(rng.IntN(x.n))
		b := x.next[f][a][rng.IntN(2)]
		c := x.next[h][b][rng.IntN(2)]
		d := x.next[f][c][rng.IntN(2)]
		if f == h || !x.joined(h, d, a) || a == c || b == d || a == d {
			continue
		}
		x.exchange(f, h, a, b, c, d)
		cf, ch := x.rings(f, seen), x.rings(h, seen)
		if cf+ch > count[f]+count[h] {
			x.exchange(h, f, a, b, c, d) // back
			continue
		}
		total += cf + ch - count[f] - count[h]
		count[f], count[h] = cf, ch
	}
}

func (x *factors) joined(f int, a, b int32) bool {
	return x.next[f][a][0] == b || x.next[f][a][1] == b
}

// exchange gives a–b and c–d from f to h and b–c and d–a from h to f.
func (x *factors) exchange(f, h int, a, b, c, d int32) {
	for _, m := range [][3]int32{{a, b, d}, {b, a, c}, {c, d, b}, {d, c, a}} {
		x.replace(f, m[0], m[1], m[2])
		x.replace(h, m[0], m[2], m[1])
	}
}

// replace makes a neighbour of v another one.
func (x *factors) replace(f int, v, was, is int32) {
	if x.next[f][v][0] == was {
		x.next[f][v][0] = is
	} else {
		x.next[f][v][1] = is
	}
}
