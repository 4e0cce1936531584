package topology

import (
	"fmt"
	"slices"
	"strings"
)

// Classes are classes of nodes that automorphisms of a topology take to one another, e.g. on
// a machine of several tiers of which one node has lost a part: that node, the others of its
// group, those of other groups, and so on. Nodes are leaves of a tree of tiers; the
// automorphisms are those of the tree that keep the leaves' labels, all of which have to
// extend to devices and links.
//
// A. V. Aho, J. E. Hopcroft, J. D. Ullman, "The design and analysis of computer algorithms",
// 1974 (isomorphism of trees by classes of vertices, from the leaves up).
type Classes struct {
	*Symmetry
	dims   []int32   // of the tree
	place  []int32   // by node: in an order in which alike siblings lie side by side
	order  []int32   // by place: node
	kinds  [][]int32 // by level and vertex, in order: its class
	strand []int32   // by level: nodes below a vertex
}

// NewClasses finds classes of nodes that are alike in themselves, and in what label says.
// ok is false where the topology's tiers show none, or not in the way that is tried here.
func NewClasses(t *Topology, label func(node int) int) (c *Classes, ok bool) {
	c = &Classes{dims: t.NodeGrid()}
	below := int32(1)
	for _, d := range slices.Backward(c.dims) {
		c.strand = append([]int32{below}, c.strand...)
		below *= d
	}
	if int(below) != len(t.nodes) {
		return nil, false
	}
	c.sort(t, label)
	classes := c.paths()
	c.Symmetry = newSymmetry(t, classes)
	for _, p := range c.generators() {
		if !c.extend(p) {
			return nil, false
		}
	}
	c.count()
	return c, true
}

// sort puts nodes in order: those below a vertex side by side, alike vertices too.
func (c *Classes) sort(t *Topology, label func(node int) int) {
	seen := map[string]int32{}
	id := func(key string) int32 {
		n, ok := seen[key]
		if !ok {
			n = int32(len(seen))
			seen[key] = n
		}
		return n
	}
	kinds := make([]int32, len(t.nodes)) // of the vertices of a level
	lists := make([][]int32, len(t.nodes))
	for n := range t.nodes {
		kinds[n], lists[n] = id(fmt.Sprintf("%d %s", label(n), t.outline(n))), []int32{int32(n)}
	}
	for _, dim := range slices.Backward(c.dims) {
		d := int(dim)
		var up []int32
		var all [][]int32
		for v := 0; v < len(kinds); v += d {
			children := make([]int, d)
			for i := range children {
				children[i] = v + i
			}
			slices.SortStableFunc(children, func(a, b int) int { return int(kinds[a] - kinds[b]) })
			key := strings.Builder{}
			var list []int32
			for _, x := range children {
				fmt.Fprintf(&key, "/%d", kinds[x])
				list = append(list, lists[x]...)
			}
			up, all = append(up, id(key.String())), append(all, list)
		}
		kinds, lists = up, all
	}
	c.order = lists[0]
	c.place = make([]int32, len(c.order))
	for i, n := range c.order {
		c.place[n] = int32(i)
	}
	c.kinds = c.kindsInOrder(t, label, id)
}

// kindsInOrder are the kinds of the vertices of each level, in order.
func (c *Classes) kindsInOrder(t *Topology, label func(node int) int, id func(string) int32) [][]int32 {
	out := make([][]int32, len(c.dims))
	below := make([]int32, len(c.order))
	for i, n := range c.order {
		below[i] = id(fmt.Sprintf("%d %s", label(int(n)), t.outline(int(n))))
	}
	for level := len(c.dims) - 1; level >= 0; level-- {
		out[level] = below
		var up []int32
		for v := 0; v < len(below); v += int(c.dims[level]) {
			key := strings.Builder{}
			for _, k := range below[v : v+int(c.dims[level])] {
				fmt.Fprintf(&key, "/%d", k)
			}
			up = append(up, id(key.String()))
		}
		below = up
	}
	return out
}

// outline is what a node is in itself and at its ends of the fabrics' links.
func (t *Topology) outline(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", t.nodes[n].shape)
	for local := range t.shapes[t.nodes[n].shape].devices {
		for _, a := range []adjacency{t.out, t.in} {
			for _, l := range t.up(t.nodes[n].firstDevice+DeviceID(local), a) {
				fmt.Fprintf(&b, " %d:%d×%d", local, t.links[l].Class, t.links[l].Count)
			}
		}
	}
	return b.String()
}

// paths makes of kinds classes of vertices: those whose ways from the root are alike. It
// returns those of the nodes.
func (c *Classes) paths() []int32 {
	type step struct {
		above, kind int32
	}
	for level := range c.kinds {
		seen := map[step]int32{}
		for v, k := range c.kinds[level] {
			s := step{kind: k}
			if level > 0 {
				s.above = c.kinds[level-1][v/int(c.dims[level])]
			}
			if _, ok := seen[s]; !ok {
				seen[s] = int32(len(seen))
			}
			c.kinds[level][v] = seen[s]
		}
	}
	out := make([]int32, len(c.order))
	for i, n := range c.order {
		out[n] = c.kinds[len(c.kinds)-1][i]
	}
	return out
}

// generators turn the alike children of all alike vertices by one, and exchange the first two
// below the first such vertex.
func (c *Classes) generators() []func(int) int {
	var out []func(int) int
	for level, kinds := range c.kinds {
		d, strand := c.dims[level], c.strand[level]
		for k := range int32(len(kinds)) {
			first := slices.Index(kinds, k)
			if first < 0 {
				break
			}
			size := int32(1) // of them below one vertex
			for v := int32(first); (v+1)%d != 0 && kinds[v+1] == k; v++ {
				size++
			}
			if size < 2 {
				continue
			}
			begin := int32(first) % d
			out = append(out, c.inOrder(func(p int32) int32 {
				v := p / strand
				if kinds[v] != k {
					return p
				}
				at := v%d - begin
				return p + ((at+1)%size-at)*strand
			}), c.inOrder(func(p int32) int32 {
				switch p/strand - int32(first) {
				case 0:
					return p + strand
				case 1:
					return p - strand
				}
				return p
			}))
		}
	}
	return out
}

// inOrder is a permutation of places as one of nodes.
func (c *Classes) inOrder(f func(int32) int32) func(int) int {
	return func(n int) int { return int(c.order[f(c.place[n])]) }
}

// Apart is the level at which the ways from the root to two nodes part, or the number of
// levels. Of the nodes of a class that are as far from a node, automorphisms that leave that
// one where it is take each to any other.
func (c *Classes) Apart(a, b int) int {
	p, q := c.place[a], c.place[b]
	for level, n := range c.strand {
		if p/n != q/n {
			return level
		}
	}
	return len(c.strand)
}

// Class is a node's.
func (c *Classes) Class(node int) int { return int(c.of[node]) }

// First is the first node of a node's class.
func (c *Classes) First(node int) int { return int(c.first[c.of[node]]) }

// Size is how many nodes there are in a node's class.
func (c *Classes) Size(node int) int { return int(c.members[c.of[node]]) }
