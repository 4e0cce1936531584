package pack

import (
	"fmt"
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
		if r.members[v] == nil || len(r.out[v]) > 1 || len(r.in[v]) > 1 {
			if r.members[v] == nil || len(r.out[v]) > 0 && len(r.in[v]) > 0 {
				continue
			}
		}
		if len(r.out[v]) == 1 && len(r.in[v]) == 1 {
			u, c := only(r.in[v])
			w, d := only(r.out[v])
			r.remove(v)
			r.add(u, w, min(c, d))
		} else {
			r.remove(v)
		}
		changed = true
	}
	return changed
}

func only(m map[int32]int64) (int32, int64) {
	for k, c := range m {
		return k, c
	}
	return -1, 0
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
	for _, c := range r.out[v] {
		unit = units.GCD(unit, c)
	}
	for _, c := range r.in[v] {
		unit = units.GCD(unit, c)
	}
	var s strings.Builder
	for i, m := range []map[int32]int64{r.out[v], r.in[v]} {
		keys := make([]int32, 0, len(m))
		for x := range m {
			keys = append(keys, x)
		}
		slices.Sort(keys)
		fmt.Fprintf(&s, "|%d", i)
		for _, x := range keys {
			fmt.Fprintf(&s, " %d:%d", x, m[x]/unit)
		}
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
