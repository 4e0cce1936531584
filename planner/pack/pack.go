package pack

import (
	"cmp"
	"fmt"
	"math"
)

// Options limit the search for trees.
type Options struct {
	K     int64 // in how many parts each root's data may go, or a divisor of it; 0: as many as it takes
	Few   bool  // at most eight parts, as many of them as do best
	Ranks int   // up to how many ranks exact packing is tried; 0: 64, on sparse graphs more
	// Effort is for how long lower trees are sought where they come from exact packing, in
	// arcs that flows look at; the first try is always finished. 0: ten million, 0.1 s.
	Effort int
}

// Pack looks for trees that reach the bound: stars; rails and stars for nodes of GPUs;
// paths along the dimensions of meshes and tori; else, for graphs that are not too
// large, trees by Edmonds' theorem, which always reach the bound of the graph of the
// transfers that are used (see transfers). It returns the fastest that it finds; of
// equally fast ones the one with the lowest, then the fewest trees. Where the bound
// is not reached, Packing.Note says what is in the way.
func Pack(g *Graph, o Options) (*Packing, error) {
	bound, err := Bound(g)
	if err != nil {
		return nil, err
	}
	if g.Ranks < 2 {
		return &Packing{K: 1, Trees: [][]Tree{{{1, []int32{-1}}}}, Share: 1, Bound: bound}, nil
	}
	if bound.Rate.Num == 0 {
		return nil, fmt.Errorf("pack: not every rank can be reached: %s", bound.Cut)
	}
	if g.Ranks > mostRanks {
		return nil, fmt.Errorf("pack: %d ranks are too many for trees; the most is %d", g.Ranks, mostRanks)
	}
	s := newSearch(g, o, bound)
	best, err := s.run()
	if err == nil && g.t != nil {
		best.routes = nil // many; Verify asks the router anew
	}
	return best, err
}

// mostRanks is up to how many ranks trees are sought: there are as many trees of as many
// ranks.
const mostRanks = 4096

// search keeps the best packing so far.
type search struct {
	g      *Graph
	o      Options
	bound  Result
	routes *routes
	pool   *Graph // the transfers to choose from
	best   *Packing
	most   int64 // parts
}

func newSearch(g *Graph, o Options, bound Result) *search {
	if o.Effort == 0 {
		o.Effort = 10_000_000
	}
	s := &search{g: g, o: o, bound: bound, most: math.MaxInt64}
	if o.Few {
		s.most = fewParts
	}
	return s
}

func (s *search) run() (*Packing, error) {
	if err := s.transfers(s.bound.Rate); err != nil {
		return nil, err
	}
	if !starsFall(s.g, s.bound.Rate, s.routes) && s.consider(stars(s.g.Ranks)) {
		return s.best, nil
	}
	if b, ok := boxOf(s.g); ok {
		for _, turned := range []bool{false, true} {
			if p, err := boxes(b, s.routes, turned); err == nil && s.consider(p) {
				return s.best, nil
			}
		}
	}
	for _, p := range grids(s.g) {
		if s.consider(p) {
			return s.best, nil
		}
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	most := s.o.Ranks
	if most == 0 {
		most = max(64, 80_000/len(s.pool.Edges)) // a second or two
	}
	if s.g.Ranks <= most {
		grow := func(pool *Graph) error {
			return s.inParts(func(k int64, effort int) (*Packing, error) { return edmonds(pool, k, effort) })
		}
		if err := grow(s.pool); err != nil && s.best == nil {
			return nil, err
		}
		if pool := s.priced(); pool != nil {
			grow(pool) // what it does not find is no loss
		}
	} else {
		k := fewParts
		if s.o.K > 0 {
			k = int(s.o.K)
		}
		s.consider(balanced(s.pool, k))
	}
	if s.best == nil {
		return nil, fmt.Errorf("pack: no trees found")
	}
	return s.best, nil
}

// inParts packs with as many parts as it takes, and with fewer, which may do where other
// links than those of the transfers are scarce.
func (s *search) inParts(pack func(k int64, effort int) (*Packing, error)) error {
	most := int64(fewParts)
	if !s.o.Few {
		p, err := pack(s.o.K, s.o.Effort)
		if err != nil {
			return err
		}
		if s.consider(p) && (s.g.Direct() || s.g.Ranks > mostLower) {
			return nil // with fewer parts, trees that do the same may be lower, but not on direct links
		}
		most = min(most, p.K-1)
	}
	for k := int64(1); s.o.K == 0 && k <= most; k++ {
		if p, err := pack(k, s.o.Effort/fewParts); err == nil {
			s.consider(p)
		}
	}
	return nil
}

// mostLower is up to how many ranks lower trees are sought where the bound is reached.
const mostLower = 16

// fewParts is up to how many parts are tried where the bound takes more, and how many
// balanced trees a root has.
const fewParts = 8

// consider keeps p if it is faster, or as fast with lower or fewer trees, and says whether
// the bound is reached.
func (s *search) consider(p *Packing) bool {
	if p == nil || p.K > s.most || s.o.K > 0 && s.o.K%p.K != 0 {
		return false
	}
	if p.evaluate(s.bound, s.routes) != nil {
		return false // some transfer has no route
	}
	better := s.best == nil
	if !better {
		better = cmp.Or(p.Rate.Cmp(s.best.Rate), s.best.Height-p.Height, s.best.Count()-p.Count()) > 0
	}
	if better {
		s.best = p
	}
	return s.best.Rate == s.bound.Rate
}
