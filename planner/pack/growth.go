package pack

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"railyard/internal/maxflow"
)

// newGrowth begins with so many trees of each root.
func newGrowth(g *Graph, caps []int64, roots []int32, count int64, seed uint64) *growth {
	e := &growth{n: g.Ranks, cap: make([][]int64, g.Ranks), out: make([][]int32, g.Ranks), into: make([]int64, g.Ranks),
		seed: rand.New(rand.NewPCG(seed, 1))}
	for v := range e.cap {
		e.cap[v] = make([]int64, g.Ranks)
		e.order = append(e.order, int32(v))
	}
	for i, edge := range g.Edges {
		e.cap[edge.From][edge.To] = caps[i]
		e.into[edge.To] += caps[i]
		e.out[edge.From] = append(e.out[edge.From], edge.To)
	}
	for _, root := range roots {
		e.start(root, count)
	}
	return e
}

// bundle is a number of equal trees that are being grown.
type bundle struct {
	root   int32
	count  int64
	parent []int32
	depth  []int32 // −1: not in the tree
	size   int
	ranks  set
}

type growth struct {
	n       int
	cap     [][]int64 // what is left
	out     [][]int32
	into    []int64 // of each rank: what is left of the edges to it
	tight   []set   // sets of ranks that have just enough capacity into them, and will
	bundles []*bundle
	order   []int32 // in which ranks are looked at
	seed    *rand.Rand

	net maxflow.Network // of one question after another
}

func (e *growth) start(root int32, count int64) {
	b := &bundle{root: root, count: count, parent: slices.Repeat([]int32{-1}, e.n), depth: slices.Repeat([]int32{-1}, e.n), size: 1}
	b.depth[root] = 0
	b.ranks = make(set, (e.n+63)/64)
	b.ranks.add(int(root))
	e.bundles = append(e.bundles, b)
}

// grow completes all bundles, level by level.
func (e *growth) grow() error {
	for {
		progress := false
		for depth := int32(0); int(depth) < e.n; depth++ {
			for _, parting := range []bool{false, true} {
				e.seed.Shuffle(len(e.bundles), func(i, j int) { e.bundles[i], e.bundles[j] = e.bundles[j], e.bundles[i] })
				for i := 0; i < len(e.bundles); i++ { // grows meanwhile
					if e.bundles[i].size < e.n {
						progress = e.extend(e.bundles[i], depth, parting) || progress
					}
				}
			}
		}
		if !slices.ContainsFunc(e.bundles, func(b *bundle) bool { return b.size < e.n }) {
			return nil
		}
		if !progress {
			return fmt.Errorf("pack: trees do not grow any more; the graph falls short of its bound")
		}
	}
}

// extend adds edges from a bundle's ranks at a depth.
func (e *growth) extend(b *bundle, depth int32, parting bool) bool {
	progress := false
	e.seed.Shuffle(e.n, func(i, j int) { e.order[i], e.order[j] = e.order[j], e.order[i] })
	for _, u := range e.order {
		if b.depth[u] != depth {
			continue
		}
		turn := e.seed.IntN(len(e.out[u]) + 1)
		for j := range e.out[u] {
			v := e.out[u][(j+turn)%len(e.out[u])]
			c := e.cap[u][v]
			if c == 0 || b.depth[v] >= 0 || !parting && c < b.count {
				continue
			}
			m, limit := e.headroom(b, u, v, min(c, b.count))
			if limit != nil && (m == 0 || parting && m < min(c, b.count)) {
				// Nothing is left for trees with a rank in this set. It stays so: edges into
				// it go only to trees that have none there yet, which wants one less.
				e.tight = append(e.tight, limit)
			}
			if m == 0 || !parting && m < b.count {
				continue
			}
			if m < b.count {
				rest := *b
				rest.count -= m
				rest.parent, rest.depth, rest.ranks = slices.Clone(b.parent), slices.Clone(b.depth), slices.Clone(b.ranks)
				e.bundles = append(e.bundles, &rest)
				b.count = m
			}
			e.cap[u][v] -= m
			e.into[v] -= m
			b.parent[v], b.depth[v] = u, depth+1
			b.size++
			b.ranks.add(int(v))
			progress = true
		}
	}
	return progress
}

// headroom is to how many trees of bundle b the edge (u,v) can be added, up to want; where
// it is less and a set of ranks says so, which.
func (e *growth) headroom(b *bundle, u, v int32, want int64) (int64, set) {
	for _, x := range e.tight {
		if x.has(int(v)) && !x.has(int(u)) && x.meets(b.ranks) {
			return 0, nil
		}
	}
	spare := e.into[v] // of the set that is v alone
	for _, o := range e.bundles {
		if o != b && o.depth[v] < 0 {
			spare -= o.count
		}
	}
	if want = min(want, spare); want <= 0 {
		return 0, nil
	}
	source := int32(e.n)
	e.net.Clear(e.n + 1)
	for x := range e.out {
		for _, y := range e.out[x] {
			if c := e.cap[x][y]; c > 0 {
				e.net.Arc(int32(x), y, c)
			}
		}
	}
	var others int64
	const all = 1 << 62
	for _, o := range e.bundles {
		if o == b || o.depth[v] >= 0 {
			continue // has a rank in every such set
		}
		others += o.count
		if o.size == 1 {
			e.net.Arc(source, o.root, o.count)
			continue
		}
		node := e.net.Vertex()
		e.net.Arc(source, node, o.count)
		for x, d := range o.depth {
			if d >= 0 {
				e.net.Arc(node, int32(x), all)
			}
		}
	}
	e.net.Arc(source, u, all)
	m := max(0, e.net.Flow(source, v, others+want)-others)
	var limit set
	if m < want {
		limit = make(set, len(b.ranks))
		for x := range e.n {
			if e.net.Beyond(int32(x)) {
				limit.add(x)
			}
		}
	}
	return m, limit
}

// set is a set of ranks, a bit for each.
type set []uint64

func (s set) add(r int) { s[r>>6] |= 1 << (r & 63) }

func (s set) has(r int) bool { return s[r>>6]>>(r&63)&1 == 1 }

func (s set) meets(o set) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}
