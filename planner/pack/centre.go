package pack

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/units"
)

// Near are the vertices that each vertex has an edge to.
func (g *Graph) Near() [][]int32 {
	out := make([][]int32, g.Vertices)
	for _, e := range g.Edges {
		out[e.From] = append(out[e.From], e.To)
	}
	return out
}

// middle is the rank with the fewest hops to the farthest one, of equal ones the first;
// depth are the hops from it.
func (g *Graph) middle() (rank int, depth []int32) {
	near := g.Near()
	least := int32(math.MaxInt32)
	for v := range g.Ranks {
		if d, _ := nearest(near, int32(v)); slices.Max(d) < least {
			rank, depth, least = v, d, slices.Max(d)
		}
	}
	return rank, depth
}

// nearest are the hops from a vertex to all others, and from whom these are reached first; 0 and −1 where one is not reached.
func nearest(near [][]int32, root int32) (depth, parent []int32) {
	depth, parent = make([]int32, len(near)), slices.Repeat([]int32{-1}, len(near))
	for queue := []int32{root}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, w := range near[v] {
			if w != root && parent[w] < 0 {
				depth[w], parent[w] = depth[v]+1, v
				queue = append(queue, w)
			}
		}
	}
	return depth, parent
}

// rerooted is a tree with its root in the middle of its longest path.
func rerooted(parent []int32) (int32, []int32) {
	near := make([][]int32, len(parent))
	for v, u := range parent {
		if u >= 0 {
			near[v], near[u] = append(near[v], u), append(near[u], int32(v))
		}
	}
	farthest := func(from int32) int32 {
		depth, _ := nearest(near, from)
		return int32(slices.Index(depth, slices.Max(depth)))
	}
	a := farthest(0)
	root := farthest(a)
	depth, down := nearest(near, a)
	for range slices.Max(depth) / 2 {
		root = down[root]
	}
	_, up := nearest(near, root)
	return root, up
}

// rerootAtCentres hangs every tree of an all-reduce up in its own middle, which changes nothing for
// the links, and joins those that are the same then.
func (p *Packing) rerootAtCentres() {
	list := p.Trees
	p.Trees = make([][]Tree, len(list))
	var common int64
	at := map[string]*Tree{}
	var order []*Tree
	var roots []int32
	for _, trees := range list {
		for _, t := range trees {
			root, parent := rerooted(t.Parent)
			key := fmt.Sprint(parent)
			if at[key] == nil {
				at[key] = &Tree{Weight: 0, Parent: parent}
				order, roots = append(order, at[key]), append(roots, root)
			}
			at[key].Weight += t.Weight
		}
	}
	for _, t := range order {
		common = units.GCD(common, t.Weight)
	}
	for i, t := range order {
		p.Trees[roots[i]] = append(p.Trees[roots[i]], Tree{Weight: t.Weight / common, Parent: t.Parent})
	}
	p.K /= common
}
