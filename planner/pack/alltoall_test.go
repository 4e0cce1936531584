package pack

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// everybody and onlyNext say who sends to whom.
func everybody(g *Graph, src, dst int) bool { return dst < g.Ranks }
func onlyNext(g *Graph, src, dst int) bool  { return dst == (src+1)%g.Ranks }

// lpPairs is the optimum of pairs by linear programming: what each source sends over each
// edge, so that every rank to which it sends keeps y of it.
func lpPairs(t *testing.T, g *Graph, pair func(g *Graph, src, dst int) bool) float64 {
	t.Helper()
	n, m := g.Ranks, len(g.Edges)
	vars := n*m + m + 1 // flows, room that is left, y
	rows := n*(g.Vertices-1) + m
	a := mat.NewDense(rows, vars, nil)
	right := make([]float64, rows)
	r := 0
	for s := range n {
		for v := range g.Vertices {
			if v == s {
				continue
			}
			for i, e := range g.Edges {
				if int(e.To) == v {
					a.Set(r, s*m+i, 1)
				} else if int(e.From) == v {
					a.Set(r, s*m+i, -1)
				}
			}
			if pair(g, s, v) {
				a.Set(r, vars-1, -1)
			}
			r++
		}
	}
	for i, e := range g.Edges {
		for s := range n {
			a.Set(r, s*m+i, 1)
		}
		a.Set(r, n*m+i, 1)
		right[r] = float64(e.Cap)
		r++
	}
	c := make([]float64, vars)
	c[vars-1] = -1
	opt, _, err := lp.Simplex(c, a, right, 1e-10, nil)
	if err != nil {
		t.Fatalf("%v: %v", g.Edges, err)
	}
	return -opt
}

func TestBoundsOfPairsAreNearTheOptimumOfLPs(t *testing.T) {
	for _, c := range []struct {
		name string
		pair func(g *Graph, src, dst int) bool
		seed uint64
	}{{"all_to_all", everybody, 13}, {"send_recv", onlyNext, 14}} {
		r := rand.New(rand.NewPCG(c.seed, 2))
		most, total := 1.0, 0.0
		const count = 60
		for i := range count {
			g := randomGraph(r, 2+r.IntN(4), r.IntN(3))
			if i%2 == 0 {
				g = evenGraph(r, 2+r.IntN(4), r.IntN(3))
			}
			opt := lpPairs(t, g, c.pair)
			bound := PairsBound(g, func(src, dst int) int64 {
				if c.pair(g, src, dst) {
					return 1
				}
				return 0
			})
			over := bound.Rate.Float() / opt
			if over < 1-1e-9 {
				t.Errorf("%s, graph %d %v: the bound is %.4f of the optimum %v", c.name, i, g.Edges, over, opt)
			}
			most, total = max(most, over), total+over
		}
		t.Logf("%s: bounds exceed the optimum by %.2f %% at most, %.2f %% on average", c.name, 100*(most-1), 100*(total/count-1))
		if most > 1.02 || total/count > 1.005 {
			t.Errorf("%s: too far from the optimum", c.name)
		}
	}
}

// A byte/s more on some links leaves no large common divisor of all, and changes the bound by next to nothing.
func TestPairsBoundOfOddRates(t *testing.T) {
	each := func(int, int) int64 { return 1 }
	of := func(odd int64) *lengths {
		const n = 7
		g := &Graph{Ranks: n, Vertices: n}
		for v := range int32(n) {
			g.Edges = append(g.Edges, Edge{From: v, To: (v + 1) % n, Cap: 900e9}, Edge{From: v, To: (v + n - 1) % n, Cap: 900e9 + odd})
		}
		a := newLengths(g, each)
		a.rounds(20)
		return a
	}
	even, odd := of(0).best.Rate.Float(), of(1).best.Rate.Float()
	if odd < even || odd > even*(1+1e-9) {
		t.Errorf("%g B/s for each pair, %g with links one byte/s faster", even, odd)
	}
	if got := PairsBound(&Graph{Ranks: 4, Vertices: 4}, each).Rate.Float(); got != 0 {
		t.Errorf("%g B/s without any link", got)
	}
}
