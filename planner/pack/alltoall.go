package pack

import (
	"container/heap"
	"math"
)

// AllToAllBound is a rate that no all-to-all can beat, in bytes/s between each ordered
// pair of ranks; the rate of a whole buffer is N times that. Any lengths of the edges
// give such a bound: all traffic takes at least the sum of the distances between ranks,
// and there is no more room than capacity times length. Tried are lengths that single out
// the edges of a cut, around the rank that sends least and that of Bound, and, on graphs
// of up to mostForRounds vertices, lengths that grow where shortest paths crowd (Garg,
// Könemann), which approach the optimum, and the cuts that these lengths suggest.
func AllToAllBound(g *Graph) Fraction {
	a := &lengths{g: g, start: make([]int32, g.Vertices+1), length: make([]int64, len(g.Edges)), dist: make([]int64, g.Vertices), via: make([]int32, g.Vertices), load: make([]float64, len(g.Edges))}
	for _, e := range g.Edges {
		a.start[e.From+1]++
	}
	for v := range g.Vertices {
		a.start[v+1] += a.start[v]
	}
	best := Fraction{math.MaxInt64, 1}
	try := func() {
		if y := a.bound(); y.Num > 0 && y.Cmp(best) < 0 {
			best = y
		}
	}
	if b, err := Bound(g); err == nil {
		set := make([]bool, g.Vertices)
		for _, r := range b.Source {
			set[r] = true
		}
		a.cut(g.cheapest(set))
		try()
	}
	a.rankCut(try)
	if g.Vertices <= mostForRounds {
		a.rounds(try)
	}
	if g.Ranks <= mostForSweep {
		a.sweep(try)
	}
	return best
}

// mostForRounds is up to how many vertices lengths are improved round by round.
const mostForRounds = 150

// mostForSweep is up to how many ranks cuts are looked for in lengths.
const mostForSweep = 32

// lengths are those of a graph's edges, and shortest paths by them.
type lengths struct {
	g      *Graph
	start  []int32 // edges by vertex
	length []int64
	dist   []int64
	via    []int32 // the edge by which the shortest path arrives
	load   []float64
	queue  distances
}

// cheapest completes a set of ranks with the switches that make its cut the smallest.
func (g *Graph) cheapest(set []bool) []bool {
	f := newSparse(g.Vertices + 2)
	source, sink := int32(g.Vertices), int32(g.Vertices+1)
	var all int64
	for _, e := range g.Edges {
		f.arc(e.From, e.To, e.Cap)
		all += e.Cap
	}
	for r := range int32(g.Ranks) {
		if set[r] {
			f.arc(source, r, all)
		} else {
			f.arc(r, sink, all)
		}
	}
	f.flow(sink, source, math.MaxInt64/2)
	out := make([]bool, g.Vertices)
	for v := range out {
		out[v] = f.level[v] < 0
	}
	return out
}

func (a *lengths) cut(set []bool) {
	for i, e := range a.g.Edges {
		a.length[i] = 0
		if set[e.From] && !set[e.To] {
			a.length[i] = 1
		}
	}
}

// rankCut is that around the rank that can send least.
func (a *lengths) rankCut(try func()) {
	out := make([]int64, a.g.Ranks)
	for _, e := range a.g.Edges {
		if int(e.From) < a.g.Ranks {
			out[e.From] += e.Cap
		}
	}
	least := 0
	for r := range out {
		if out[r] < out[least] {
			least = r
		}
	}
	set := make([]bool, a.g.Vertices)
	set[least] = true
	a.cut(set)
	try()
}

// rounds lets lengths grow where shortest paths crowd.
func (a *lengths) rounds(try func()) {
	const scale, rate, times = 1 << 24, 0.2, 300
	weight := make([]float64, len(a.g.Edges))
	for i, e := range a.g.Edges {
		weight[i] = 1 / float64(e.Cap)
	}
	for range times {
		most := 0.0
		for _, w := range weight {
			most = max(most, w)
		}
		for i, w := range weight {
			a.length[i] = int64(w / most * scale)
		}
		clear(a.load)
		try()
		most = 0
		for i, e := range a.g.Edges {
			most = max(most, a.load[i]/float64(e.Cap))
		}
		for i, e := range a.g.Edges {
			weight[i] *= math.Exp(rate * a.load[i] / float64(e.Cap) / most)
		}
	}
}

// sweep tries, for each rank, the cuts between the k ranks that are nearest to it, by the
// present lengths, and the others.
func (a *lengths) sweep(try func()) {
	length := append([]int64(nil), a.length...)
	set := make([]bool, a.g.Vertices)
	for r := range a.g.Ranks {
		copy(a.length, length)
		clear(set)
		for _, v := range a.from(int32(r)) {
			if int(v) < a.g.Ranks {
				set[v] = true
				a.cut(a.g.cheapest(set))
				try()
			}
		}
	}
}

// bound is capacity times length over distance, summed over edges and pairs of ranks; it
// also loads the shortest paths.
func (a *lengths) bound() Fraction {
	var room, way, unit int64
	unit = a.g.unit()
	for i, e := range a.g.Edges {
		p := mulMin(e.Cap/unit, a.length[i], math.MaxInt64)
		if room > math.MaxInt64-p {
			return Fraction{0, 1}
		}
		room += p
	}
	onward := make([]float64, a.g.Vertices)
	for r := range a.g.Ranks {
		order := a.from(int32(r))
		for _, v := range order {
			onward[v] = 0
			if int(v) < a.g.Ranks {
				onward[v] = 1
				if a.dist[v] > math.MaxInt64-way {
					return Fraction{0, 1}
				}
				way += a.dist[v]
			}
		}
		for i := len(order) - 1; i > 0; i-- {
			e := a.via[order[i]]
			a.load[e] += onward[order[i]]
			onward[a.g.Edges[e].From] += onward[order[i]]
		}
	}
	if way == 0 {
		return Fraction{0, 1}
	}
	f := fraction(room, way)
	if f.Num > math.MaxInt64/unit {
		return Fraction{int64(math.Ceil(f.Float() * float64(unit) * (1 + 1e-12))), 1}
	}
	return fraction(f.Num*unit, f.Den)
}

type reach struct {
	dist int64
	v    int32
}

type distances []reach

func (d distances) Len() int           { return len(d) }
func (d distances) Less(i, j int) bool { return d[i].dist < d[j].dist }
func (d distances) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *distances) Push(x any)        { *d = append(*d, x.(reach)) }
func (d *distances) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// from measures distances from a rank and lists what it reaches, nearest first.
func (a *lengths) from(r int32) []int32 {
	for v := range a.dist {
		a.dist[v] = math.MaxInt64
	}
	a.dist[r] = 0
	a.queue = append(a.queue[:0], reach{0, r})
	order := make([]int32, 0, a.g.Vertices)
	done := make([]bool, a.g.Vertices)
	for len(a.queue) > 0 {
		q := heap.Pop(&a.queue).(reach)
		if done[q.v] {
			continue
		}
		done[q.v] = true
		order = append(order, q.v)
		for i := a.start[q.v]; i < a.start[q.v+1]; i++ {
			e := a.g.Edges[i]
			if d := q.dist + a.length[i]; d < a.dist[e.To] {
				a.dist[e.To], a.via[e.To] = d, i
				heap.Push(&a.queue, reach{d, e.To})
			}
		}
	}
	return order
}
