package pack

import "math/bits"

// flows computes maximal flows towards one sink after another, from a source that feeds
// given vertices. It searches from the sink backwards, so that where the source is near
// only the sink's surroundings are looked at, and takes back only what it has changed.
type flows struct {
	g       *Graph
	start   []int32 // arcs by vertex; the source is vertex g.Vertices
	to      []int32
	rev     []int32
	full    []int64 // what the arc carries; residual arcs 0
	left    []int64
	feed    []int32 // the source's arc to each rank
	edge    []int32 // arc → index of its edge, −1
	level   []int32
	stamp   []int32
	now     int32
	next    []int32
	queue   []int32
	changed []int32
}

func newFlows(g *Graph) *flows {
	n := g.Vertices + 1
	f := &flows{g: g, start: make([]int32, n+1), level: make([]int32, n), stamp: make([]int32, n), next: make([]int32, n),
		queue: make([]int32, 0, n)}
	type end struct{ u, v int32 }
	arcs := make([]end, 0, len(g.Edges)+g.Ranks)
	for _, e := range g.Edges {
		arcs = append(arcs, end{e.From, e.To})
	}
	source := int32(g.Vertices)
	for r := range g.Ranks {
		arcs = append(arcs, end{source, int32(r)})
	}
	for _, a := range arcs {
		f.start[a.u+1]++
		f.start[a.v+1]++
	}
	for i := range n {
		f.start[i+1] += f.start[i]
	}
	fill := append([]int32(nil), f.start[:n]...)
	m := 2 * len(arcs)
	f.to, f.rev, f.full, f.left, f.edge = make([]int32, m), make([]int32, m), make([]int64, m), make([]int64, m), make([]int32, m)
	f.feed = make([]int32, g.Ranks)
	for i, a := range arcs {
		p, q := fill[a.u], fill[a.v]
		fill[a.u]++
		fill[a.v]++
		f.to[p], f.to[q], f.rev[p], f.rev[q], f.edge[p], f.edge[q] = a.v, a.u, q, p, int32(i), -1
		if i >= len(g.Edges) {
			f.feed[i-len(g.Edges)] = p
			f.edge[p] = -1
		}
	}
	return f
}

// set gives the edges cap·mul, at most limit, and the source's arcs feed.
func (f *flows) set(mul, limit, feed int64) {
	f.changed = f.changed[:0]
	for a, e := range f.edge {
		if e >= 0 {
			f.full[a] = mulMin(f.g.Edges[e].Cap, mul, limit)
		}
	}
	for _, a := range f.feed {
		f.full[a] = feed
	}
	copy(f.left, f.full)
}

// mulMin is min(a·b, limit) for what is not negative.
func mulMin(a, b, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > uint64(limit) {
		return limit
	}
	return int64(lo)
}

// setFeed changes what the source gives a rank, between flows.
func (f *flows) setFeed(r int, c int64) {
	a := f.feed[r]
	f.full[a], f.left[a] = c, c
}

// reset takes the last flow back.
func (f *flows) reset() {
	for _, a := range f.changed {
		b := f.rev[a]
		f.left[a], f.left[b] = f.full[a], f.full[b]
	}
	f.changed = f.changed[:0]
}

// run adds flow from the source to sink until it reaches need or cannot grow. If it
// cannot grow, reached tells the sink's side of a smallest cut.
func (f *flows) run(sink int32, need int64) int64 {
	var total int64
	source := int32(f.g.Vertices)
	for total < need && f.search(sink, source) {
		for total < need {
			d := f.pull(sink, source, need-total)
			if d == 0 {
				break
			}
			total += d
		}
	}
	return total
}

// reached reports whether the last search, if it did not find the source, came to v.
func (f *flows) reached(v int32) bool { return f.stamp[v] == f.now }

// search measures distances to the sink, up to the source's.
func (f *flows) search(sink, source int32) bool {
	f.now++
	f.queue = append(f.queue[:0], sink)
	f.stamp[sink], f.level[sink], f.next[sink] = f.now, 0, f.start[sink]
	for i := 0; i < len(f.queue); i++ {
		v := f.queue[i]
		if f.stamp[source] == f.now && f.level[v] >= f.level[source]-1 {
			break
		}
		for a := f.start[v]; a < f.start[v+1]; a++ {
			u := f.to[a]
			if f.left[f.rev[a]] > 0 && f.stamp[u] != f.now {
				f.stamp[u], f.level[u], f.next[u] = f.now, f.level[v]+1, f.start[u]
				f.queue = append(f.queue, u)
			}
		}
	}
	return f.stamp[source] == f.now
}

// pull brings up to want from the source to v, along arcs that lead one level nearer.
func (f *flows) pull(v, source int32, want int64) int64 {
	if v == source {
		return want
	}
	var got int64
	for ; f.next[v] < f.start[v+1]; f.next[v]++ {
		a := f.next[v]
		u := f.to[a]
		in := f.rev[a]
		if f.left[in] == 0 || f.stamp[u] != f.now || f.level[u] != f.level[v]+1 {
			continue
		}
		if d := f.pull(u, source, min(want-got, f.left[in])); d > 0 {
			f.left[in] -= d
			f.left[a] += d
			f.changed = append(f.changed, in)
			if got += d; got == want {
				return got
			}
		}
	}
	return got
}
