package pack

import (
	"fmt"
	"math"

	"railyard/internal/maxflow"
	"railyard/model/collective"
	"railyard/model/symmetry"
	"railyard/model/units"
)

// AllReduceBound is a rate of the whole buffer, in bytes/s, that no all-reduce can beat
// without reduction inside switches. Every element takes, whatever the schedule,
//
//   - a message into each part of the ranks but one while it is summed up, and again
//     while the sum is spread: of disjoint sets V₁ … V_t of vertices that hold all
//     ranks, B(V₁) + … + B(V_t) ≥ 2(t−1) times the rate, B being the capacity into a
//     set, and also that out of it;
//   - n−1 messages from ranks to ranks each time, which together have to fit through
//     switches that do not copy;
//   - a way from every rank to every other.
//
// Where links are as fast both ways, the first is exact: an all-reduce needs a spanning
// tree only once, up one direction and down the other, and so many fit (Nash-Williams
// and Tutte, 1961). The least of all partitions is found by a greedy algorithm, a flow
// for each rank (Cunningham, 1985), and Newton's method on the rate. Over direct links that are not as fast both ways, pairs of
// trees say more (see treesBound).
func AllReduceBound(g *Graph) (Result, error) {
	if g.Ranks < 2 {
		return Bound(g)
	}
	best := AllReduceCuts(g)
	for _, h := range []*Graph{g.Reversed(), g} {
		r, err := partitionBound(h)
		if err != nil {
			return Result{}, err
		}
		if r.Rate.Cmp(best.Rate) < 0 {
			best = r
		}
		if g.symmetric() {
			break
		}
	}
	if g.Direct() && !g.symmetric() && best.Rate.Num > 0 {
		a := newArcs(g.Ranks)
		for i, e := range g.Edges {
			a.add(e.From, e.To, []taken{{int32(i), 1 / float64(e.Cap)}})
		}
		if x := fraction(int64(math.Ceil(treesBound(a, collective.AllReduce, 0))), 1); x.Num > 0 && x.Cmp(best.Rate) < 0 {
			best = Result{Rate: x, Cut: "sums along the cheapest trees to a rank, and results along those from it, fill all links"}
		}
	}
	if n := int64(g.Ranks); !g.Direct() {
		total := messageRate(g)
		if x := fraction(total, 2*(n-1)); x.Cmp(best.Rate) < 0 {
			best = Result{Rate: x, Crossing: total, Cut: fmt.Sprintf("all ranks together can exchange only %v", units.Rate(total))}
		}
	}
	best.AlgBW = best.Rate.Float()
	return best, nil
}

// AllReduceCuts is the least of all cuts: a rate that no all-reduce can beat even where
// switches combine and multiply data.
func AllReduceCuts(g *Graph) Result {
	best := BroadcastBound(g, 0)
	if b := BroadcastBound(g.Reversed(), 0); b.Rate.Cmp(best.Rate) < 0 {
		best = b
	}
	return best
}

// partitionBound is the least over all partitions of the ranks of what their parts can
// take in together, over 2(t−1).
func partitionBound(g *Graph) (Result, error) {
	p := &partition{g: g, unit: g.unit(), y: make([]int64, g.Ranks), part: symmetry.NewOrbits(g.Ranks)}
	var total int64
	_, in := g.capacities()
	for _, c := range in {
		total += c / p.unit
	}
	x, parts := fraction(total, int64(2*(g.Ranks-1))), g.Ranks
	for {
		if x.Num > math.MaxInt64/8/int64(g.Ranks) || total > math.MaxInt64/8/x.Den {
			return Result{}, fmt.Errorf("pack: the rates of %d ranks exceed 64-bit arithmetic", g.Ranks)
		}
		cut := p.part
		sum, t := p.least(x)
		if sum >= -2*x.Num {
			p.part = cut
			break
		}
		total, parts = (sum+2*x.Num*int64(t))/x.Den, t
		x = fraction(total, int64(2*(t-1)))
	}
	out := Result{Rate: fraction(x.Num*p.unit, x.Den), Crossing: total * p.unit}
	first := p.members(0)
	switch {
	case parts == g.Ranks:
		out.Cut = fmt.Sprintf("all %d ranks together %s %v", parts, g.into(), units.Rate(out.Crossing))
	case parts == 2:
		out.Cut = fmt.Sprintf("between %s and the others pass only %v, both ways together", g.describe(first), units.Rate(out.Crossing))
	default:
		out.Cut = fmt.Sprintf("%d groups, %s and others, together %s %v", parts, g.describe(first), g.into(), units.Rate(out.Crossing))
	}
	return out, nil
}

// partition looks for the partition of the ranks whose parts take in least.
type partition struct {
	g    *Graph
	unit int64
	y    []int64          // by rank
	part *symmetry.Orbits // the parts
	net  maxflow.Network
}

// least is min Σ (Den·B(Vᵢ) − 2·Num) over all partitions, capacities in units, and the
// number of parts. Rank after rank gets the largest weight with which no set of ranks so
// far outweighs what it can take in; sets that are just outweighed are joined.
func (p *partition) least(x Fraction) (sum int64, parts int) {
	p.part = symmetry.NewOrbits(p.g.Ranks)
	for v := range int32(p.g.Ranks) {
		p.y[v] = p.weigh(v, x)
		for u := range v {
			if p.net.Beyond(u) {
				p.part.Join(int(u), int(v))
			}
		}
	}
	for v, y := range p.y {
		if sum += y; p.part.First(v) == v {
			parts++
		}
	}
	return sum, parts
}

// weigh is min Den·B(S) − 2·Num − y(S∖v) over the sets S that hold v and else only ranks
// before it, and switches. S is what is beyond the cut.
func (p *partition) weigh(v int32, x Fraction) int64 {
	g := p.g
	const all = math.MaxInt64 / 4
	source := int32(g.Vertices)
	p.net.Clear(g.Vertices + 1)
	for _, e := range g.Edges {
		if e.From != v {
			p.net.Arc(e.From, e.To, e.Cap/p.unit*x.Den)
		}
	}
	y := -2 * x.Num
	for u := range int32(g.Ranks) {
		switch {
		case u > v:
			p.net.Arc(source, u, all)
		case u < v && p.y[u] > 0: // outside S, it is missed
			p.net.Arc(u, v, p.y[u])
			y -= p.y[u]
		case u < v && p.y[u] < 0:
			p.net.Arc(source, u, -p.y[u])
		}
	}
	return y + p.net.Flow(source, v, all)
}

// members are the ranks of a part.
func (p *partition) members(first int) []int32 {
	var out []int32
	for r := range p.g.Ranks {
		if p.part.First(r) == first {
			out = append(out, int32(r))
		}
	}
	return out
}

// messageRate is the most that can flow from ranks to ranks, all told, when switches pass
// on no more than they take in.
func messageRate(g *Graph) int64 {
	n := int32(g.Ranks)
	net := maxflow.New(g.Vertices + 2)
	source, sink := int32(g.Vertices), int32(g.Vertices+1)
	for _, e := range g.Edges {
		from, to := e.From, e.To
		if from < n {
			from = source
		}
		if to < n {
			to = sink
		}
		net.Arc(from, to, e.Cap)
	}
	return net.Flow(source, sink, math.MaxInt64)
}
