package pack

import (
	"fmt"
	"math"
	"math/bits"

	"railyard/model/units"
)

// Fraction is an exact number, in lowest terms; Den > 0.
type Fraction struct{ Num, Den int64 }

func fraction(num, den int64) Fraction {
	g := max(gcd(num, den), 1)
	return Fraction{num / g, den / g}
}

// Float is the nearest floating-point number.
func (f Fraction) Float() float64 { return float64(f.Num) / float64(f.Den) }

// Cmp compares two fractions that are not negative.
func (f Fraction) Cmp(o Fraction) int {
	h1, l1 := bits.Mul64(uint64(f.Num), uint64(o.Den))
	h2, l2 := bits.Mul64(uint64(o.Num), uint64(f.Den))
	switch {
	case h1 < h2 || h1 == h2 && l1 < l2:
		return -1
	case h1 == h2 && l1 == l2:
		return 0
	}
	return 1
}

// Result is a bound and the cut that proves it: what is on the source side can get no
// more than Crossing to the rest.
type Result struct {
	Rate     Fraction // bytes/s for each root: what every rank can receive of each other's data at most
	AlgBW    float64  // bytes/s, as benchmarks count: Rate times the number of ranks
	Crossing int64    // bytes/s out of the source side
	Source   []int32  // the ranks on the source side
	Cut      string   // the same in words
}

// Bound is the exact largest x such that no cut forbids an all-gather in which every rank
// receives x bytes/s of each other's data: min over the vertex sets S that lack some
// rank of B⁺(S)/|ranks in S|, B⁺ being the capacity out of S. Read backwards it holds for
// reduce-scatter. (Where what enters a switch differs from what leaves it, only switches
// that copy might reach it.)
//
// x is feasible where, with a source that gives each rank x, every rank can be sent all
// N·x. It starts at the least that a rank can take in; a flow that falls short names a
// cut, whose ratio is the next x (Newton's method: a few steps). A rank that has
// passed lies on the source side of all cuts that could still be violated, so it counts
// as source for those after it: their flows come from near by.
func Bound(g *Graph) (Result, error) {
	n := int64(g.Ranks)
	if n < 2 {
		return Result{Rate: Fraction{0, 1}, Cut: "one rank has nothing to receive"}, nil
	}
	b := &bounding{g: g, flows: newFlows(g)}
	b.least()
	if err := b.scale(); err != nil {
		return Result{}, err
	}
	for t := range g.Ranks {
		for b.x.Num > 0 {
			short := b.flows.run(int32(t), b.need) < b.need
			if !short {
				break
			}
			b.take()
			if err := b.scale(); err != nil {
				return Result{}, err
			}
		}
		b.passed++
		b.flows.reset()
		b.flows.setFeed(t, b.need)
	}
	return g.result(b.x, b.sinkSide, n), nil
}

// bounding is the state of Newton's method.
type bounding struct {
	g        *Graph
	flows    *flows
	x        Fraction
	need     int64 // N·x in units of 1/x.Den
	passed   int
	sinkSide []bool // of the cut that gave x
}

// least starts with the cut around the rank that can take in least.
func (b *bounding) least() {
	in := make([]int64, b.g.Vertices)
	for _, e := range b.g.Edges {
		in[e.To] += e.Cap
	}
	least := 0
	for r := range b.g.Ranks {
		if in[r] < in[least] {
			least = r
		}
	}
	b.x = fraction(in[least], int64(b.g.Ranks-1))
	b.sinkSide = make([]bool, b.g.Vertices)
	b.sinkSide[least] = true
}

func (b *bounding) scale() error {
	hi, lo := bits.Mul64(uint64(b.x.Num), uint64(b.g.Ranks))
	if hi != 0 || lo > math.MaxInt64/4 {
		return fmt.Errorf("pack: %d ranks with rates as uneven as %d/%d bytes/s exceed 64-bit arithmetic", b.g.Ranks, b.x.Num, b.x.Den)
	}
	b.need = int64(lo)
	b.flows.set(b.x.Den, b.need, b.x.Num)
	for t := range b.passed {
		b.flows.setFeed(t, b.need)
	}
	return nil
}

// take makes the cut that the last flow ran into the new x.
func (b *bounding) take() {
	for v := range b.sinkSide {
		b.sinkSide[v] = b.flows.reached(int32(v))
	}
	crossing, ranks := b.g.crossing(b.sinkSide)
	b.x = fraction(crossing, ranks)
}

// crossing is the capacity into a set, and how many ranks are outside it.
func (g *Graph) crossing(sinkSide []bool) (capacity, ranks int64) {
	for _, e := range g.Edges {
		if !sinkSide[e.From] && sinkSide[e.To] {
			capacity += e.Cap
		}
	}
	for r := range g.Ranks {
		if !sinkSide[r] {
			ranks++
		}
	}
	return capacity, ranks
}

func (g *Graph) result(x Fraction, sinkSide []bool, times int64) Result {
	out := Result{Rate: x, AlgBW: float64(x.Num) * float64(times) / float64(x.Den)}
	out.Crossing, _ = g.crossing(sinkSide)
	var sinks []int32
	for r := range g.Ranks {
		if sinkSide[r] {
			sinks = append(sinks, int32(r))
		} else {
			out.Source = append(out.Source, int32(r))
		}
	}
	if len(out.Source) < len(sinks) {
		out.Cut = fmt.Sprintf("%s can send out only %v", g.describe(out.Source), units.Rate(out.Crossing))
	} else {
		out.Cut = fmt.Sprintf("%s can take in only %v", g.describe(sinks), units.Rate(out.Crossing))
	}
	return out
}

// describe names a set of ranks: "node0/gpu3", "these 8 GPUs of node0", "these 24 ranks
// (rank0, rank1, rank2, …)".
func (g *Graph) describe(ranks []int32) string {
	switch len(ranks) {
	case 1:
		return g.Name(int(ranks[0]))
	case 2:
		return g.Name(int(ranks[0])) + " and " + g.Name(int(ranks[1]))
	}
	if g.t != nil {
		nodes := []string{}
		last := -1
		for _, r := range ranks {
			if n := g.t.NodeOf(int(r)); n != last {
				last = n
				nodes = append(nodes, g.t.NodeName(n))
			}
		}
		what := "GPUs"
		if g.t.Devices()[g.t.Ranks()[ranks[0]]].Kind.String() != "gpu" {
			what = "ranks"
		}
		switch {
		case len(nodes) == 1:
			return fmt.Sprintf("these %d %s of %s", len(ranks), what, nodes[0])
		case len(nodes) <= 3:
			return fmt.Sprintf("these %d %s of %s and %d more nodes", len(ranks), what, nodes[0], len(nodes)-1)
		}
		return fmt.Sprintf("these %d %s of %d nodes from %s to %s", len(ranks), what, len(nodes), nodes[0], nodes[len(nodes)-1])
	}
	s := fmt.Sprintf("these %d ranks (", len(ranks))
	for i, r := range ranks {
		if i == 3 {
			return s + ", …)"
		}
		if i > 0 {
			s += ", "
		}
		s += g.Name(int(r))
	}
	return s + ")"
}

// BroadcastBound is the exact rate at which one rank can send the same data to all
// others: the least of the largest flows from it to each of them.
func BroadcastBound(g *Graph, root int) Result {
	f := newFlows(g)
	var most int64
	for _, e := range g.Edges {
		most += e.Cap
	}
	f.set(1, most, 0)
	f.setFeed(root, most)
	x := most
	sinkSide := make([]bool, g.Vertices)
	for t := range g.Ranks {
		if t == root {
			continue
		}
		if got := f.run(int32(t), x); got < x {
			x = got
			for v := range sinkSide {
				sinkSide[v] = f.reached(int32(v))
			}
		}
		f.reset()
		f.setFeed(t, most)
	}
	return g.result(Fraction{x, 1}, sinkSide, 1)
}
