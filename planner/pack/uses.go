package pack

import (
	"fmt"
	"math"
)

// PackFor looks for trees for a broadcast or a reduce of one root, or for an all-reduce,
// whose roots it chooses: by Edmonds' theorem on the graph of the transfers (see
// transfers), where that is not too large; for an all-reduce also those of all-gathers,
// used both ways. Like Pack, it returns the fastest that it finds, and of equally fast
// ones the lowest, then the fewest trees.
func PackFor(g *Graph, use Use, root int, o Options) (*Packing, error) {
	if use == AllGather {
		return Pack(g, o)
	}
	bound, err := boundFor(g, use, root)
	if err != nil {
		return nil, err
	}
	if g.Ranks < 2 || bound.Rate.Num == 0 {
		return nil, fmt.Errorf("pack: there is nothing to send, or no way to: %s", bound.Cut)
	}
	s := newSearch(g, o, bound)
	if use == AllReduce && s.turned() && (s.best.Height <= 2 || g.Ranks*len(g.Edges) > mostTwice) {
		return s.best, nil
	}
	if err := s.uneven(use, root); err != nil && s.best == nil {
		return nil, err
	}
	if s.best == nil {
		return nil, fmt.Errorf("pack: no trees found")
	}
	if g.t != nil {
		s.best.routes = nil
	}
	return s.best, nil
}

// turned considers the trees of an all-gather both ways and says whether they reach the
// bound.
func (s *search) turned() bool {
	p, err := Pack(s.g, s.o)
	if err != nil {
		return false
	}
	s.routes = p.routes
	defer func(most int64) { s.most = most }(s.most)
	s.most = math.MaxInt64 // of all roots together
	if s.g.t != nil {
		s.routes = topologyRoutes(s.g)
	}
	q := &Packing{Use: AllReduce, K: p.K * int64(s.g.Ranks), Trees: p.Trees, Method: p.Method + ", both ways"}
	if p.Height > 2 { // else they are as low as can be, and look the same from all ranks
		q.hangUp()
	}
	return s.consider(q)
}

// mostTwice is up to how many ranks times edges lower or fewer trees are sought although
// those of an all-gather do.
const mostTwice = 1 << 11

// mostUneven is up to how many ranks times transfers trees with unequal roots are sought.
const mostUneven = 1 << 16

// mostShared is the same where links are shared, up to how many ranks.
const mostShared = 64

// uneven considers trees that do not treat all ranks alike.
func (s *search) uneven(use Use, root int) error {
	even, err := Bound(s.g)
	if err != nil {
		return err
	}
	if err := s.transfers(even.Rate); err != nil {
		return err
	}
	if !s.g.Direct() && s.g.Ranks > mostShared {
		return fmt.Errorf("pack: %d ranks that share links are too many", s.g.Ranks)
	}
	if err := s.fill(); err != nil {
		return err
	}
	if s.g.Ranks*len(s.pool.Edges) > mostUneven {
		return fmt.Errorf("pack: %d transfers between %d ranks are too many", len(s.pool.Edges), s.g.Ranks)
	}
	pool := s.pool
	if use == Reduce {
		pool = pool.Reversed()
	}
	err = s.inParts(func(k int64, effort int) (*Packing, error) {
		if use == AllReduce {
			return spanningTrees(pool, k, effort)
		}
		p, err := arborescences(pool, root, k, effort)
		if p != nil {
			p.Use = use
		}
		return p, err
	})
	if use == AllReduce {
		if priced := s.priced(); priced != nil {
			return s.inParts(func(k int64, effort int) (*Packing, error) { return spanningTrees(priced, k, effort) })
		}
	}
	return err
}
