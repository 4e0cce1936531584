package pack

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/units"
)

// wholeShares are shares in whole numbers of equal parts of the data.
type wholeShares struct {
	*shares
	total  int     // parts of each root's data, or of all
	roots  []int   // by rank
	cross  [][]int // by pair of nodes and choice
	spread [][]int // by rank and choice
}

const (
	mostShares = 48   // parts of a rank's data
	lossy      = 1.01 // how much longer than the best shares few parts may take
)

// inParts rounds shares to as few parts as come near to them.
func (x *shares) inParts() *wholeShares {
	exact := x.clone()
	x.carry()
	full := slices.Max(x.load)
	var best *wholeShares
	least := math.Inf(1)
	for each := 1; each <= mostShares && least > lossy*full; each++ {
		x.keep(exact)
		p := x.round(each)
		x.carry()
		if f := slices.Max(x.load); f < least {
			least, best = f, p
		}
	}
	x.keep(exact)
	return best
}

// round makes whole numbers of shares, given how many parts a rank has, or has on average.
func (x *shares) round(each int) *wholeShares {
	p := &wholeShares{shares: x, total: each}
	if x.both {
		p.total = each * len(x.of)
		p.roots = x.roots.round(p.total)
	} else {
		for range x.of {
			p.roots = append(p.roots, each)
		}
	}
	of := make([]int, len(x.members))
	for r, n := range p.roots {
		of[x.of[r]] += n
	}
	for i := range x.cross {
		p.cross = append(p.cross, x.cross[i].round(of[i/len(x.members)]))
	}
	came := make([]int, len(x.of))
	for i := range x.cross {
		for k, c := range x.cross[i].choices {
			came[c.to] += p.cross[i][k]
		}
	}
	for r, n := range came {
		p.spread = append(p.spread, x.spread[r].round(n))
	}
	return p
}

// round makes whole numbers of shares, and shares of these again.
func (m *mix) round(total int) []int {
	out := units.Apportion(total, m.share)
	for i := range m.share {
		m.share[i] = float64(out[i]) / float64(max(total, 1))
	}
	return out
}

// packing makes trees of parts.
func (p *wholeShares) packing(kind collective.Kind) *Packing {
	out := &Packing{Kind: kind, K: int64(p.total), Trees: make([][]Tree, len(p.of)), Method: "shares of rails"}
	nodes := len(p.members)
	route := make([][]choice, nodes*nodes) // by pair of nodes and part of the first: how it crosses
	by := make([][]int32, nodes*nodes)     // the same: who spreads it
	plan := make([][]int32, len(p.of))     // by rank and what comes in: who spreads it
	for r, counts := range p.spread {
		for i, k := range counts {
			for range k {
				plan[r] = append(plan[r], p.shares.spread[r].choices[i].to)
			}
		}
	}
	came := make([]int, len(p.of))
	for i := range route {
		route[i] = p.routes(i)
		for _, c := range route[i] {
			by[i] = append(by[i], plan[c.to][came[c.to]])
			came[c.to]++
		}
	}
	first := make([]int, nodes) // part of a node's
	for r, n := range p.roots {
		s := int(p.of[r])
		for k := range n {
			parent := p.tree(int32(r), func(d int) (choice, int32) {
				return route[s*nodes+d][first[s]+k], by[s*nodes+d][first[s]+k]
			})
			list := out.Trees[r]
			if m := len(list); m > 0 && slices.Equal(list[m-1].Parent, parent) {
				list[m-1].Weight++
				continue
			}
			out.Trees[r] = append(list, Tree{Weight: 1, Parent: parent})
		}
		first[s] += n
	}
	return out
}

// routes says how each part of a node's data crosses to another: from its root where that
// has a share of the ways, the rest in order.
func (p *wholeShares) routes(pair int) []choice {
	s := pair / len(p.members)
	m, left := &p.shares.cross[pair], slices.Clone(p.cross[pair])
	if len(m.choices) == 0 {
		return nil
	}
	var out []choice
	var open []int // parts
	for _, r := range p.members[s] {
		for range p.roots[r] {
			k := slices.IndexFunc(m.choices, func(c choice) bool { return c.from == r })
			for ; k >= 0 && k < len(left) && (left[k] == 0 || m.choices[k].from != r); k++ {
			}
			if k < 0 || k == len(left) {
				open = append(open, len(out))
				out = append(out, choice{})
				continue
			}
			left[k]--
			out = append(out, m.choices[k])
		}
	}
	k := 0
	for _, i := range open {
		for left[k] == 0 {
			k++
		}
		left[k]--
		out[i] = m.choices[k]
	}
	return out
}

// tree is that of a part of a root's data, given its way to each other node.
func (p *wholeShares) tree(root int32, way func(node int) (over choice, by int32)) []int32 {
	parent := make([]int32, len(p.of))
	for d, members := range p.members {
		over, by := choice{to: root}, root
		if int32(d) != p.of[root] {
			over, by = way(d)
		}
		for _, v := range members {
			parent[v] = by
		}
		parent[by], parent[over.to] = over.to, over.from
	}
	parent[root] = -1
	return parent
}
