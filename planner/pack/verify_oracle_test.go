package pack

import (
	"fmt"
	"math/big"

	"railyard/model/collective"
	"railyard/model/units"
)

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

// Verify proves a packing: every tree spans, the weights of each root's trees, or of all,
// sum to K, at Rate no link on the transfers' routes carries more than it can, and Rate
// does not exceed the bound, which is computed anew. root is that of broadcast and reduce.
func (p *Packing) Verify(g *Graph, root int) error {
	if err := p.verifyTrees(g, root); err != nil {
		return err
	}
	if g.Ranks < 2 {
		return nil
	}
	r := p.routes
	if g.t != nil {
		var err error
		if r, err = topologyRoutes(g).along(g.t, p.Paths); err != nil {
			return err
		}
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
	b, err := BoundFor(g, p.Kind, root)
	if err != nil {
		return err
	}
	if b.Rate != p.Bound.Rate || p.Rate.Cmp(b.Rate) > 0 {
		return fmt.Errorf("pack: a rate of %v with a bound of %v", p.Rate, b.Rate)
	}
	return nil
}

// verifyTrees checks their form and weights.
func (p *Packing) verifyTrees(g *Graph, root int) error {
	if len(p.Trees) != g.Ranks {
		return fmt.Errorf("pack: trees for %d roots of %d", len(p.Trees), g.Ranks)
	}
	var all int64
	for r, list := range p.Trees {
		var total int64
		for i, t := range list {
			if len(t.Parent) != g.Ranks || t.Parent[r] != -1 || t.Weight <= 0 {
				return fmt.Errorf("pack: tree %d of %s is malformed", i, g.Name(r))
			}
			if height(t.Parent, int32(r)) < 0 {
				return fmt.Errorf("pack: tree %d of %s does not span", i, g.Name(r))
			}
			total += t.Weight
		}
		if PerRoot(p.Kind) && total != p.K {
			return fmt.Errorf("pack: the trees of %s carry %d of %d parts", g.Name(r), total, p.K)
		}
		if (p.Kind == collective.Broadcast || p.Kind == collective.Reduce) && r != root && total > 0 {
			return fmt.Errorf("pack: a tree of %s, which is not the root", g.Name(r))
		}
		all += total
	}
	if !PerRoot(p.Kind) && all != p.K {
		return fmt.Errorf("pack: the trees carry %d of %d parts", all, p.K)
	}
	return nil
}
