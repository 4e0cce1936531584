package pack

import (
	"railyard/model/collective"
	"railyard/model/units"
)

// weightedStars are stars for an all-reduce whose roots have the more data the more their
// links can carry, for ranks that reach all others at once. All ranks pass on W, what all
// stars carry, once each way; the root of a star of weight w that of n−2 others more. So at
// a rate of x for W, a rank has cap − x left for its own star, and where the links of ranks
// are what limits, the weights cap − x fill them. Nil where none has anything left.
func weightedStars(g *Graph, bound Fraction) *Packing {
	out, in := g.capacities()
	p := stars(g.Ranks)
	p.Kind, p.K, p.Method = collective.AllReduce, 0, "weighted stars"
	unit := units.GCD(g.unit(), bound.Num)
	var common int64
	for r := range p.Trees {
		left := mulMin(min(in[r], out[r])/unit, bound.Den, mostLeft) - bound.Num/unit
		p.Trees[r][0].Weight = max(left, 0)
		p.K += p.Trees[r][0].Weight
		common = units.GCD(common, p.Trees[r][0].Weight)
	}
	if p.K == 0 {
		return nil
	}
	p.K /= common
	more := (p.K + mostParts - 1) / mostParts // than are of use
	p.K = 0
	for r := range p.Trees {
		w := p.Trees[r][0].Weight / common / more
		p.Trees[r][0].Weight = w
		p.K += w
		if w == 0 {
			p.Trees[r] = nil
		}
	}
	return p
}

// mostLeft bounds the weights before they are in lowest terms.
const mostLeft = 1 << 50
