package pack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/model/units"
)

// reduced merges switches that are alike and takes out those in the middle of a line.
func (g *Graph) reduced() *Graph {
	r := newReducer(g)
	for r.lines() || r.twins() {
	}
	return r.graph(g)
}

// reducer is the graph as maps, out and in, by vertex.
type reducer struct {
	ranks   int
	out, in []map[int32]int64
	members [][]int32 // by vertex: those that it stands for; none: gone
}

func newReducer(g *Graph) *reducer {
	r := &reducer{ranks: g.Ranks, out: make([]map[int32]int64, g.Vertices), in: make([]map[int32]int64, g.Vertices),
		members: make([][]int32, g.Vertices)}
	for v := range r.out {
		r.out[v], r.in[v], r.members[v] = map[int32]int64{}, map[int32]int64{}, []int32{int32(v)}
	}
	for _, e := range g.Edges {
		r.add(e.From, e.To, e.Cap)
	}
	return r
}

func (r *reducer) add(u, v int32, c int64) {
	if u != v {
		r.out[u][v] += c
		r.in[v][u] += c
	}
}

func (r *reducer) remove(v int32) {
	for w := range r.out[v] {
		delete(r.in[w], v)
	}
	for u := range r.in[v] {
		delete(r.out[u], v)
	}
	r.out[v], r.in[v], r.members[v] = nil, nil, nil
}

// lines takes out switches with one edge in and one out, and those that lead nowhere.
func (r *reducer) lines() bool {
	changed := false
	for v := int32(r.ranks); int(v) < len(r.out); v++ {
		in, out := r.in[v], r.out[v]
		if r.members[v] == nil || len(in) > 0 && len(out) > 0 && len(in)+len(out) > 2 {
			continue
		}
		r.remove(v)
		for u, c := range in { // none, or one, where out has one too
			for w, d := range out {
				r.add(u, w, min(c, d))
			}
		}
		changed = true
	}
	return changed
}

// twins merges switches whose capacities from and to the same neighbours are
// proportional: whatever flows through them together can be split in that proportion.
func (r *reducer) twins() bool {
	seen := map[string]int32{}
	changed := false
	for v := int32(r.ranks); int(v) < len(r.out); v++ {
		if r.members[v] == nil {
			continue
		}
		key := r.signature(v)
		w, ok := seen[key]
		if !ok {
			seen[key] = v
			continue
		}
		for x, c := range r.out[v] {
			r.add(w, x, c)
		}
		for x, c := range r.in[v] {
			r.add(x, w, c)
		}
		r.members[w] = append(r.members[w], r.members[v]...)
		r.remove(v)
		changed = true
	}
	return changed
}

func (r *reducer) signature(v int32) string {
	var unit int64
	for _, m := range []map[int32]int64{r.out[v], r.in[v]} {
		for _, c := range m {
			unit = units.GCD(unit, c)
		}
	}
	var s strings.Builder
	for _, m := range []map[int32]int64{r.out[v], r.in[v]} {
		for _, x := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&s, " %d:%d", x, m[x]/unit)
		}
		s.WriteByte('|')
	}
	return s.String()
}

func (r *reducer) graph(g *Graph) *Graph {
	number := make([]int32, len(r.out))
	n := int32(0)
	var names []string
	for v := range r.out {
		if v >= r.ranks && r.members[v] == nil {
			continue
		}
		number[v] = n
		n++
		if v >= r.ranks {
			name := g.Name(v)
			if m := len(r.members[v]); m > 1 {
				name = fmt.Sprintf("%s and %d like it", name, m-1)
			}
			names = append(names, name)
		}
	}
	var edges []Edge
	for u := range r.out {
		for v, c := range r.out[u] {
			edges = append(edges, Edge{number[u], number[v], c})
		}
	}
	return &Graph{Ranks: g.Ranks, Vertices: int(n), Edges: mergeEdges(edges), t: g.t, host: g.host, names: names}
}
