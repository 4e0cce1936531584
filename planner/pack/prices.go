package pack

import (
	"math"
	"slices"
)

// prices say how much of each transfer the spanning trees of an all-reduce take where transfers share
// links (Garg, Könemann, 1998): the tree that is cheapest at the prices of links gets a share, and what
// it loads becomes dearer. Transfers in the proportion in which they were chosen come near the
// optimum of the linear program.
type prices struct {
	n      int
	hops   [][]piece // by pair of ranks u·n+v: what both ways load; nil: there are not both
	price  []float64 // by resource
	chosen []float64 // by pair
	load   []float64
}

const (
	priceRounds = 600
	priceRise   = 0.06
)

// nearEnough is the share of the bound from which on transfers are not shared out anew.
const nearEnough = 0.995

// priced is another pool of transfers for an all-reduce, where links are shared and even shares do not
// come near the bound; nil elsewhere.
func (s *search) priced() *Graph {
	if s.use != AllReduce || s.g.t == nil || s.g.Direct() || s.best != nil && s.best.Share > nearEnough {
		return nil
	}
	n := s.g.Ranks
	p := &prices{n: n, hops: bothHops(n, s.useful()), price: make([]float64, s.routes.count), chosen: make([]float64, n*n),
		load: make([]float64, s.routes.count)}
	for i := range p.price {
		p.price[i] = 1 / float64(s.routes.capacity(int32(i)))
	}
	for range priceRounds {
		tree := p.spanning()
		if tree == nil {
			return nil
		}
		p.choose(tree, s.routes)
	}
	most := slices.Max(p.chosen)
	var edges []Edge
	for i, x := range p.chosen {
		const steps, least = 27720, 0.004
		if x /= most; x > least {
			edges = append(edges, Edge{int32(i / n), int32(i % n), int64(math.Round(x * steps))})
		}
	}
	g, err := New(n, n, edges)
	if err != nil {
		return nil
	}
	return g
}

// bothHops are what transfers load, both ways together.
func bothHops(n int, list []transfer) [][]piece {
	ways, hops := make([][]piece, n*n), make([][]piece, n*n)
	for _, t := range list {
		ways[int(t.u)*n+int(t.v)] = t.pieces
	}
	for i, there := range ways {
		if back := ways[i%n*n+i/n]; there != nil && back != nil {
			hops[i] = slices.Concat(there, back)
		}
	}
	return hops
}

// cost is that of a hop at present prices; infinite where there is none.
func (p *prices) cost(hop []piece) (c float64) {
	if hop == nil {
		return math.Inf(1)
	}
	for _, x := range hop {
		c += p.price[x.resource] * float64(x.num) / float64(x.den)
	}
	return c
}

// spanning is Prim's tree; nil where there is none.
func (p *prices) spanning() []int {
	parent := make([]int, p.n)
	cost := make([]float64, p.n)
	in := make([]bool, p.n)
	for v := range cost {
		cost[v], parent[v] = math.Inf(1), -1
	}
	cost[0] = 0
	for range p.n {
		at := -1
		for v := range cost {
			if !in[v] && (at < 0 || cost[v] < cost[at]) {
				at = v
			}
		}
		if math.IsInf(cost[at], 1) {
			return nil
		}
		in[at] = true
		for v := range cost {
			if c := p.cost(p.hops[at*p.n+v]); !in[v] && c < cost[v] {
				cost[v], parent[v] = c, at
			}
		}
	}
	return parent
}

// choose gives a tree as much as fills its fullest link, and raises prices.
func (p *prices) choose(parent []int, r *routes) {
	clear(p.load)
	for v, u := range parent {
		if u >= 0 {
			for _, x := range p.hops[u*p.n+v] {
				p.load[x.resource] += float64(x.num) / float64(x.den) / float64(r.capacity(x.resource))
			}
		}
	}
	most := slices.Max(p.load)
	for v, u := range parent {
		if u >= 0 {
			p.chosen[u*p.n+v] += 1 / most
			p.chosen[v*p.n+u] += 1 / most
		}
	}
	total := 0.0
	for i, x := range p.load {
		p.price[i] *= math.Exp(priceRise * x / most)
		total += p.price[i]
	}
	for i := range p.price { // else they would grow beyond all numbers
		p.price[i] /= total
	}
}
