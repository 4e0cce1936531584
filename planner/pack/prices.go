package pack

import (
	"math"
	"slices"
)

// prices say how much of each transfer trees take where transfers share links (Garg,
// Könemann, 1998): the tree that is cheapest at the prices of links gets a share, and what it
// loads becomes dearer. Transfers in the proportion in which they were chosen come near the
// optimum of the linear program: for all-reduces of spanning trees, used both ways; for
// broadcasts and reduces of trees from, or to, their root; for all-gathers of one tree from
// every rank, or of many ranks of spanning trees instead, which are found in less time.
type prices struct {
	n      int
	use    Use
	root   int
	both   bool      // trees are used both ways
	hops   [][]piece // by pair of ranks u·n+v: what is loaded where u is v's parent; nil: it cannot be
	price  []float64 // by resource
	chosen []float64 // by pair
	load   []float64
}

const (
	priceRounds = 600
	priceRise   = 0.06
)

// mostRooted is up to how many ranks the trees of given roots are packed once more: of 32, four
// boxes with a part lost, that took a second for one root and found nothing better.
const mostRooted = 24

// nearEnough is the share of the bound from which on transfers are not shared out anew.
const nearEnough = 0.995

// priced is another pool of transfers, where links are shared and even shares do not come
// near the bound; nil elsewhere.
func (s *search) priced(use Use, root int) *Graph {
	if s.g.t == nil || s.g.Direct() || s.best != nil && s.best.Share > nearEnough || use.rooted() && s.g.Ranks > mostRooted && !s.thin {
		return nil
	}
	list := s.useful()
	p := &prices{n: s.g.Ranks, use: use, root: root, both: use == AllReduce || use == AllGather && s.g.Ranks > mostRooted,
		price: make([]float64, s.routes.count), load: make([]float64, s.routes.count)}
	p.hops, p.chosen = p.hopsOf(list), make([]float64, p.n*p.n)
	for i := range p.price {
		p.price[i] = 1 / float64(s.routes.capacity(int32(i)))
	}
	for range priceRounds {
		trees := p.cheapest()
		if trees == nil {
			return nil
		}
		p.choose(trees, s.routes)
	}
	most := 0.0
	for _, x := range p.chosen {
		most = max(most, x)
	}
	var edges []Edge
	for i, x := range p.chosen {
		const steps, least = 27720, 0.004
		u, v := int32(i/p.n), int32(i%p.n)
		if use == Reduce {
			u, v = v, u // transfers go from child to parent
		}
		if x /= most; x > least {
			edges = append(edges, Edge{u, v, int64(math.Round(x * steps))})
		}
	}
	g, err := New(p.n, p.n, edges)
	if err != nil {
		return nil
	}
	return g
}

// hopsOf are what transfers load that trees of a use have between a parent and its child.
func (p *prices) hopsOf(list []transfer) [][]piece {
	n := p.n
	ways, hops := make([][]piece, n*n), make([][]piece, n*n)
	for _, t := range list {
		ways[int(t.u)*n+int(t.v)] = t.pieces
	}
	for i := range hops {
		down, up := ways[i], ways[i%n*n+i/n]
		switch {
		case p.use == Reduce:
			hops[i] = up
		case !p.both:
			hops[i] = down
		case down != nil && up != nil:
			hops[i] = slices.Concat(down, up)
		}
	}
	return hops
}

// cheapest are the trees that cost least at present prices: one, or where every rank is
// root of its own data one from each; nil where there are none.
func (p *prices) cheapest() [][]int {
	roots := []int{p.root}
	switch {
	case p.both:
		return p.spanning()
	case p.use == AllGather:
		roots = nil
		for r := range p.n {
			roots = append(roots, r)
		}
	}
	cost := make([][]float64, p.n)
	for u := range cost {
		cost[u] = make([]float64, p.n)
		for v := range cost[u] {
			cost[u][v] = p.cost(p.hops[u*p.n+v])
		}
	}
	var trees [][]int
	for _, root := range roots {
		parent := cheapestFrom(root, cost)
		if parent == nil {
			return nil
		}
		trees = append(trees, parent)
	}
	return trees
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

// spanning is Prim's tree.
func (p *prices) spanning() [][]int {
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
	return [][]int{parent}
}

// choose gives trees as much as fills their fullest link, and raises prices.
func (p *prices) choose(trees [][]int, r *routes) {
	clear(p.load)
	hops := func(visit func(u, v int)) {
		for _, parent := range trees {
			for v, u := range parent {
				if u >= 0 {
					visit(u, v)
				}
			}
		}
	}
	hops(func(u, v int) {
		for _, x := range p.hops[u*p.n+v] {
			p.load[x.resource] += float64(x.num) / float64(x.den) / float64(r.capacity(x.resource))
		}
	})
	most := 0.0
	for _, x := range p.load {
		most = max(most, x)
	}
	hops(func(u, v int) {
		p.chosen[u*p.n+v] += 1 / most
		if p.both {
			p.chosen[v*p.n+u] += 1 / most
		}
	})
	total := 0.0
	for i, x := range p.load {
		p.price[i] *= math.Exp(priceRise * x / most)
		total += p.price[i]
	}
	for i := range p.price { // else they would grow beyond all numbers
		p.price[i] /= total
	}
}
