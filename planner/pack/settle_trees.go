package pack

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/topology"
)

// mostSettled bounds the messages of a slice: beyond, pipelines take too long to simulate.
const mostSettled = 20_000

// settle considers settled trees in few units, and in more where these do not come near the bound.
func (s *search) settle() error {
	a := s.arcsOfUse()
	for _, units := range s.units(a) {
		x := newSettling(a, s.rootsOf(units))
		if err := x.settle(float64(units) / s.bound.Rate.Float()); err != nil {
			return err
		}
		p := x.packing(x.trees, units, s.use)
		p.Paths = s.paths(x)
		if s.consider(p); s.best != nil && s.best.Share > nearEnough {
			break
		}
	}
	return nil
}

// units are in how many units of the data of a root, or of all, trees are settled: few, and more.
func (s *search) units(a *arcs) []int {
	if s.o.K > 0 {
		return []int{int(s.o.K)}
	}
	few, most := fewParts, mostUnits
	if n := s.g.Ranks; s.use.PerRoot() {
		most = max(1, min(mostUnits, mostSettled/(n*n)))
		few = min(few, most)
	}
	return slices.Compact([]int{s.fitting(a, few), s.fitting(a, most), most})
}

// mostUnits is in how many units trees are settled at most.
const mostUnits = 32

// fitting is the least number of units, up to one, of which what fits on arcs leaves next to nothing of them unused at the rate of
// the bound; else that which leaves the least.
func (s *search) fitting(a *arcs, most int) int {
	best, least := 1, math.Inf(1)
	for units := 1; units <= most && least > 1-nearEnough; units++ {
		lost := 0.0
		for _, x := range a.list {
			for _, t := range x.takes {
				fit := float64(units) / s.bound.Rate.Float() / t.time
				if whole := math.Floor(fit * (1 + 1e-9)); whole < fit {
					lost = max(lost, 1-whole/fit)
				}
			}
		}
		if lost < least {
			best, least = units, lost
		}
	}
	return best
}

// rootsOf are the roots of units: of an all-reduce, whose trees have no direction, any.
func (s *search) rootsOf(units int) (roots []int32) {
	for range units {
		switch {
		case s.use == AllReduce:
			roots = append(roots, 0)
		case !s.use.PerRoot():
			roots = append(roots, int32(s.root))
		default:
			for r := range int32(s.g.Ranks) {
				roots = append(roots, r)
			}
		}
	}
	return roots
}

// arcsOfUse are what units take along a tree, on the ways that data go.
func (s *search) arcsOfUse() *arcs {
	a := s.arcs()
	switch {
	case s.use == AllReduce:
		return a.both()
	case s.use.up():
		return a.back()
	}
	return a
}

// Separate are trees of an all-reduce for graphs whose links are not as fast both ways: those that sum up, as in a reduce-scatter,
// and those that spread results, as in an all-gather, settled together. Share is that of both, and paths are those of both.
func Separate(t *topology.Topology) (up, down *Packing, err error) {
	g, err := FromTopology(t)
	if err == nil && g.symmetric() {
		err = fmt.Errorf("pack: links are as fast both ways, so that the same trees serve both")
	}
	if err != nil {
		return nil, nil, err
	}
	bound, err := AllReduceBound(g)
	if err != nil {
		return nil, nil, err
	}
	s := newSearch(g, AllGather, 0, Options{}, bound)
	if err := s.transfers(); err != nil {
		return nil, nil, err
	}
	out := s.arcsOfUse()
	in := out.back()
	for _, units := range s.units(out) {
		roots := s.rootsOf(units)
		x := newSettling(out, slices.Concat(roots, roots))
		x.ways = slices.Concat(slices.Repeat([]*arcs{in}, len(roots)), slices.Repeat([]*arcs{out}, len(roots)))
		least := float64(len(roots)) / bound.Rate.Float()
		if err := x.settle(least); err != nil {
			return nil, nil, err
		}
		if share := least / x.full; up == nil || share > up.Share {
			up, down = x.packing(x.trees[:len(roots)], units, ReduceScatter), x.packing(x.trees[len(roots):], units, AllGather)
			up.Share, down.Share = share, share
			up.Paths = s.paths(x)
			down.Paths = up.Paths
		}
	}
	return up, down, nil
}

// packing is trees, those of a root that are alike joined.
func (x *settling) packing(trees []*grown, units int, use Use) *Packing {
	p := &Packing{Use: use, K: int64(units), Trees: make([][]Tree, x.ranks), Method: "settled trees"}
	for i, t := range trees {
		list := p.Trees[x.roots[i]]
		if k := slices.IndexFunc(list, func(o Tree) bool { return slices.Equal(o.Parent, t.parent) }); k >= 0 {
			list[k].Weight++
			continue
		}
		p.Trees[x.roots[i]] = append(list, Tree{1, t.parent})
	}
	if use == AllReduce {
		p.rerootAtCentres()
	}
	return p
}
