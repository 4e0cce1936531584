package pack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// lpAllReduce is the optimum of all-reduces by linear programming: the roots' rates x,
// and what of each edge the sums (a) and the results (b) get, so that for every set of
// vertices with ranks enough gets in and out for the roots outside it (Edmonds). Switches
// pass on what they take in.
func lpAllReduce(t *testing.T, g *Graph) float64 {
	t.Helper()
	n, m := g.Ranks, len(g.Edges)
	var rows [][]float64 // over x, a, b; ≤ the right side
	var right []float64
	row := func(b float64) []float64 {
		rows, right = append(rows, make([]float64, n+2*m)), append(right, b)
		return rows[len(rows)-1]
	}
	for set := 1; set < 1<<g.Vertices; set++ {
		ranks := set & (1<<n - 1)
		if ranks == 0 || ranks == 1<<n-1 {
			continue
		}
		in, out := row(0), row(0)
		for r := range n {
			if ranks>>r&1 == 0 {
				in[r], out[r] = 1, 1
			}
		}
		for i, e := range g.Edges {
			switch from, to := set>>e.From&1, set>>e.To&1; {
			case from < to:
				in[n+i] = -1
			case from > to:
				out[n+m+i] = -1
			}
		}
	}
	for i, e := range g.Edges {
		r := row(float64(e.Cap))
		r[n+i], r[n+m+i] = 1, 1
	}
	less := len(rows)
	for w := g.Ranks; w < g.Vertices; w++ {
		for _, off := range []int{n, n + m} {
			r := row(0)
			for i, e := range g.Edges {
				if int(e.To) == w {
					r[off+i]++
				}
				if int(e.From) == w {
					r[off+i]--
				}
			}
		}
	}
	vars := n + 2*m
	a := mat.NewDense(len(rows), vars+less, nil)
	c := make([]float64, vars+less)
	for r := range n {
		c[r] = -1
	}
	for i, r := range rows {
		for j, v := range r {
			a.Set(i, j, v)
		}
		if i < less {
			a.Set(i, vars+i, 1)
		}
	}
	opt, _, err := lp.Simplex(c, a, right, 1e-10, nil)
	if err != nil {
		t.Fatalf("%v: %v", g.Edges, err)
	}
	return -opt
}

// evenGraph has edges of the same capacity both ways, a tree of them and some more.
func evenGraph(r *rand.Rand, ranks, switches int) *Graph {
	n := ranks + switches
	var edges []Edge
	both := func(u, v int) {
		c := 1 + r.Int64N(6)
		edges = append(edges, Edge{int32(u), int32(v), c}, Edge{int32(v), int32(u), c})
	}
	for v := 1; v < n; v++ {
		both(v, r.IntN(v))
	}
	for range r.IntN(n) {
		both(r.IntN(n), r.IntN(n))
	}
	g, err := New(ranks, n, edges)
	if err != nil {
		panic(err)
	}
	return g
}

func TestAllReduceBoundIsTheOptimumOfLPs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 19))
	most, total := 1.0, 0.0
	const count = 60
	for i := range count {
		even := i%2 == 0
		g := randomGraph(r, 2+r.IntN(3), r.IntN(2))
		if even {
			g = evenGraph(r, 2+r.IntN(3), r.IntN(2))
		}
		b, err := AllReduceBound(g)
		if err != nil {
			t.Fatal(err)
		}
		opt := lpAllReduce(t, g)
		over := b.Rate.Float() / opt
		if over < 1-1e-9 || even && over > 1+1e-9 {
			t.Errorf("graph %d %v: %v (%s), the optimum is %v", i, g.Edges, b.Rate.Float(), b.Cut, opt)
		}
		most, total = max(most, over), total+over
	}
	t.Logf("bounds exceed the optimum by %.2f %% at most, %.2f %% on average", 100*(most-1), 100*(total/count-1))
}

// Optima of the whole buffer, from linear programs and on paper.
func TestAllReduceBound(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		want  float64 // GB/s
	}{
		{"dgx1-p100", 1, 45.71}, {"dgx1-v100", 1, 85.71}, {"dgx2", 1, 80}, {"dgx-a100", 1, 171.43}, {"dgx-a100", 2, 173.33},
		{"dgx-h100", 1, 257.14}, {"dgx-h100", 2, 266.67}, {"dgx-h100", 4, 258.06}, {"dgx-h100", 16, 213.33}, {"mi250x-node", 1, 171.43},
	} {
		b, err := AllReduceBound(fromTopology(t, load(t, c.name, c.nodes)))
		if err != nil || math.Abs(b.AlgBW/1e9-c.want) > 0.005 {
			t.Errorf("%s × %d: %.2f GB/s (%s), %v; want %.2f", c.name, c.nodes, b.AlgBW/1e9, b.Cut, err, c.want)
		}
		t.Logf("%s × %d: %s", c.name, c.nodes, b.Cut)
	}
	for _, c := range []struct {
		dims string
		n    int
		want float64
	}{{"4, 3", 12, 17 * 50. / 11}, {"5, 5", 25, 40 * 50. / 24}, {"16, 16", 256, 480 * 50. / 255}} {
		b, err := AllReduceBound(fromTopology(t, grid(t, c.dims, c.n, false)))
		if err != nil || math.Abs(b.AlgBW/1e9-c.want) > 1e-9 {
			t.Errorf("mesh %s: %v, %v; want %v", c.dims, b.AlgBW/1e9, err, c.want)
		}
	}
}

func BenchmarkAllReduceBound(b *testing.B) {
	for _, nodes := range []int{4, 16, 128} {
		g := fromTopology(b, load(b, "dgx-h100", nodes))
		b.Run(fmt.Sprintf("%d GPUs", g.Ranks), func(b *testing.B) {
			for b.Loop() {
				if _, err := AllReduceBound(g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
