package pack

import "fmt"

// PackFor looks for trees that reach the bound of a use; for all-reduces, whose roots it chooses, also
// those of all-gathers, used both ways. It returns the fastest that it finds; of equally fast ones the
// one with the lowest, then the fewest trees.
func PackFor(g *Graph, use Use, root int, o Options) (*Packing, error) {
	bound, err := boundFor(g, use, root)
	switch {
	case err != nil:
		return nil, err
	case g.Ranks < 2 && use.PerRoot():
		return &Packing{Use: use, K: 1, Trees: [][]Tree{{{Weight: 1, Parent: []int32{-1}}}}, Share: 1, Bound: bound}, nil
	case g.Ranks < 2 || bound.Rate.Num == 0:
		return nil, fmt.Errorf("pack: there is nothing to send, or not every rank can be reached: %s", bound.Cut)
	case g.Ranks > mostRanks:
		return nil, fmt.Errorf("pack: %d ranks are too many for trees; the most is %d", g.Ranks, mostRanks)
	}
	s := newSearch(g, use, root, o, bound)
	if err := s.transfers(); err != nil {
		return nil, err
	}
	if use == AllReduce && s.turned() && s.best.Height <= 2 {
		return s.found()
	}
	if use == AllReduce && s.consider(weightedStars(g, bound.Rate)) {
		return s.found()
	}
	look := s.uneven
	if use.PerRoot() {
		look = s.packAllRanks
	}
	if err := look(); err != nil && s.best == nil {
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
	if len(p.Paths) > 0 {
		return false // of data that spread, not of those that are summed up beside them
	}
	reached := s.keep(p.bothWays(), p.K <= fewParts)
	if p.Few != nil && len(p.Few.Paths) == 0 {
		s.keep(p.Few.bothWays(), true)
	}
	return reached
}

func (s *search) allGather() (*Packing, error) {
	if s.g.t != nil && !s.g.backwards {
		return ForTopology(s.g.t, AllGather, 0, Options{Work: s.o.Work})
	}
	return Pack(s.g, s.o)
}

// bothWays are the trees of an all-gather as those of an all-reduce.
func (p *Packing) bothWays() *Packing {
	q := &Packing{Use: AllReduce, K: p.K * int64(len(p.Trees)), Trees: p.Trees, Method: p.Method + ", both ways"}
	if p.Height > 2 { // else they are as low as can be, and look the same from all ranks
		q.rerootAtCentres()
	}
	return q
}

// uneven considers trees that do not treat all ranks alike.
func (s *search) uneven() error {
	if s.use == AllReduce {
		return s.exactly(spanningTrees)
	}
	return s.exactly(func(g *Graph, k int64, effort int) (*Packing, error) { return arborescences(g, s.root, k, effort) })
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
	case ReduceScatter:
		return Bound(g.Reversed())
	}
	return Bound(g)
}
