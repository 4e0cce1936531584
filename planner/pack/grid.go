package pack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// grids are trees for meshes and tori whose ranks are numbered row by row: the data goes
// along one dimension, from there along the next, and so on; each part of it through the
// dimensions in another order, on tori also with the longer way round on the other side.
func grids(g *Graph) []*Packing {
	if !g.Direct() || g.Ranks < 3 {
		return nil
	}
	for _, dims := range factorings(g.Ranks) {
		if l, ok := latticeOf(g, dims); ok {
			out := []*Packing{l.packing(slices.Repeat([]int64{1}, len(dims)))}
			if w := l.balanced(); w != nil {
				out = append(out, l.packing(w))
			}
			return out
		}
	}
	return nil
}

// factorings are the ways to write n as an ordered product of numbers from 2 on.
func factorings(n int) [][]int {
	var out [][]int
	if n > 1 {
		out = append(out, []int{n})
	}
	for d := 2; d*2 <= n; d++ {
		if n%d == 0 {
			for _, rest := range factorings(n / d) {
				out = append(out, append([]int{d}, rest...))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b []int) int { return len(a) - len(b) })
	return out
}

// lattice is a mesh or torus.
type lattice struct {
	n      int
	dims   []int
	stride []int
	wrap   []bool
	cap    []int64 // by dimension: the least of its edges
}

// latticeOf reads g as a lattice with these dimensions, if it is one.
func latticeOf(g *Graph, dims []int) (lattice, bool) {
	l := lattice{n: g.Ranks, dims: dims, stride: make([]int, len(dims)), wrap: make([]bool, len(dims)), cap: make([]int64, len(dims))}
	s := 1
	for k := len(dims) - 1; k >= 0; k-- {
		l.stride[k] = s
		s *= dims[k]
	}
	steps := make([]int, len(dims))
	for _, e := range g.Edges {
		k, wrap := l.along(int(e.From), int(e.To))
		if k < 0 {
			return l, false
		}
		steps[k]++
		l.wrap[k] = l.wrap[k] || wrap
		if l.cap[k] == 0 || e.Cap < l.cap[k] {
			l.cap[k] = e.Cap
		}
	}
	for k, d := range dims {
		want := 2 * (d - 1) * l.n / d
		if l.wrap[k] {
			want = 2 * l.n
		}
		if steps[k] != want {
			return l, false
		}
	}
	return l, true
}

// along is the dimension of an edge, −1 where it is none of a lattice.
func (l *lattice) along(u, v int) (dim int, wrap bool) {
	dim = -1
	for k, d := range l.dims {
		a, b := u/l.stride[k]%d, v/l.stride[k]%d
		if a == b {
			continue
		}
		if dim >= 0 {
			return -1, false
		}
		switch {
		case a-b == 1 || b-a == 1:
			dim, wrap = k, false
		case d > 2 && (a-b == d-1 || b-a == d-1):
			dim, wrap = k, true
		default:
			return -1, false
		}
	}
	return dim, wrap
}

// balanced weighs the rotations so that the hops along the dimensions are as their
// capacities; nil where no weights do that.
func (l *lattice) balanced() []int64 {
	m := len(l.dims)
	hops, even, w := mat.NewDense(m, m, nil), mat.NewVecDense(m, nil), new(mat.VecDense)
	for k := range m {
		even.SetVec(k, 1)
		for i := range m { // along k in rotation i, over k's capacity
			n := l.dims[k] - 1
			for j := i; j%m != k; j++ {
				n *= l.dims[j%m]
			}
			hops.Set(k, i, float64(n)/float64(l.cap[k])*float64(l.cap[0]))
		}
	}
	if w.SolveVec(hops, even) != nil {
		return nil
	}
	return wholeWeights(w.RawVector().Data)
}

// wholeWeights are the least whole numbers in proportion to numbers, nil where there are no small ones.
func wholeWeights(w []float64) []int64 {
	total, out := 0.0, make([]int64, len(w))
	for _, x := range w {
		total += x
	}
	for q := 1.0; q < 1<<16; q++ {
		whole := true
		for i, x := range w {
			exact := x / total * q
			out[i] = int64(math.Round(exact))
			whole = whole && out[i] >= 0 && math.Abs(exact-float64(out[i])) < 1e-7
		}
		if whole {
			return out
		}
	}
	return nil
}

// packing has two trees, mirrored, for each rotation of the dimensions that has weight,
// one where nothing wraps round.
func (l *lattice) packing(weight []int64) *Packing {
	p := &Packing{Trees: make([][]Tree, l.n), Method: "paths along dimensions"}
	mirrors := 1
	if slices.Contains(l.wrap, true) {
		mirrors = 2
	}
	for i, w := range weight {
		if w == 0 {
			continue
		}
		for mirror := range mirrors {
			p.K += w
			for root := range l.n {
				p.Trees[root] = append(p.Trees[root], Tree{Weight: w, Parent: l.tree(root, i, mirror == 1)})
			}
		}
	}
	return p
}

// tree goes along the dimensions from first on, in cyclic order.
func (l *lattice) tree(root, first int, mirror bool) []int32 {
	parent := slices.Repeat([]int32{-1}, l.n)
	for v := range parent {
		m := len(l.dims)
		for j := m - 1; j >= 0; j-- { // the last dimension in which v is off the root
			k := (first + j) % m
			d, s := l.dims[k], l.stride[k]
			a, b := root/s%d, v/s%d
			if a == b {
				continue
			}
			up := b > a // the neighbour nearer to the root is below
			if l.wrap[k] {
				ahead := (b - a + d) % d
				up = 2*ahead < d || 2*ahead == d && !mirror
			}
			c := b + 1
			if up {
				c = b - 1
			}
			parent[v] = int32(v + ((c+d)%d-b)*s)
			break
		}
	}
	return parent
}
