package pack

import (
	"cmp"
	"math"
	"slices"

	"railyard/internal/maxflow"
	"railyard/model/symmetry"
)

// spanningTrees packs trees for all-reduces into a graph of ranks alone, of which it uses
// what links carry both ways: sums go up a tree over one direction of its links, results
// down over the other. A tree then has no direction of its own. So many trees as
// AllReduceBound says (Nash-Williams, Tutte) are found in four steps:
//
//   - capacities that nothing is lost by are taken away, so that every set S of ranks
//     holds k(|S|−1) at most, and all ranks just as much (Cunningham);
//   - every link is directed, in part this way and in part that, so that k enters every
//     rank but one in the middle: any way to do so leaves room for k trees of that rank;
//   - these are packed as in edmonds;
//   - every tree is hung up in its own middle.
func spanningTrees(g *Graph, k int64, effort int) (*Packing, error) {
	both := g.bothWays()
	caps, each, err := parts(both, k, func(h *Graph) (Fraction, error) {
		b, err := partitionBound(h)
		return b.Rate, err
	})
	if err != nil {
		return nil, err
	}
	root, depth := both.middle()
	s := &spanning{g: both, k: each, links: both.links(caps), depth: depth}
	s.trim()
	p, err := lowest(both, s.directed(), []int32{int32(root)}, each, effort)
	if err != nil {
		return nil, err
	}
	p.Method = "spanning trees"
	p.rerootAtCentres()
	return p, nil
}

// bothWays has of each link what it carries in both directions.
func (g *Graph) bothWays() *Graph {
	h := *g
	h.Edges = nil
	back := g.Reversed().Edges
	for i, e := range g.Edges {
		j, found := slices.BinarySearchFunc(back, e, func(a, b Edge) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		})
		if found {
			h.Edges = append(h.Edges, Edge{e.From, e.To, min(g.Edges[i].Cap, back[j].Cap)})
		}
	}
	return &h
}

// spanning is links whose capacity is shared by their directions.
type spanning struct {
	g     *Graph
	k     int64
	links []link
	depth []int32 // by rank: hops from the middle
	net   maxflow.Network
}

// link is a pair of edges of the same capacity.
type link struct {
	u, v  int32 // u < v
	cap   int64
	there int // the edge u→v
	back  int // the edge v→u
}

func (g *Graph) links(caps []int64) []link {
	var out []link
	at := map[[2]int32]int{}
	for i, e := range g.Edges {
		at[[2]int32{e.From, e.To}] = i
	}
	for i, e := range g.Edges {
		if e.From < e.To {
			out = append(out, link{e.From, e.To, caps[i], i, at[[2]int32{e.To, e.From}]})
		}
	}
	return out
}

// trim lowers capacities until every set S holds k(|S|−1) at most. Links near the middle
// keep theirs first. What is left sums to k(n−1): as with matroids, nothing that is taken
// away could be of use to others.
func (s *spanning) trim() {
	var total int64
	for _, l := range s.links {
		total += l.cap
	}
	if total == s.k*int64(s.g.Ranks-1) {
		return // none can be spared
	}
	order := symmetry.InPlace(len(s.links))
	near := func(i int32) int32 { return s.depth[s.links[i].u] + s.depth[s.links[i].v] }
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(near(a), near(b)) })
	want := make([]int64, len(s.links))
	for i := range s.links {
		want[i], s.links[i].cap = s.links[i].cap, 0
	}
	for _, i := range order {
		s.links[i].cap = min(want[i], s.headroom(s.links[i]))
	}
}

// headroom is min k(|S|−1) less what S holds, over the sets S with both ends of a link: half
// the minimum of Σ(2k − d) over S plus the capacity out of it, less 2k, where d is what
// a rank's links carry.
func (s *spanning) headroom(at link) int64 {
	n := int32(s.g.Ranks)
	source, sink := n, n+1
	s.net.Clear(int(n) + 2)
	weight := make([]int64, n)
	for v := range weight {
		weight[v] = 2 * s.k
	}
	for _, l := range s.links {
		if l.cap > 0 {
			weight[l.u] -= l.cap
			weight[l.v] -= l.cap
			s.net.Arc(l.u, l.v, l.cap)
			s.net.Arc(l.v, l.u, l.cap)
		}
	}
	var least int64
	for v, w := range weight {
		switch v := int32(v); {
		case v == at.u || v == at.v:
			least += w
			s.net.Arc(source, v, math.MaxInt64/4)
		case w > 0:
			s.net.Arc(v, sink, w)
		default: // better inside
			least += w
			s.net.Arc(source, v, -w)
		}
	}
	return (least + s.net.Flow(source, sink, math.MaxInt64/4) - 2*s.k) / 2
}

// directed are the capacities of edges with which k enters every rank but the middle,
// away from it as far as can be.
func (s *spanning) directed() []int64 {
	n, m := int32(s.g.Ranks), int32(len(s.links))
	source, sink := n+m, n+m+1
	s.net.Clear(int(n+m) + 2)
	var total int64
	for v := range n {
		if s.depth[v] > 0 {
			s.net.Arc(v, sink, s.k)
		}
	}
	for i, l := range s.links {
		s.net.Arc(source, n+int32(i), l.cap)
		total += l.cap
	}
	ways := make([][2]int32, m) // arcs that say what goes to u and to v
	add := func(i int, to int32) int32 { return s.net.Arc(n+int32(i), to, s.links[i].cap) }
	var done int64
	for _, outward := range []bool{true, false} {
		for i, l := range s.links {
			if du, dv := s.depth[l.u], s.depth[l.v]; du >= dv == outward {
				ways[i][0] = add(i, l.u)
			}
			if du, dv := s.depth[l.u], s.depth[l.v]; dv > du == outward {
				ways[i][1] = add(i, l.v)
			}
		}
		done += s.net.Flow(source, sink, total-done)
	}
	caps := make([]int64, len(s.g.Edges))
	for i, l := range s.links {
		caps[l.back] = s.net.Carried(ways[i][0])
		caps[l.there] = s.net.Carried(ways[i][1])
	}
	return caps
}
