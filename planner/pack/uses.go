package pack

import "fmt"

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
		return s.found()
	}
	if use == AllReduce && s.consider(weightedStars(g, bound.Rate)) {
		return s.found()
	}
	if err := s.uneven(use, root); err != nil && s.best == nil {
		return nil, err
	}
	return s.found()
}

// turned considers the trees of an all-gather both ways and says whether they reach the
// bound.
func (s *search) turned() bool {
	p, err := s.allGather()
	if err != nil {
		return false
	}
	s.routes = p.routes
	if s.g.t != nil {
		s.routes = topologyRoutes(s.g)
	}
	reached := s.keep(p.bothWays(), p.K <= fewParts)
	if p.Few != nil {
		s.keep(p.Few.bothWays(), true)
	}
	return reached
}

func (s *search) allGather() (*Packing, error) {
	if s.g.t != nil && !s.g.backwards && s.o == (Options{Effort: s.o.Effort}) {
		return ForTopology(s.g.t, AllGather, 0)
	}
	return Pack(s.g, s.o)
}

// bothWays are the trees of an all-gather as those of an all-reduce.
func (p *Packing) bothWays() *Packing {
	q := &Packing{Use: AllReduce, K: p.K * int64(len(p.Trees)), Trees: p.Trees, Method: p.Method + ", both ways"}
	if p.Height > 2 { // else they are as low as can be, and look the same from all ranks
		q.hangUp()
	}
	return q
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
	if err := s.transfers(); err != nil {
		return err
	}
	if !s.g.Direct() && s.g.Ranks > mostShared {
		return fmt.Errorf("pack: %d ranks that share links are too many", s.g.Ranks)
	}
	if err := s.fill(); err != nil {
		return err
	}
	if s.g.Ranks*len(s.pool.Edges) > mostUneven && s.g.t != nil && !s.g.Direct() {
		s.thin, s.pool = true, nil
		if err := s.fill(); err != nil {
			return err
		}
	}
	if s.g.Ranks*len(s.pool.Edges) > mostUneven {
		return fmt.Errorf("pack: %d transfers between %d ranks are too many", len(s.pool.Edges), s.g.Ranks)
	}
	if use == AllReduce {
		return s.inPools(use, root, spanningTrees)
	}
	return s.inPools(use, root, func(pool *Graph, k int64, effort int) (*Packing, error) {
		if use == Reduce {
			pool = pool.Reversed()
		}
		p, err := arborescences(pool, root, k, effort)
		if p != nil {
			p.Use = use
		}
		return p, err
	})
}

// boundFor is the bound of a use.
func boundFor(g *Graph, use Use, root int) (Result, error) {
	switch use {
	case Broadcast:
		return BroadcastBound(g, root), nil
	case Reduce:
		return BroadcastBound(g.Reversed(), root), nil
	case AllReduce:
		return AllReduceBound(g)
	}
	return Bound(g)
}
