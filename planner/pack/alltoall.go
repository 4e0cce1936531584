package pack

import (
	"math"
	"slices"

	"railyard/internal/heap"
	"railyard/internal/maxflow"
)

// Demand is how much each rank sends each other rank, in parts.
type Demand func(src, dst int) int64

// PairsBound is a rate of a part, in bytes/s, that no exchange of parts between pairs of ranks can
// beat: an all-to-all where everybody has one part for everybody. Any lengths of the edges give such
// a bound: all traffic takes at least the sum of the distances of its pairs, and there is no more room
// than capacity times length. Tried are lengths that single out the edges of a cut, around the rank
// that sends or receives least for what it has, that of Bound and those through the middle; on graphs that
// are not too large, lengths that grow where shortest paths crowd (Garg, Könemann), which approach the
// optimum of multi-commodity flow, and the cuts that these lengths suggest.
func PairsBound(g *Graph, demand Demand) Result {
	if g.Ranks < 2 {
		return Result{Rate: Fraction{0, 1}, Cut: "one rank has nothing to receive"}
	}
	a := newLengths(g, demand)
	if b, err := Bound(g); err == nil {
		set := make([]bool, g.Vertices)
		for _, r := range b.Source {
			set[r] = true
		}
		a.tryCut(g.cheapest(set))
	}
	a.tryLeast()
	a.halves()
	if size := max(g.Ranks*len(g.Edges), 1); a.pairs > 2*g.Ranks && size*fewRounds <= workOfRounds {
		a.rounds(min(manyRounds, workOfRounds/size))
	} else if size*manyRounds <= workOfRounds {
		a.rounds(min(10*manyRounds, workOfRounds/size)) // of few pairs, prices settle late
	}
	if g.Ranks <= mostForSweep {
		a.sweep()
	}
	return a.best
}

const (
	workOfRounds = 6_000_000 // ranks times edges that are looked at to improve lengths
	fewRounds    = 60        // are needed to come near the optimum
	manyRounds   = 300       // bring next to nothing more where everybody sends to everybody
	// firstStep and lastStep are how much faster the lengths of full edges grow than those of empty ones: edges that are
	// not in the way have to get short soon, and the others all as long as it takes in the end.
	firstStep, lastStep = 2.0, 0.05
)

// lengthBits is how many bits of an integer lengths take; capacities have the others.
const lengthBits = 24

// mostForSweep is up to how many ranks cuts are looked for in lengths.
const mostForSweep = 32

// lengths are those of a graph's edges, and shortest paths by them.
type lengths struct {
	g      *Graph
	parts  [][]int64 // by source and destination
	pairs  int       // that have any
	start  []int32   // edges by vertex
	length []int64
	dist   []int64
	via    []int32 // the edge by which the shortest path arrives
	load   []float64
	queue  *heap.Heap[reach] // nearest first
	best   Result
}

func newLengths(g *Graph, demand Demand) *lengths {
	a := &lengths{g: g, parts: make([][]int64, g.Ranks),
		start: g.starts(), length: make([]int64, len(g.Edges)), dist: make([]int64, g.Vertices),
		via: make([]int32, g.Vertices), load: make([]float64, len(g.Edges)),
		queue: heap.New(func(a, b reach) bool { return a.dist < b.dist })}
	a.best.Rate = Fraction{math.MaxInt64, 1}
	for src := range a.parts {
		a.parts[src] = make([]int64, g.Ranks)
		for dst := range a.parts[src] {
			if src != dst {
				a.parts[src][dst] = demand(src, dst)
				a.pairs += int(min(a.parts[src][dst], 1))
			}
		}
	}
	return a
}

// try keeps the bound of the present lengths if it is the lowest so far.
func (a *lengths) try() {
	if y := a.bound(); y.Num > 0 && y.Cmp(a.best.Rate) < 0 {
		a.best = Result{Rate: y, Cut: "the data of all pairs, each by the shortest way round what is crowded, fills all links"}
	}
}

// tryCut tries the cut around a set of vertices.
func (a *lengths) tryCut(set []bool) {
	sink := make([]bool, len(set))
	for v := range set {
		sink[v] = !set[v]
	}
	capacity, _ := a.g.crossing(sink)
	var parts int64
	for src, row := range a.parts {
		for dst, n := range row {
			if set[src] && !set[dst] {
				parts += n
			}
		}
	}
	if parts == 0 {
		return
	}
	if y := fraction(capacity, parts); y.Cmp(a.best.Rate) < 0 {
		a.best = a.g.result(y, sink)
		a.best.Cut = a.g.explain(a.best)
	}
}

// halves tries the cuts through the middle that graphs with regularly numbered ranks
// have: those of the lower half of each so many ranks.
func (a *lengths) halves() {
	set := make([]bool, a.g.Vertices)
	for m := 2; m <= a.g.Ranks; m++ {
		if a.g.Ranks%m != 0 {
			continue
		}
		for r := range a.g.Ranks {
			set[r] = r%m < m/2
		}
		a.tryCut(a.g.cheapest(set))
	}
}

// cheapest completes a set of ranks with the switches that make its cut the smallest.
func (g *Graph) cheapest(set []bool) []bool {
	f := maxflow.New(g.Vertices + 2)
	source, sink := int32(g.Vertices), int32(g.Vertices+1)
	var all int64
	for _, e := range g.Edges {
		f.Arc(e.From, e.To, e.Cap)
		all += e.Cap
	}
	for r := range int32(g.Ranks) {
		if set[r] {
			f.Arc(source, r, all)
		} else {
			f.Arc(r, sink, all)
		}
	}
	f.Flow(source, sink, math.MaxInt64/2)
	out := make([]bool, g.Vertices)
	for v := range out {
		out[v] = !f.Beyond(int32(v))
	}
	return out
}

// tryLeast tries the cuts around the rank that can send least for what it has to send, and around the
// one that can receive least.
func (a *lengths) tryLeast() {
	leave, enter := a.g.capacities()
	out, in := make([]float64, a.g.Ranks), make([]float64, a.g.Ranks)
	sends, receives := make([]int64, a.g.Ranks), make([]int64, a.g.Ranks)
	for src, row := range a.parts {
		for dst, n := range row {
			sends[src] += n
			receives[dst] += n
		}
	}
	for i := range out {
		out[i], in[i] = float64(leave[i]+1)/float64(sends[i]), float64(enter[i]+1)/float64(receives[i]) // infinite where there is nothing
	}
	set := make([]bool, a.g.Vertices)
	least := slices.Index(out, slices.Min(out))
	set[least] = true
	a.tryCut(set)
	least = slices.Index(in, slices.Min(in))
	for v := range set {
		set[v] = v != least
	}
	a.tryCut(set)
}

// rounds lets lengths grow where shortest paths crowd.
func (a *lengths) rounds(times int) {
	const scale = 1 << lengthBits
	weight := make([]float64, len(a.g.Edges))
	for i, e := range a.g.Edges {
		weight[i] = 1 / float64(e.Cap)
	}
	for k := range times {
		step := firstStep * math.Pow(lastStep/firstStep, float64(k)/float64(times))
		most := 0.0
		for _, w := range weight {
			most = max(most, w)
		}
		for i, w := range weight {
			weight[i] = max(w/most, 1./scale)
			a.length[i] = int64(weight[i] * scale)
		}
		clear(a.load)
		a.try()
		most = 0
		for i, e := range a.g.Edges {
			most = max(most, a.load[i]/float64(e.Cap))
		}
		if most == 0 { // nothing to send, or more than can be counted
			return
		}
		for i, e := range a.g.Edges {
			weight[i] *= math.Exp(step * a.load[i] / float64(e.Cap) / most)
		}
	}
}

// sweep tries, for each rank, the cuts between the k ranks that are nearest to it, by the
// present lengths, and the others.
func (a *lengths) sweep() {
	set := make([]bool, a.g.Vertices)
	for r := range a.g.Ranks {
		clear(set)
		for _, v := range a.from(int32(r)) {
			if int(v) < a.g.Ranks {
				set[v] = true
				a.tryCut(a.g.cheapest(set))
			}
		}
	}
}

// bound is capacity times length over distance, summed over edges and pairs of ranks; it
// also loads the shortest paths.
func (a *lengths) bound() Fraction {
	var capacity, way, all int64
	for _, e := range a.g.Edges {
		all += e.Cap
	}
	unit := max(a.g.unit(), all>>(62-lengthBits)+1) // rounded up, rates with no large divisor remain a bound
	for i, e := range a.g.Edges {
		p := mulMin((e.Cap+unit-1)/unit, a.length[i], math.MaxInt64)
		if capacity > math.MaxInt64-p {
			return Fraction{0, 1}
		}
		capacity += p
	}
	onward := make([]float64, a.g.Vertices)
	for r := range a.g.Ranks {
		order := a.from(int32(r))
		for _, v := range order {
			onward[v] = 0
			if int(v) < a.g.Ranks && a.parts[r][v] > 0 {
				onward[v] = float64(a.parts[r][v])
				more := mulMin(a.dist[v], a.parts[r][v], math.MaxInt64)
				if more > math.MaxInt64-way {
					return Fraction{0, 1}
				}
				way += more
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
	f := fraction(capacity, way)
	if f.Num > math.MaxInt64/unit {
		return Fraction{int64(math.Ceil(f.Float() * float64(unit) * (1 + 1e-12))), 1}
	}
	return fraction(f.Num*unit, f.Den)
}
