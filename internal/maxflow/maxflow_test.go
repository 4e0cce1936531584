package maxflow

import (
	"math"
	"math/rand/v2"
	"testing"

	_ "railyard/internal/long"
)

type edge struct {
	u, v int32
	cap  int64
}

func random(r *rand.Rand) (n int, edges []edge) {
	n = 2 + r.IntN(7)
	for range r.IntN(4 * n) {
		edges = append(edges, edge{int32(r.IntN(n)), int32(r.IntN(n)), r.Int64N(9)})
	}
	return n, edges
}

// leastCut tries all sets of vertices with the source.
func leastCut(n int, edges []edge, source, sink int32) int64 {
	least := int64(math.MaxInt64)
	for set := range 1 << n {
		if set>>source&1 == 0 || set>>sink&1 == 1 {
			continue
		}
		least = min(least, crossing(edges, func(v int32) bool { return set>>v&1 == 0 }))
	}
	return least
}

func crossing(edges []edge, beyond func(int32) bool) (sum int64) {
	for _, e := range edges {
		if !beyond(e.u) && beyond(e.v) {
			sum += e.cap
		}
	}
	return sum
}

// The flow is the least cut, which Beyond tells; what enters a vertex leaves it; after Reset it is found again,
// and after Resize that of the new capacities.
func TestFlowIsTheLeastCut(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 28))
	net := new(Network)
	for i := range 500 {
		n, edges := random(r)
		net.Clear(n)
		arcs := make([]int32, len(edges))
		for k, e := range edges {
			arcs[k] = net.Arc(e.u, e.v, e.cap)
		}
		for round := range 3 {
			if round == 2 {
				for k := range edges {
					edges[k].cap = r.Int64N(9)
					net.Resize(arcs[k], edges[k].cap)
				}
			}
			want := leastCut(n, edges, 0, 1)
			got := net.Flow(0, 1, math.MaxInt64)
			if cut := crossing(edges, net.Beyond); got != want || cut != want || !net.Beyond(1) || net.Beyond(0) {
				t.Fatalf("graph %d %v, round %d: a flow of %d, a cut of %d, the least is %d", i, edges, round, got, cut, want)
			}
			balance := make([]int64, n)
			for k, e := range edges {
				if c := net.Carried(arcs[k]); c < 0 || c > e.cap {
					t.Fatalf("graph %d %v: %d on arc %d", i, edges, c, k)
				}
				balance[e.u] -= net.Carried(arcs[k])
				balance[e.v] += net.Carried(arcs[k])
			}
			for v, b := range balance {
				if v > 1 && b != 0 || v == 1 && b != want {
					t.Fatalf("graph %d %v: vertex %d keeps %d", i, edges, v, b)
				}
			}
			net.Reset()
		}
	}
}

// A flow that is enough ends there, and the rest comes with the next.
func TestFlowStopsAtTheNeed(t *testing.T) {
	net := New(2)
	net.Arc(0, 1, 5)
	if a, b := net.Flow(0, 1, 3), net.Flow(0, 1, 3); a != 3 || b != 2 {
		t.Errorf("%d and %d of 5", a, b)
	}
}
