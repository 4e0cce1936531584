package pack

import "math"

// prices say how much of each transfer trees take where transfers share links (Garg,
// Könemann, 1998): the spanning tree that is cheapest at the prices of links gets a share,
// and what it loads, in both directions, becomes dearer. Transfers in the proportion in
// which they were chosen come near the optimum of the linear program of all-reduces.
type prices struct {
	n      int
	hops   [][]piece // by pair of ranks u·n+v: what u and v load that exchange data; nil: they cannot
	price  []float64 // by resource
	chosen []float64 // by pair, u < v
	load   []float64
}

const (
	priceRounds = 600
	priceRise   = 0.06
)

// nearEnough is the share of the bound from which on transfers are not shared out anew.
const nearEnough = 0.995

// priced is another pool of transfers, where links are shared and even shares do not come
// near the bound; nil elsewhere.
func (s *search) priced() *Graph {
	if s.g.t == nil || s.g.Direct() || s.best != nil && s.best.Share > nearEnough {
		return nil
	}
	list := s.useful()
	p := &prices{n: s.g.Ranks, hops: make([][]piece, s.g.Ranks*s.g.Ranks), price: make([]float64, s.routes.count), load: make([]float64, s.routes.count)}
	p.chosen = make([]float64, len(p.hops))
	back := map[[2]int32][]piece{}
	for _, t := range list {
		back[[2]int32{t.u, t.v}] = t.pieces
	}
	for _, t := range list {
		if other, ok := back[[2]int32{t.v, t.u}]; ok {
			p.hops[int(t.u)*p.n+int(t.v)] = append(append([]piece(nil), t.pieces...), other...)
		}
	}
	for i := range p.price {
		p.price[i] = 1 / float64(s.routes.capacity(int32(i)))
	}
	for range priceRounds {
		parent, ok := p.cheapest()
		if !ok {
			return nil
		}
		p.choose(parent, s.routes)
	}
	most := 0.0
	for _, x := range p.chosen {
		most = max(most, x)
	}
	var edges []Edge
	for u := range p.n {
		for v := range p.n {
			const steps, least = 27720, 0.004
			if x := p.chosen[min(u, v)*p.n+max(u, v)] / most; u != v && x > least {
				edges = append(edges, Edge{int32(u), int32(v), int64(math.Round(x * steps))})
			}
		}
	}
	g, err := New(p.n, p.n, edges)
	if err != nil {
		return nil
	}
	return g
}

// cheapest is Prim's tree at present prices.
func (p *prices) cheapest() (parent []int, ok bool) {
	parent = make([]int, p.n)
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
			return nil, false
		}
		in[at] = true
		for v := range cost {
			if list := p.hops[at*p.n+v]; !in[v] && list != nil {
				c := 0.0
				for _, x := range list {
					c += p.price[x.resource] * float64(x.num) / float64(x.den)
				}
				if c < cost[v] {
					cost[v], parent[v] = c, at
				}
			}
		}
	}
	return parent, true
}

// choose gives a tree as much as fills its fullest link, and raises prices.
func (p *prices) choose(parent []int, r *routes) {
	clear(p.load)
	for v, u := range parent {
		if u < 0 {
			continue
		}
		for _, x := range p.hops[u*p.n+v] {
			p.load[x.resource] += float64(x.num) / float64(x.den) / float64(r.capacity(x.resource))
		}
	}
	most := 0.0
	for _, x := range p.load {
		most = max(most, x)
	}
	for v, u := range parent {
		if u >= 0 {
			p.chosen[min(u, v)*p.n+max(u, v)] += 1 / most
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
