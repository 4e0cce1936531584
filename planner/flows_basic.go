package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/symmetry"
	"railyard/model/units"
)

// basicFlow is a flow with fewer paths that loads every link as another does: a basic solution of the linear program of
// paths, found from any solution by driving one path after another out of it (C. Carathéodory, 1911; G. Dantzig, R. Van Slyke,
// "Generalized upper bounding techniques", 1967: each pair's key path gives what its others take). There are no more paths
// than pairs and links together, where spread units make many for each pair; each path is a message at every hop.
type basicFlow struct {
	f       *flow
	pairs   [][]*way                  // by pair; the first is its key
	links   symmetry.Numbering[int32] // the resources that are taken
	basis   []*way                    // by row; nil: none yet
	inverse [][]float64               // by row and link: how much of the basis makes a link's load
}

// way is a path of a pair with the units on it.
type way struct {
	pair  int
	path  []int32
	units float64
}

// inFewPaths is a flow that loads links alike on as few paths as that allows.
func (f *flow) inFewPaths() *flow {
	few := f.copied()
	x := &basicFlow{f: few}
	if x.read(); x.work() > mostElimination {
		few.sort()
		return few
	}
	n := len(x.links.All)
	x.basis, x.inverse = make([]*way, n), make([][]float64, n)
	for i := range x.inverse {
		x.inverse[i] = make([]float64, n)
		x.inverse[i][i] = 1
	}
	for _, ways := range x.pairs {
		for _, w := range slices.Clone(ways[min(1, len(ways)):]) {
			x.enter(w)
		}
	}
	x.write()
	few.sort()
	return few
}

// mostElimination is how many multiplications that may take: a second's.
const mostElimination = 1 << 30

// work is about how many there are: as many rows for each path beside a key as there are links, each as long.
func (x *basicFlow) work() (n int64) {
	for _, ways := range x.pairs {
		n += int64(max(0, len(ways)-1)) * square(len(x.links.All))
	}
	return n
}

// read collects the units on each path, the fullest path of each pair first.
func (x *basicFlow) read() {
	n, units := x.f.g.Vertices, x.f.units
	x.pairs = make([][]*way, n*n)
	for pair := range x.pairs {
		for _, p := range x.f.paths[pair*units : (pair+1)*units] {
			if p == nil {
				break
			}
			i := slices.IndexFunc(x.pairs[pair], func(w *way) bool { return slices.Equal(w.path, p) })
			if i < 0 {
				i = len(x.pairs[pair])
				x.pairs[pair] = append(x.pairs[pair], &way{pair: pair, path: p})
			}
			x.pairs[pair][i].units++
			x.each(p, func(int, float64) {})
		}
		slices.SortStableFunc(x.pairs[pair], func(a, b *way) int { return cmp.Compare(b.units, a.units) })
	}
}

// each visits what a path takes, and for how long.
func (x *basicFlow) each(path []int32, visit func(link int, time float64)) {
	for h := 1; h < len(path); h++ {
		for _, t := range x.f.g.takes(path[h-1], path[h]) {
			visit(x.links.Of(t.Resource), t.Time)
		}
	}
}

// coefficients are how much of each of the basis has to go for a unit more on a path in place of its pair's key.
func (x *basicFlow) coefficients(w *way) []float64 {
	out := make([]float64, len(x.basis))
	size := x.f.size(w.pair * x.f.units)
	add := func(path []int32, by float64) {
		x.each(path, func(link int, time float64) {
			for i := range out {
				out[i] += by * time * x.inverse[i][link]
			}
		})
	}
	add(w.path, size)
	add(x.pairs[w.pair][0].path, -size)
	return out
}

// enter makes a path part of the basis, where it loads links as nothing there can; else takes units off it, or what others
// of the same loads leave.
func (x *basicFlow) enter(w *way) {
	c := x.coefficients(w)
	free := -1
	for i, b := range x.basis {
		if b == nil && math.Abs(c[i]) > 1e-9 && (free < 0 || math.Abs(c[i]) > math.Abs(c[free])) {
			free = i
		}
	}
	if free >= 0 {
		x.pivot(free, w, c)
		return
	}
	out := x.drain(w, c)
	switch row := slices.Index(x.basis, out); {
	case out == w:
	case row >= 0:
		x.pivot(row, w, c)
	default:
		row = x.rekey(out)
		x.pivot(row, w, x.coefficients(w))
	}
	x.pairs[out.pair] = slices.DeleteFunc(x.pairs[out.pair], func(v *way) bool { return v == out })
}

// drain takes units off a path, as the others of its loads make up for them, until it or one of these has none, which it
// returns.
func (x *basicFlow) drain(w *way, c []float64) *way {
	grows := map[*way]float64{w: -1}
	order := []*way{w} // maps have none
	grow := func(v *way, by float64) {
		if _, known := grows[v]; !known {
			order = append(order, v)
		}
		grows[v] += by
	}
	grow(x.pairs[w.pair][0], 1)
	for i, b := range x.basis {
		if b != nil && math.Abs(c[i]) > 1e-9 {
			grow(b, c[i])
			grow(x.pairs[b.pair][0], -c[i])
		}
	}
	most, out := math.Inf(1), w
	for _, v := range order {
		if by := grows[v]; by < -1e-9 && v.units/-by < most {
			most, out = v.units/-by, v
		}
	}
	for _, v := range order {
		v.units = max(0, v.units+most*grows[v])
	}
	out.units = 0
	return out
}

// rekey makes another path the key of a pair whose key has no units left, and gives the row of the basis where the old one is
// now. There is one: a key loses units only to paths of its pair in the basis.
func (x *basicFlow) rekey(old *way) int {
	ways := x.pairs[old.pair]
	row := -1
	for i, b := range x.basis {
		if b != nil && b.pair == old.pair && (row < 0 || b.units > x.basis[row].units) {
			row = i
		}
	}
	key := x.basis[row]
	for link := range x.inverse[row] {
		sum := 0.0
		for i, b := range x.basis {
			if b != nil && b.pair == old.pair {
				sum += x.inverse[i][link]
			}
		}
		x.inverse[row][link] = -sum
	}
	x.basis[row] = old
	at := slices.Index(ways, key)
	ways[0], ways[at] = ways[at], ways[0]
	return row
}

// pivot puts a path into a row of the basis.
func (x *basicFlow) pivot(row int, w *way, c []float64) {
	by := x.inverse[row]
	for link := range by {
		by[link] /= c[row]
	}
	for i, list := range x.inverse {
		if i == row || math.Abs(c[i]) < 1e-12 {
			continue
		}
		for link := range list {
			list[link] -= c[i] * by[link]
		}
	}
	x.basis[row] = w
}

// write gives whole units to the paths that are left: few to each pair, as long as rounding costs little.
func (x *basicFlow) write() {
	f := x.f
	coarse, exact := f.units, f.fullest()
	best, least := 0, math.Inf(1)
	for fine := 1; fine <= finer*coarse && least > 1+roundingLoss; fine++ {
		x.round(coarse, fine)
		if full := f.fullest() / exact * float64(coarse) / float64(fine); full < least {
			best, least = fine, full
		}
	}
	if f.units != best {
		x.round(coarse, best)
	}
	f.fullest()
}

const (
	finer        = 4     // times as many units as before at most
	roundingLoss = 0.001 // by which the fullest link may be fuller
)

// round cuts the data of each pair into so many units and gives them to its paths, by largest remainders.
func (x *basicFlow) round(coarse, fine int) {
	x.f.units, x.f.paths = fine, make([][]int32, len(x.pairs)*fine)
	for pair, ways := range x.pairs {
		at, shares := x.f.paths[pair*fine:(pair+1)*fine], make([]float64, len(ways))
		for i, w := range ways {
			shares[i] = w.units / float64(coarse)
		}
		for i, n := range units.Apportion(fine, shares) {
			for range n {
				at[0], at = ways[i].path, at[1:]
			}
		}
	}
}
