package pack

import (
	"math/big"

	"railyard/model/collective"
)

// Tree is a spanning out-tree of a root: Parent[v] is the rank that sends the root's
// data to v; −1 at the root itself.
type Tree struct {
	Weight int64 // how many of the root's Packing.K equal parts it carries
	Parent []int32
	Up     []int32 // the same of what is summed up, where an all-reduce does that along another tree
}

// down and up report which ways the data of a collective go along trees: from their roots, to them.
func down(k collective.Kind) bool { return k != collective.Reduce && k != collective.ReduceScatter }
func up(k collective.Kind) bool   { return k != collective.Broadcast && k != collective.AllGather }

// PerRoot reports whether every rank is root of data of its own in a collective; else its trees share the whole buffer among them, whatever
// their roots.
func PerRoot(k collective.Kind) bool {
	return k == collective.AllGather || k == collective.ReduceScatter
}

// Packing is a set of trees that are used at once.
type Packing struct {
	Kind   collective.Kind
	K      int64      // parts of the data of each root, or of all; the weights of the trees sum to it
	Trees  [][]Tree   // by root
	Rate   Fraction   // bytes/s for each root, or of the whole buffer, when the fullest link is full
	Bound  Result     // what no packing can beat
	Share  float64    // Rate over Bound.Rate
	Height int        // of the highest tree, in hops
	Method string     // how the trees were found
	Few    *Packing   // the best one in at most eight parts for each root, where that is another
	Fewer  []*Packing // those in fewer parts that are nearer to the bound or lower than any in fewer still, from the least on
	Paths  []Path     // of hops that do not take the route of the topology

	routes *routes
}

// Count is the number of trees.
func (p *Packing) Count() int {
	n := 0
	for _, list := range p.Trees {
		n += len(list)
	}
	return n
}

// traffic is what the trees send between each pair of ranks.
func (p *Packing) traffic() *pairs {
	w := newPairs(len(p.Trees))
	for _, list := range p.Trees {
		for _, t := range list {
			for v, u := range t.Parent {
				if u >= 0 && down(p.Kind) {
					w.add(u, int32(v), t.Weight)
				}
			}
			for v, u := range t.sums() {
				if u >= 0 && up(p.Kind) {
					w.add(int32(v), u, t.Weight)
				}
			}
		}
	}
	return w
}

// sums is where ranks send what is summed up.
func (t *Tree) sums() []int32 {
	if t.Up != nil {
		return t.Up
	}
	return t.Parent
}

// Hops are what the trees send between each pair of ranks, in parts; those that send
// nothing are left out.
func (p *Packing) Hops() []Edge {
	w := p.traffic()
	var out []Edge
	for i, c := range w.weight {
		if c > 0 {
			out = append(out, Edge{int32(i / w.n), int32(i % w.n), c})
		}
	}
	return out
}

// evaluate fills in what follows from the trees.
func (p *Packing) evaluate(bound Result, r *routes) error {
	p.Bound = bound
	r, err := r.along(r.t, p.Paths)
	if err != nil {
		return err
	}
	p.routes = r
	per, err := r.rate(p.traffic())
	if err != nil {
		return err
	}
	p.Rate = toFraction(per.Mul(per, big.NewRat(p.K, 1)))
	p.Share = p.Rate.Float() / bound.Rate.Float()
	p.Height = 0
	for root, list := range p.Trees {
		for _, t := range list {
			p.Height = max(p.Height, height(t.Parent, int32(root)), height(t.sums(), int32(root)))
		}
	}
	return nil
}

// height is that of a tree; −1 where it does not span or is no tree.
func height(parent []int32, root int32) int {
	depth := make([]int32, len(parent))
	var most int32
	for v := range parent {
		// Walk up to a vertex whose depth is known, then down again.
		d, u := int32(0), int32(v)
		for u != root && depth[u] == 0 {
			if d++; int(d) >= len(parent) || parent[u] < 0 || int(parent[u]) >= len(parent) {
				return -1
			}
			u = parent[u]
		}
		d += depth[u]
		most = max(most, d)
		for u = int32(v); u != root && depth[u] == 0; u = parent[u] {
			depth[u] = d
			d--
		}
	}
	return int(most)
}
