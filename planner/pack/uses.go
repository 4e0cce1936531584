package pack

import (
	"fmt"

	"railyard/model/collective"
)

// PackFor looks for trees that reach the bound of a collective; for all-reduces, whose roots it chooses, also
// those of all-gathers, used both ways. It returns the fastest that it finds; of equally fast ones the
// one with the lowest, then the fewest trees.
func PackFor(g *Graph, kind collective.Kind, root int, o Options) (*Packing, error) {
	bound, err := BoundFor(g, kind, root)
	switch {
	case err != nil:
		return nil, err
	case g.Ranks < 2 && PerRoot(kind):
		return &Packing{Kind: kind, K: 1, Trees: [][]Tree{{{Weight: 1, Parent: []int32{-1}}}}, Share: 1, Bound: bound}, nil
	case g.Ranks < 2 || bound.Rate.Num == 0:
		return nil, fmt.Errorf("pack: there is nothing to send, or not every rank can be reached: %s", bound.Cut)
	case g.Ranks > mostRanks:
		return nil, fmt.Errorf("pack: %d ranks are too many for trees; the most is %d", g.Ranks, mostRanks)
	}
	s := newSearch(g, kind, root, o, bound)
	if err := s.transfers(); err != nil {
		return nil, err
	}
	if kind == collective.AllReduce && s.turned() && s.best.Height <= 2 {
		return s.found()
	}
	if kind == collective.AllReduce && s.consider(weightedStars(g, bound.Rate)) {
		return s.found()
	}
	look := s.uneven
	if PerRoot(kind) {
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
		return ForTopology(s.g.t, collective.AllGather, 0, Options{Work: s.o.Work})
	}
	return Pack(s.g, s.o)
}

// bothWays are the trees of an all-gather as those of an all-reduce.
func (p *Packing) bothWays() *Packing {
	q := &Packing{Kind: collective.AllReduce, K: p.K * int64(len(p.Trees)), Trees: p.Trees, Method: p.Method + ", both ways"}
	if p.Height > 2 { // else they are as low as can be, and look the same from all ranks
		q.rerootAtCentres()
	}
	return q
}

// uneven considers trees that do not treat all ranks alike.
func (s *search) uneven() error {
	if s.kind == collective.AllReduce {
		return s.exactly(spanningTrees)
	}
	return s.exactly(func(g *Graph, k int64, effort int) (*Packing, error) { return arborescences(g, s.root, k, effort) })
}

// BoundFor is the bound of a collective on the graph that transfers use, and the cut that says why; root is that of rooted ones. What goes
// to a root, or is summed up, is what comes from there, backwards.
func BoundFor(g *Graph, kind collective.Kind, root int) (Result, error) {
	switch kind {
	case collective.ReduceScatter, collective.Reduce, collective.Gather:
		g = g.Reversed()
	}
	switch kind {
	case collective.Broadcast, collective.Reduce:
		return BroadcastBound(g, root), nil
	case collective.Scatter, collective.Gather:
		return ScatterBound(g, root)
	case collective.AllReduce:
		return AllReduceBound(g)
	}
	return Bound(g)
}
