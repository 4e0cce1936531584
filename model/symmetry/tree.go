package symmetry

import (
	"encoding/binary"
	"slices"
)

// Tree is the group of the automorphisms of a tree that keep the labels of its leaves, the
// points: the nodes of a machine in groups of several tiers, say, of which one has lost a part.
// Leaves are in one class that these take to one another: that node, the others of its group,
// those of other groups, and so on. Groups may be of any sizes.
//
// A. V. Aho, J. E. Hopcroft, J. D. Ullman, "The design and analysis of computer algorithms",
// 1974 (isomorphism of trees by classes of vertices, from the leaves up).
type Tree struct {
	levels   []level // from the root to the leaves
	order    []int   // leaves, so that equivalent siblings lie side by side
	place    []int   // by leaf: in that order
	first    []int32 // by class of leaves
	size     []int32
	partners map[[3]int32]partners // by classes of two leaves and where their ways part
}

// level are the vertices as far from the root, which has the first one.
type level struct {
	of    []int32 // by leaf: the vertex above it
	class []int32 // by vertex: equal where automorphisms take one to the other
	start []int   // by vertex: the place of its first leaf
	next  []int32 // by vertex: the next one of its class below the same one, in turn
	turns []int32 // classes of which several are below one vertex: the first vertex of each
}

// partners are the leaves of a class that are as far from a leaf as one of them.
type partners struct{ first, count int }

// NewTree is the tree of leaves with labels, in groups: by tier, innermost first, and by leaf.
// Tiers whose groups do not lie in those of the next ones out are passed over.
func NewTree(labels []int32, tiers [][]int32) *Tree {
	leaves := make([]int32, len(labels))
	for i := range leaves {
		leaves[i] = int32(i)
	}
	t := &Tree{levels: []level{{of: leaves}}, partners: map[[3]int32]partners{}}
	for _, groups := range append(tiers[:len(tiers):len(tiers)], make([]int32, len(labels))) { // and the root
		if of := Number(groups).Of; inside(t.levels[0].of, of) {
			t.levels = append([]level{{of: of}}, t.levels...)
		}
	}
	t.classify(t.sort(labels))
	t.turn()
	return t
}

// inside reports whether leaves of one group are in one of the other ones.
func inside(inner, outer []int32) bool {
	of := map[int32]int32{}
	for i, g := range inner {
		if o, ok := of[g]; ok && o != outer[i] {
			return false
		}
		of[g] = outer[i]
	}
	return true
}

// sort puts the leaves in order, vertices of a kind side by side, and returns the kinds of all
// vertices by level: equal where what is below them is the same.
func (t *Tree) sort(labels []int32) (kinds [][]int32) {
	kinds = make([][]int32, len(t.levels))
	lists := make([][]int, len(labels)) // by vertex: its leaves in order
	for i := range lists {
		lists[i] = []int{i}
	}
	last := len(t.levels) - 1
	kinds[last] = Number(labels).Of
	for l := last; l > 0; l-- {
		below, kind := t.children(l), kinds[l]
		keys, joined := make([]string, len(below)), make([][]int, len(below))
		for u, children := range below {
			slices.SortStableFunc(children, func(a, b int32) int { return int(kind[a] - kind[b]) })
			var key []byte
			for _, v := range children {
				key, joined[u] = binary.AppendVarint(key, int64(kind[v])), append(joined[u], lists[v]...)
			}
			keys[u] = string(key)
		}
		kinds[l-1], lists = Number(keys).Of, joined
	}
	t.order, t.place = lists[0], make([]int, len(labels))
	for i, leaf := range t.order {
		t.place[leaf] = i
	}
	return kinds
}

// children are the vertices of a level by the vertex above them.
func (t *Tree) children(l int) [][]int32 {
	above := t.levels[l-1].of
	out, seen := make([][]int32, slices.Max(above)+1), make([]bool, slices.Max(t.levels[l].of)+1)
	for leaf, v := range t.levels[l].of {
		if !seen[v] {
			seen[v] = true
			out[above[leaf]] = append(out[above[leaf]], v)
		}
	}
	return out
}

// classify makes of kinds classes: those of vertices the ways to which from the root are the same.
func (t *Tree) classify(kinds [][]int32) {
	for l := range t.levels {
		x := &t.levels[l]
		ways := make([][2]int32, len(kinds[l])) // by vertex: the class above it, and its kind
		x.start = make([]int, len(ways))
		for i := len(t.order) - 1; i >= 0; i-- {
			leaf := t.order[i]
			v := x.of[leaf]
			x.start[v], ways[v][1] = i, kinds[l][v]
			if l > 0 {
				above := &t.levels[l-1]
				ways[v][0] = above.class[above.of[leaf]]
			}
		}
		classes := Number(ways)
		x.class = classes.Of
		t.first, t.size = classes.First, classes.Size // in the end, of leaves
	}
}

// turn finds the next vertex of the same class below the same one for all.
func (t *Tree) turn() {
	for l := range t.levels {
		x := &t.levels[l]
		x.next = make([]int32, len(x.class))
		turns := make([]bool, len(x.class)) // by class
		head, tail := map[[2]int32]int32{}, map[[2]int32]int32{}
		for _, leaf := range t.order {
			v := x.of[leaf]
			if x.start[v] != t.place[leaf] {
				continue
			}
			family := [2]int32{-1, x.class[v]}
			if l > 0 {
				family[0] = t.levels[l-1].of[leaf]
			}
			if first, ok := head[family]; ok {
				x.next[tail[family]], x.next[v] = v, first
				if !turns[x.class[v]] {
					turns[x.class[v]], x.turns = true, append(x.turns, first)
				}
			} else {
				head[family], x.next[v] = v, v
			}
			tail[family] = v
		}
	}
}

// Generators turn the equivalent children of all equivalent vertices by one, and exchange the
// first two below the first such vertex.
func (t *Tree) Generators() (out []func(int) int) {
	for l := range t.levels {
		x := &t.levels[l]
		for _, first := range x.turns {
			second := x.next[first]
			out = append(out, t.moved(x, func(v int32) int32 {
				if x.class[v] != x.class[first] {
					return v
				}
				return x.next[v]
			}), t.moved(x, func(v int32) int32 {
				switch v {
				case first:
					return second
				case second:
					return first
				}
				return v
			}))
		}
	}
	return out
}

// moved is a permutation of equivalent vertices of a level as one of leaves.
func (t *Tree) moved(x *level, to func(v int32) int32) func(int) int {
	return func(leaf int) int {
		v := x.of[leaf]
		return t.order[x.start[to(v)]+t.place[leaf]-x.start[v]]
	}
}

// Class is a leaf's.
func (t *Tree) Class(leaf int) int { return int(t.levels[len(t.levels)-1].class[leaf]) }

// Orbit is the first leaf of a leaf's class, and how many there are.
func (t *Tree) Orbit(leaf int) (first, size int) {
	k := t.Class(leaf)
	return int(t.first[k]), int(t.size[k])
}

// apart is the level at which the ways from the root to two leaves part, or the number of levels.
func (t *Tree) apart(a, b int) int {
	for l := range t.levels {
		if of := t.levels[l].of; of[a] != of[b] {
			return l
		}
	}
	return len(t.levels)
}

// Pair is the first of the leaves of b's class that are as far from the first of a's as b is
// from a, and how many there are: automorphisms that leave that one where it is take each of
// them to any other.
func (t *Tree) Pair(a, b int) (to, count int) {
	key := [3]int32{int32(t.Class(a)), int32(t.Class(b)), int32(t.apart(a, b))}
	p, ok := t.partners[key]
	if !ok {
		from, _ := t.Orbit(a)
		for leaf := range t.place {
			if t.Class(leaf) == int(key[1]) && t.apart(from, leaf) == int(key[2]) {
				if p.count++; p.count == 1 {
					p.first = leaf
				}
			}
		}
		t.partners[key] = p
	}
	return p.first, p.count
}
