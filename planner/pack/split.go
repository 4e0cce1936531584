package pack

import (
	"math"

	"railyard/model/units"
)

// split is a graph whose switches are being taken out: instead of (u,w) and (w,t) it
// gets (u,t), as long as every rank can still receive everything from all roots
// (Jackson; Bang-Jensen, Frank, Jackson). Paths are kept.
type split struct {
	g     *Graph
	n     int
	need  int64 // what each root sends
	left  [][]int64
	paths map[[2]int32][]strand
	flow  *dense
}

// strand is an amount that goes along a path of the graph's edges.
type strand struct {
	amount int64
	edges  []int32
}

// spread makes all capacities multiples of it, so that a switch's traffic can be spread
// evenly.
const spread = 12

// splitOff takes out all switches of g. Where more enters a switch than leaves it, or
// less, how much is lost may depend on the order: all are tried until nothing is.
func splitOff(g *Graph, x Fraction) (*split, *Graph, error) {
	var best *split
	var pool *Graph
	var rate Fraction
	for order := range splitOrders {
		s := splitInOrder(g, x, order)
		p, err := s.pool()
		if err != nil {
			return nil, nil, err
		}
		b, err := Bound(p)
		if err != nil {
			return nil, nil, err
		}
		// In the pool's units a root sends s.need.
		b.Rate.Den *= s.need
		if best == nil || b.Rate.Cmp(rate) > 0 {
			best, pool, rate = s, p, b.Rate
		}
		if rate.Num >= rate.Den {
			break
		}
	}
	return best, pool, nil
}

// splitOrders is how many there are: the switches up or down, evenly first or not, the
// neighbours as numbered or turned.
const splitOrders = 8

func splitInOrder(g *Graph, x Fraction, order int) *split {
	s := &split{g: g, n: g.Vertices, need: x.Num * spread, left: make([][]int64, g.Vertices), paths: map[[2]int32][]strand{},
		flow: newDense(g.Vertices + 2)}
	unit := x.Num
	for _, e := range g.Edges {
		unit = units.GCD(unit, e.Cap*x.Den)
	}
	s.need /= unit
	for v := range s.left {
		s.left[v] = make([]int64, s.n)
	}
	for i, e := range g.Edges {
		c := e.Cap * x.Den / unit * spread
		s.left[e.From][e.To] = c
		s.paths[[2]int32{e.From, e.To}] = []strand{{c, []int32{int32(i)}}}
	}
	for i := range g.Vertices - g.Ranks {
		w := g.Ranks + i
		if order&1 != 0 {
			w = g.Vertices - 1 - i
		}
		s.takeOut(w, order&2 == 0, order&4*s.n/8)
	}
	return s
}

// takeOut replaces the edges at switch w, if wanted evenly at first, then as far as can be.
func (s *split) takeOut(w int, evenly bool, turn int) {
	var out int64
	for t := range s.n {
		out += s.left[w][t]
	}
	for _, even := range []bool{true, false} {
		for again := evenly || !even; again; {
			again = false
			for shift := range s.n {
				for u := range s.n {
					t := (u + (shift+turn)%(s.n-1) + 1) % s.n
					if shift == s.n-1 {
						t = u
					}
					c := min(s.left[u][w], s.left[w][t])
					if even && u != t && out > s.left[w][u] {
						c = min(c, s.left[u][w]*s.left[w][t]/(out-s.left[w][u]))
					}
					if c == 0 || even && u == t {
						continue
					}
					if c = min(c, s.spare(u, w, t, c)); c > 0 {
						s.replace(int32(u), int32(w), int32(t), c)
						again = !even
					}
				}
			}
		}
	}
	for v := range s.n { // what is left has no counterpart
		for _, k := range [][2]int32{{int32(v), int32(w)}, {int32(w), int32(v)}} {
			s.left[k[0]][k[1]] = 0
			delete(s.paths, k)
		}
	}
}

// spare is how much of (u,w),(w,t) can become (u,t), up to want: the least slack of the
// sets that lose by it, which hold u and t but not w, or w but neither u nor t.
func (s *split) spare(u, w, t int, want int64) int64 {
	total := int64(s.g.Ranks) * s.need
	for _, kind := range []int{1, 2} {
		passed := make([]bool, s.g.Ranks)
		for v := range s.g.Ranks {
			if kind == 1 && (v == u || v == t) || kind == 2 && min(u, t) < s.g.Ranks && v != min(u, t) {
				continue // a set without u and t lacks a rank anyway, where one of them is one
			}
			d := s.flow
			d.reset()
			source, sink := s.n, s.n+1
			for a := range s.n {
				copy(d.left[a], s.left[a])
			}
			for r := range s.g.Ranks {
				d.left[source][r] = s.need
				if passed[r] {
					d.left[source][r] = math.MaxInt64 / 4
				}
			}
			d.left[v][sink] = math.MaxInt64 / 4
			if kind == 1 {
				d.left[source][u], d.left[source][t], d.left[w][sink] = math.MaxInt64/4, math.MaxInt64/4, math.MaxInt64/4
			} else {
				d.left[source][w], d.left[u][sink], d.left[t][sink] = math.MaxInt64/4, math.MaxInt64/4, math.MaxInt64/4
			}
			if want = min(want, d.run(source, sink, total+want)-total); want <= 0 {
				return 0
			}
			passed[v] = true
		}
	}
	return want
}

func (s *split) replace(u, w, t int32, c int64) {
	s.left[u][w] -= c
	s.left[w][t] -= c
	first, second := s.cutOff(u, w, c), s.cutOff(w, t, c)
	if u == t {
		return
	}
	s.left[u][t] += c
	key := [2]int32{u, t}
	for len(first) > 0 {
		a, b := &first[len(first)-1], &second[len(second)-1]
		m := min(a.amount, b.amount)
		s.paths[key] = append(s.paths[key], strand{m, append(append([]int32(nil), a.edges...), b.edges...)})
		if a.amount -= m; a.amount == 0 {
			first = first[:len(first)-1]
		}
		if b.amount -= m; b.amount == 0 {
			second = second[:len(second)-1]
		}
	}
}

// cutOff takes strands of an amount c from those between u and v.
func (s *split) cutOff(u, v int32, c int64) []strand {
	key := [2]int32{u, v}
	list := s.paths[key]
	var out []strand
	for c > 0 {
		last := &list[len(list)-1]
		m := min(c, last.amount)
		out = append(out, strand{m, last.edges})
		c -= m
		if last.amount -= m; last.amount == 0 {
			list = list[:len(list)-1]
		}
	}
	s.paths[key] = list
	return out
}

// between are the shares of a transfer's paths, and what they carry together.
func (s *split) between(u, v int32) ([]piece, int64) {
	var total int64
	var order []int32
	amount := map[int32]int64{}
	for _, p := range s.paths[[2]int32{u, v}] {
		total += p.amount
		for _, e := range p.edges {
			if amount[e] == 0 {
				order = append(order, e)
			}
			amount[e] += p.amount
		}
	}
	out := make([]piece, len(order))
	for i, e := range order {
		f := fraction(amount[e], total)
		out[i] = piece{e, f.Num, f.Den}
	}
	return out, total
}

// pool is the graph of ranks that is left.
func (s *split) pool() (*Graph, error) {
	var edges []Edge
	for u := range s.g.Ranks {
		for v := range s.g.Ranks {
			edges = append(edges, Edge{int32(u), int32(v), s.left[u][v]})
		}
	}
	return New(s.g.Ranks, s.g.Ranks, edges)
}
