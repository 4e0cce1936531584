package pack

import (
	"fmt"
	"slices"

	"railyard/model/topology"
)

// mostSettled bounds the messages of a slice: beyond, pipelines take too long to simulate.
const mostSettled = 20_000

// settle considers settled trees in few units, and in more where these do not come near the bound.
func (s *search) settle() error {
	h := s.hopsOfUse()
	for _, units := range s.units() {
		x := newSettling(h, s.rootsOf(units))
		if err := x.settle(float64(units) / s.bound.Rate.Float()); err != nil {
			return err
		}
		if s.consider(x.packing(x.trees, units, s.use)); s.best != nil && s.best.Share > nearEnough {
			break
		}
	}
	return nil
}

// units are in how many units of the data of a root, or of all, trees are settled.
func (s *search) units() []int {
	switch n := s.g.Ranks; {
	case s.o.K > 0:
		return []int{int(s.o.K)}
	case s.use.PerRoot():
		most := max(1, min(fewParts, mostSettled/(n*n)))
		return slices.Compact([]int{min(2, most), most})
	}
	return []int{fewParts, 4 * fewParts}
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

// hopsOfUse are what units take along a tree, on the ways that data go.
func (s *search) hopsOfUse() *hops {
	h := s.ofTransfers(s.useful())
	switch {
	case s.use == AllReduce:
		return h.both()
	case s.use.up():
		return h.back()
	}
	return h
}

// Separate are trees of an all-reduce for graphs whose links are not as fast both ways: those that sum up, as in a reduce-scatter,
// and those that spread results, as in an all-gather, settled together. Share is that of both.
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
	out := s.hopsOfUse()
	in := out.back()
	for _, units := range s.units() {
		roots := s.rootsOf(units)
		x := newSettling(out, slices.Concat(roots, roots))
		x.ways = slices.Concat(slices.Repeat([]*hops{in}, len(roots)), slices.Repeat([]*hops{out}, len(roots)))
		least := float64(len(roots)) / bound.Rate.Float()
		if err := x.settle(least); err != nil {
			return nil, nil, err
		}
		if share := least / x.full; up == nil || share > up.Share {
			up, down = x.packing(x.trees[:len(roots)], units, ReduceScatter), x.packing(x.trees[len(roots):], units, AllGather)
			up.Share, down.Share = share, share
		}
	}
	return up, down, nil
}

// packing is trees, those of a root that are alike joined.
func (x *settling) packing(trees [][]int32, units int, use Use) *Packing {
	p := &Packing{Use: use, K: int64(units), Trees: make([][]Tree, x.n), Method: "settled trees"}
	for i, parent := range trees {
		list := p.Trees[x.roots[i]]
		if k := slices.IndexFunc(list, func(t Tree) bool { return slices.Equal(t.Parent, parent) }); k >= 0 {
			list[k].Weight++
			continue
		}
		p.Trees[x.roots[i]] = append(list, Tree{1, parent})
	}
	if use == AllReduce {
		p.hangUp()
	}
	return p
}
