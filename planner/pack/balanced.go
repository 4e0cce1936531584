package pack

import "railyard/internal/heap"

// balanced builds some trees for every root, one after another: each takes the edges
// that are the least loaded so far, and of those the ones nearest to the root. It does
// not always reach the bound, but is fast on large graphs.
func balanced(g *Graph, k int) *Packing {
	n := g.Ranks
	b := &balancing{g: g, start: g.starts(), load: make([]int64, len(g.Edges))}
	p := &Packing{K: int64(k), Trees: make([][]Tree, n), Method: "balanced trees"}
	for range k {
		for r := range n {
			p.Trees[r] = append(p.Trees[r], Tree{1, b.tree(int32(r))})
		}
	}
	for range 3 { // build each again, with all others in place
		for i := range k {
			for r := range n {
				b.charge(p.Trees[r][i].Parent, -1)
				p.Trees[r][i].Parent = b.tree(int32(r))
			}
		}
	}
	return p
}

type balancing struct {
	g     *Graph
	start []int32
	load  []int64
}

// find is the edge from u to v.
func (b *balancing) find(u, v int32) int32 {
	for i := b.start[u]; ; i++ {
		if b.g.Edges[i].To == v {
			return i
		}
	}
}

func (b *balancing) charge(parent []int32, by int64) {
	for v, u := range parent {
		if u >= 0 {
			b.load[b.find(u, int32(v))] += by
		}
	}
}

// option is an edge out of the tree.
type option struct {
	cost float64
	edge int32
}

// tree grows one from root and charges for it.
func (b *balancing) tree(root int32) []int32 {
	parent := make([]int32, b.g.Ranks)
	depth := make([]int32, b.g.Ranks)
	for v := range parent {
		parent[v], depth[v] = -1, -1
	}
	queue := heap.New(func(a, b option) bool { return a.cost < b.cost })
	enter := func(v int32) {
		for i := b.start[v]; i < b.start[v+1]; i++ {
			if e := b.g.Edges[i]; depth[e.To] < 0 {
				cost := float64(b.load[i]+1) / float64(e.Cap) * float64(b.unit())
				queue.Push(option{cost + float64(depth[v]), i})
			}
		}
	}
	depth[root] = 0
	enter(root)
	for queue.Len() > 0 {
		o := queue.Pop()
		e := b.g.Edges[o.edge]
		if depth[e.To] >= 0 {
			continue
		}
		depth[e.To], parent[e.To] = depth[e.From]+1, e.From
		b.load[o.edge]++
		enter(e.To)
	}
	return parent
}

func (b *balancing) unit() int64 { return b.g.Edges[0].Cap }
