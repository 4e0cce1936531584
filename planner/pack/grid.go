package pack

import (
	"math/big"
	"slices"

	"railyard/model/units"
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
			out := []*Packing{l.packing(l.even())}
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

// even weighs all rotations of the order of dimensions alike.
func (l *lattice) even() []int64 {
	w := make([]int64, len(l.dims))
	for i := range w {
		w[i] = 1
	}
	return w
}

// balanced weighs the rotations so that the hops along the dimensions are as their
// capacities; nil where no weights do that.
func (l *lattice) balanced() []int64 {
	m := len(l.dims)
	rows := make([][]*big.Rat, m) // hops along k in rotation i, over k's capacity, less the common value
	for k := range rows {
		rows[k] = make([]*big.Rat, m+1)
		for i := range m {
			hops := int64(l.dims[k] - 1)
			for j := i; j%m != k; j++ {
				hops *= int64(l.dims[j%m])
			}
			rows[k][i] = big.NewRat(hops, l.cap[k])
		}
		rows[k][m] = big.NewRat(1, 1)
	}
	w := solve(rows)
	if w == nil {
		return nil
	}
	den := big.NewInt(1)
	for _, x := range w {
		if x.Sign() < 0 {
			return nil
		}
		den.Mul(den, new(big.Int).Quo(x.Denom(), new(big.Int).GCD(nil, nil, den, x.Denom())))
	}
	out := make([]int64, m)
	var common int64
	for i, x := range w {
		v := new(big.Int).Mul(x.Num(), new(big.Int).Quo(den, x.Denom()))
		if !v.IsInt64() {
			return nil
		}
		out[i] = v.Int64()
		common = units.GCD(common, out[i])
	}
	for i := range out {
		out[i] /= max(common, 1)
	}
	return out
}

// solve is Gauss' elimination on rows of an equation each, right side last.
func solve(rows [][]*big.Rat) []*big.Rat {
	n := len(rows)
	for c := range n {
		p := c
		for p < n && rows[p][c].Sign() == 0 {
			p++
		}
		if p == n {
			return nil
		}
		rows[c], rows[p] = rows[p], rows[c]
		for r := range n {
			if r == c || rows[r][c].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Quo(rows[r][c], rows[c][c])
			for k := c; k <= n; k++ {
				rows[r][k] = new(big.Rat).Sub(rows[r][k], new(big.Rat).Mul(f, rows[c][k]))
			}
		}
	}
	out := make([]*big.Rat, n)
	for c := range n {
		out[c] = new(big.Rat).Quo(rows[c][n], rows[c][c])
	}
	return out
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
				p.Trees[root] = append(p.Trees[root], Tree{w, l.tree(root, i, mirror == 1)})
			}
		}
	}
	return p
}

// tree goes along the dimensions from first on, in cyclic order.
func (l *lattice) tree(root, first int, mirror bool) []int32 {
	parent := make([]int32, l.n)
	for v := range parent {
		parent[v] = -1
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
