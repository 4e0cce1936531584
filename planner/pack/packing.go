package pack

import (
	"fmt"
	"math"
	"math/big"

	"railyard/model/topology"
	"railyard/model/units"
)

// Tree is a spanning out-tree of a root: Parent[v] is the rank that sends the root's
// data to v; −1 at the root itself.
type Tree struct {
	Weight int64 // how many of the root's Packing.K equal parts it carries
	Parent []int32
}

// Packing is a set of trees for every root that are used at once.
type Packing struct {
	K      int64    // parts of each root's data; the weights of each root's trees sum to it
	Trees  [][]Tree // by root
	Rate   Fraction // bytes/s for each root when the fullest link is full
	AlgBW  float64  // bytes/s: Rate times the number of ranks
	Bound  Result   // what no packing can beat
	Share  float64  // Rate over Bound.Rate
	Height int      // of the highest tree, in hops
	Method string   // how the trees were found
	Note   string   // why the bound is not reached; "" where it is

	routes *routes
}

// Count is the number of trees.
func (p *Packing) Count() int {
	n := 0
	for _, list := range p.Trees {
		n += len(list)
	}
	return n
}

// piece is the share of a transfer between two ranks that crosses a resource.
type piece struct {
	resource int32
	num, den int64
}

// routes say what a transfer between two ranks loads: the links of the route that the
// runtime takes, or the edges of a graph made by hand.
type routes struct {
	name     func(int32) string
	capacity func(int32) int64
	count    int
	find     func(u, v int32) ([]piece, error)
	known    map[int64][]piece
}

func (r *routes) of(u, v int32) ([]piece, error) {
	key := int64(u)<<32 | int64(v)
	if p, ok := r.known[key]; ok {
		return p, nil
	}
	p, err := r.find(u, v)
	if err == nil {
		r.known[key] = p
	}
	return p, err
}

// topologyRoutes are those of the router, except where it goes over a PCIe that the graph
// does not count.
func topologyRoutes(g *Graph) *routes {
	t := g.t
	router := topology.NewRouter(t)
	return &routes{
		name:     func(i int32) string { return t.LinkName(topology.LinkID(i)) },
		capacity: func(i int32) int64 { return int64(t.Rate(topology.LinkID(i))) },
		count:    len(t.Links()),
		known:    map[int64][]piece{},
		find: func(u, v int32) ([]piece, error) {
			route, err := router.Route(int(u), int(v))
			if err != nil {
				return nil, err
			}
			if k := route.Kind; k > topology.Switched && k < topology.Net && !g.host[t.NodeOf(int(u))] {
				return nil, fmt.Errorf("pack: %s reaches %s over PCIe only", g.Name(int(u)), g.Name(int(v)))
			}
			out := make([]piece, len(route.Hops))
			for i, h := range route.Hops {
				out[i] = piece{int32(h.Link), h.Num, h.Den}
			}
			return out, nil
		},
	}
}

// splitRoutes spread a transfer over the paths that edge splitting found.
func splitRoutes(g *Graph, s *split) *routes {
	return &routes{
		name:     func(i int32) string { return g.Name(int(g.Edges[i].From)) + "->" + g.Name(int(g.Edges[i].To)) },
		capacity: func(i int32) int64 { return g.Edges[i].Cap },
		count:    len(g.Edges),
		known:    map[int64][]piece{},
		find: func(u, v int32) ([]piece, error) {
			list, total := s.between(u, v)
			if total == 0 {
				return nil, fmt.Errorf("pack: there is no path from %s to %s", g.Name(int(u)), g.Name(int(v)))
			}
			return list, nil
		},
	}
}

// sum is a load: an exact fraction that grows.
type sum struct {
	num, den int64
	big      *big.Rat // once 64 bits do not suffice
}

func (s *sum) add(num, den int64) {
	if s.big == nil {
		if s.den == 0 {
			s.den = 1
		}
		if s.den == den && s.num < math.MaxInt64-num {
			s.num += num
			return
		}
		g := gcd(s.den, den)
		if a, b := mulMin(s.num, den/g, math.MaxInt64/4), mulMin(num, s.den/g, math.MaxInt64/4); a < math.MaxInt64/4 && b < math.MaxInt64/4 {
			if d := mulMin(s.den/g, den, math.MaxInt64/4); d < math.MaxInt64/4 {
				f := fraction(a+b, d)
				s.num, s.den = f.Num, f.Den
				return
			}
		}
		s.big = big.NewRat(s.num, s.den)
	}
	s.big.Add(s.big, big.NewRat(num, den))
}

func (s *sum) zero() bool { return s.big == nil && s.num == 0 }

func (s *sum) rat() *big.Rat {
	switch {
	case s.big != nil:
		return s.big
	case s.den == 0:
		return new(big.Rat)
	}
	return big.NewRat(s.num, s.den)
}

// pairs are weights of transfers by ordered pair of ranks.
type pairs struct {
	n      int
	weight []int64
}

func newPairs(n int) *pairs { return &pairs{n, make([]int64, n*n)} }

func (p *pairs) add(u, v int32, w int64) { p.weight[int(u)*p.n+int(v)] += w }

// load adds up what the transfers put on each resource.
func (r *routes) load(p *pairs) ([]sum, error) {
	out := make([]sum, r.count)
	for i, w := range p.weight {
		if w == 0 {
			continue
		}
		list, err := r.of(int32(i/p.n), int32(i%p.n))
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			num, den := h.num, h.den
			if g := gcd(w, den); g > 1 {
				den /= g
				num *= w / g
			} else {
				num *= w
			}
			out[h.resource].add(num, den)
		}
	}
	return out, nil
}

// rate is how fast one unit of weight can go, and which resource is then full.
func (r *routes) rate(p *pairs) (*big.Rat, int32, error) {
	loads, err := r.load(p)
	if err != nil {
		return nil, 0, err
	}
	var best *big.Rat
	full := int32(-1)
	for i := range loads {
		if loads[i].zero() {
			continue
		}
		x := new(big.Rat).SetInt64(r.capacity(int32(i)))
		if x.Quo(x, loads[i].rat()); best == nil || x.Cmp(best) < 0 {
			best, full = x, int32(i)
		}
	}
	if best == nil {
		return nil, 0, fmt.Errorf("pack: nothing is sent")
	}
	return best, full, nil
}

// checkPaths proves that what a transfer loads are paths between its ranks: all of it
// leaves the one and comes to the other, and switches send on what they take in.
func (r *routes) checkPaths(g *Graph, w *pairs) error {
	balance := make([]big.Rat, g.Vertices)
	for i, weight := range w.weight {
		if weight == 0 {
			continue
		}
		u, v := int32(i/w.n), int32(i%w.n)
		list, err := r.of(u, v)
		if err != nil {
			return err
		}
		balance[u].SetInt64(1)
		balance[v].SetInt64(-1)
		for _, p := range list {
			e, x := g.Edges[p.resource], big.NewRat(p.num, p.den)
			balance[e.From].Sub(&balance[e.From], x)
			balance[e.To].Add(&balance[e.To], x)
		}
		for k := range balance {
			if balance[k].Sign() != 0 {
				return fmt.Errorf("pack: the paths from %s to %s break off at %s", g.Name(int(u)), g.Name(int(v)), g.Name(k))
			}
		}
	}
	return nil
}

// toFraction rounds down where 64 bits do not suffice.
func toFraction(x *big.Rat) Fraction {
	if x.Num().IsInt64() && x.Denom().IsInt64() {
		return Fraction{x.Num().Int64(), x.Denom().Int64()}
	}
	den := int64(1 << 20)
	y := new(big.Int).Mul(x.Num(), big.NewInt(den))
	y.Quo(y, x.Denom())
	return fraction(y.Int64(), den)
}

// traffic is what the trees send between each pair of ranks.
func (p *Packing) traffic() *pairs {
	w := newPairs(len(p.Trees))
	for _, list := range p.Trees {
		for _, t := range list {
			for v, u := range t.Parent {
				if u >= 0 {
					w.add(u, int32(v), t.Weight)
				}
			}
		}
	}
	return w
}

// evaluate fills in what follows from the trees.
func (p *Packing) evaluate(bound Result, r *routes) error {
	p.routes = r
	p.Bound = bound
	per, full, err := r.rate(p.traffic())
	if err != nil {
		return err
	}
	p.Rate = toFraction(per.Mul(per, big.NewRat(p.K, 1)))
	p.AlgBW = p.Rate.Float() * float64(len(p.Trees))
	p.Share = p.Rate.Float() / bound.Rate.Float()
	p.Height = 0
	for root, list := range p.Trees {
		for _, t := range list {
			p.Height = max(p.Height, height(t.Parent, int32(root)))
		}
	}
	p.Note = ""
	if p.Rate != bound.Rate {
		p.Note = fmt.Sprintf("%.2f%% of the bound: on the routes that transfers take, these trees fill %s (%v) first", 100*p.Share, r.name(full), units.Rate(r.capacity(full)))
	}
	return nil
}

// height is that of a tree; −1 where it does not span or is no tree.
func height(parent []int32, root int32) int {
	depth := make([]int32, len(parent))
	var most int32
	for v := range parent {
		// Walk up to a vertex whose depth is known, then down again.
		d, u := int32(0), int32(v)
		for u != root && depth[u] == 0 {
			if d++; int(d) >= len(parent) || parent[u] < 0 || int(parent[u]) >= len(parent) {
				return -1
			}
			u = parent[u]
		}
		d += depth[u]
		most = max(most, d)
		for u = int32(v); u != root && depth[u] == 0; u = parent[u] {
			depth[u] = d
			d--
		}
	}
	return int(most)
}

// Verify proves a packing: every tree spans, each root's weights sum to K, at Rate no
// link on the transfers' routes carries more than it can, and Rate does not exceed the
// bound, which is computed anew.
func (p *Packing) Verify(g *Graph) error {
	if len(p.Trees) != g.Ranks {
		return fmt.Errorf("pack: trees for %d roots of %d", len(p.Trees), g.Ranks)
	}
	for root, list := range p.Trees {
		var total int64
		for i, t := range list {
			if len(t.Parent) != g.Ranks || t.Parent[root] != -1 || t.Weight <= 0 {
				return fmt.Errorf("pack: tree %d of %s is malformed", i, g.Name(root))
			}
			if height(t.Parent, int32(root)) < 0 {
				return fmt.Errorf("pack: tree %d of %s does not span", i, g.Name(root))
			}
			total += t.Weight
		}
		if total != p.K {
			return fmt.Errorf("pack: the trees of %s carry %d of %d parts", g.Name(root), total, p.K)
		}
	}
	if g.Ranks < 2 {
		return nil
	}
	r := p.routes
	if g.t != nil {
		r = topologyRoutes(g)
	}
	w := p.traffic()
	if g.t == nil {
		if err := r.checkPaths(g, w); err != nil {
			return err
		}
	}
	loads, err := r.load(w)
	if err != nil {
		return err
	}
	per := big.NewRat(p.Rate.Num, p.Rate.Den)
	per.Quo(per, big.NewRat(p.K, 1))
	for i := range loads {
		if !loads[i].zero() && new(big.Rat).Mul(loads[i].rat(), per).Cmp(new(big.Rat).SetInt64(r.capacity(int32(i)))) > 0 {
			return fmt.Errorf("pack: %s carries more than %v", r.name(int32(i)), units.Rate(r.capacity(int32(i))))
		}
	}
	b, err := Bound(g)
	if err != nil {
		return err
	}
	if b.Rate != p.Bound.Rate || p.Rate.Cmp(b.Rate) > 0 {
		return fmt.Errorf("pack: a rate of %v with a bound of %v", p.Rate, b.Rate)
	}
	return nil
}
