package pack

import (
	"fmt"
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
)

// Edge is what flows at most from one vertex to another, in bytes/s.
type Edge struct {
	From, To int32
	Cap      int64
}

// Graph is where data may flow: vertices 0 … Ranks−1 hold ranks, the others (switches,
// adapters) only forward. There is at most one edge for each ordered pair of vertices.
type Graph struct {
	Ranks    int
	Vertices int
	Edges    []Edge // ascending by From, then To

	t     *topology.Topology // nil for graphs that are made by hand
	host  []bool             // by node of t: whether PCIe between its ranks counts
	names []string           // of the vertices behind the ranks; nil: made up

	backwards bool // edges are the other way round
}

// New is a graph with the given edges, parallel ones added up and loops left out.
func New(ranks, vertices int, edges []Edge) (*Graph, error) {
	if ranks < 1 || vertices < ranks {
		return nil, fmt.Errorf("pack: %d ranks in %d vertices", ranks, vertices)
	}
	list := make([]Edge, 0, len(edges))
	for _, e := range edges {
		if e.From < 0 || e.To < 0 || int(e.From) >= vertices || int(e.To) >= vertices || e.Cap < 0 {
			return nil, fmt.Errorf("pack: edge %d->%d of %d is not one of a graph of %d vertices", e.From, e.To, e.Cap, vertices)
		}
		if e.From != e.To && e.Cap > 0 {
			list = append(list, e)
		}
	}
	return &Graph{Ranks: ranks, Vertices: vertices, Edges: mergeEdges(list)}, nil
}

// mergeEdges sorts edges and adds up parallel ones, in place.
func mergeEdges(list []Edge) []Edge {
	slices.SortFunc(list, func(a, b Edge) int { return inOrder([2]int32{a.From, a.To}, [2]int32{b.From, b.To}) })
	out := list[:0]
	for _, e := range list {
		if n := len(out); n > 0 && out[n-1].From == e.From && out[n-1].To == e.To {
			out[n-1].Cap += e.Cap
			continue
		}
		out = append(out, e)
	}
	return out
}

// Direct reports whether all vertices hold ranks.
func (g *Graph) Direct() bool { return g.Vertices == g.Ranks }

// Name is what a vertex is called.
func (g *Graph) Name(v int) string {
	switch {
	case v < g.Ranks && g.t != nil:
		return g.t.DeviceName(g.t.Ranks()[v])
	case v < g.Ranks:
		return fmt.Sprintf("rank%d", v)
	case g.names != nil:
		return g.names[v-g.Ranks]
	}
	return fmt.Sprintf("switch%d", v-g.Ranks)
}

// capacities are what can leave each rank, and enter it.
func (g *Graph) capacities() (out, in []int64) {
	out, in = make([]int64, g.Vertices), make([]int64, g.Vertices)
	for _, e := range g.Edges {
		out[e.From] += e.Cap
		in[e.To] += e.Cap
	}
	return out[:g.Ranks], in[:g.Ranks]
}

// unit is the greatest common divisor of all capacities.
func (g *Graph) unit() int64 {
	var u int64
	for _, e := range g.Edges {
		u = units.GCD(u, e.Cap)
	}
	return max(u, 1)
}

// inUnits is a graph with capacities in units of their greatest common divisor.
func (g *Graph) inUnits() (*Graph, int64) {
	h, unit := *g, g.unit()
	h.Edges = slices.Clone(g.Edges)
	for i := range h.Edges {
		h.Edges[i].Cap /= unit
	}
	return &h, unit
}

// starts is where each vertex's edges begin in the list, which is in the order of their sources, and
// at the end its length.
func (g *Graph) starts() []int32 {
	out := make([]int32, g.Vertices+1)
	for _, e := range g.Edges {
		out[e.From+1]++
	}
	for v := range g.Vertices {
		out[v+1] += out[v]
	}
	return out
}

// Reversed has every edge the other way round.
func (g *Graph) Reversed() *Graph {
	h := *g
	h.backwards = !g.backwards
	h.Edges = make([]Edge, len(g.Edges))
	for i, e := range g.Edges {
		h.Edges[i] = Edge{e.To, e.From, e.Cap}
	}
	h.Edges = mergeEdges(h.Edges)
	return &h
}

// symmetric reports whether all edges have the same capacity both ways.
func (g *Graph) symmetric() bool { return slices.Equal(g.Edges, g.Reversed().Edges) }

// Joined reports whether data from any rank reach all others, passed on by ranks too.
func (g *Graph) Joined() bool {
	for _, g := range []*Graph{g, g.Reversed()} {
		if _, parent := nearest(g.Near(), 0); slices.Contains(parent[1:g.Ranks], -1) {
			return false
		}
	}
	return true
}
