package pack

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"railyard/internal/maxflow"
	"railyard/model/symmetry"
)

// Result is a bound and the cut that proves it: what is on the source side can get no
// more than Crossing to the rest.
type Result struct {
	Rate     Fraction // bytes/s for each root: what every rank can receive of each other's data at most
	AlgBW    float64  // bytes/s, as benchmarks count: Rate times the number of ranks
	Crossing int64    // bytes/s out of the source side
	Source   []int32  // the ranks on the source side
	Copies   bool     // only switches that copy could do more: Crossing is what the ranks that are not Source can take in together
	Cut      string   // the same in words
}

// Bound is the exact largest x such that neither of two things forbids an all-gather in
// which every rank receives x bytes/s of each other's data. Read backwards it holds for
// reduce-scatter.
//
//   - Cuts: min over the vertex sets S that lack some rank of B⁺(S)/|ranks in S|, B⁺
//     being the capacity out of S.
//   - Switches do not copy: each of some ranks takes in (N−1)·x, all of them together no
//     more than can flow to them from all ranks. That matters only where more can leave a
//     switch than can enter it (an adapter that two GPUs share).
func Bound(g *Graph) (Result, error) {
	if g.Ranks < 2 {
		return Result{Rate: Fraction{0, 1}, Cut: "one rank has nothing to receive"}, nil
	}
	h, unit := g.inUnits()
	out, err := cutBound(h)
	if err == nil && !g.Direct() {
		out, err = inflowBound(h, out)
	}
	out.Rate = fraction(out.Rate.Num*unit, max(out.Rate.Den, 1))
	out.AlgBW = out.Rate.Float() * float64(g.Ranks)
	out.Crossing *= unit
	out.Cut = g.explain(out)
	return out, err
}

// cutBound looks at cuts only.
//
// x is feasible where, with a source that gives each rank x, every rank can be sent all
// N·x. It starts at the least that a rank can take in; a flow that falls short names a
// cut, whose ratio is the next x (Newton's method: a few steps). A rank that has
// passed lies on the source side of all cuts that could still be violated, so it counts
// as source for those after it: their flows come from near by.
func cutBound(g *Graph) (Result, error) {
	_, in := g.capacities()
	least := int32(slices.Index(in, slices.Min(in)))
	b := newBounding(g)
	b.around(least)
	err := b.lower(symmetry.InPlace(g.Ranks)...)
	return g.result(b.x, b.sinkSide), err
}

// bounding is the state of Newton's method.
type bounding struct {
	g        *Graph
	net      *maxflow.Network
	edge     []int32 // arcs of the edges
	feed     []int32 // the source's arcs to the ranks
	x        Fraction
	need     int64 // N·x in units of 1/x.Den
	passed   []bool
	sinkSide []bool // of the cut that gave x; nil: none did
}

func newBounding(g *Graph) *bounding {
	b := &bounding{g: g, net: maxflow.New(g.Vertices + 1), passed: make([]bool, g.Ranks)}
	for _, e := range g.Edges {
		b.edge = append(b.edge, b.net.Arc(e.From, e.To, e.Cap))
	}
	for r := range int32(g.Ranks) {
		b.feed = append(b.feed, b.net.Arc(b.source(), r, 0))
	}
	return b
}

// around starts with the cut around a rank.
func (b *bounding) around(rank int32) {
	b.sinkSide = make([]bool, b.g.Vertices)
	b.sinkSide[rank] = true
	b.x = fraction(b.g.crossing(b.sinkSide))
}

// lower lowers x until these ranks can be sent all.
func (b *bounding) lower(ranks ...int32) error {
	if err := b.scale(); err != nil {
		return err
	}
	for _, t := range ranks {
		for b.x.Num > 0 && b.net.Flow(b.source(), t, b.need) < b.need {
			b.take()
			if err := b.scale(); err != nil {
				return err
			}
		}
		b.passed[t] = true
		b.net.Reset()
		b.net.Resize(b.feed[t], b.need)
	}
	return nil
}

func (b *bounding) source() int32 { return int32(b.g.Vertices) }

func (b *bounding) scale() error {
	hi, lo := bits.Mul64(uint64(b.x.Num), uint64(b.g.Ranks))
	if hi != 0 || lo > math.MaxInt64/4 {
		return fmt.Errorf("pack: %d ranks with rates as uneven as %d/%d bytes/s exceed 64-bit arithmetic", b.g.Ranks, b.x.Num, b.x.Den)
	}
	b.need = int64(lo)
	b.net.Reset()
	for i, e := range b.g.Edges {
		b.net.Resize(b.edge[i], mulMin(e.Cap, b.x.Den, b.need))
	}
	for t, a := range b.feed {
		if b.net.Resize(a, b.x.Num); b.passed[t] {
			b.net.Resize(a, b.need)
		}
	}
	return nil
}

// take makes the cut that the last flow ran into the new x.
func (b *bounding) take() {
	b.sinkSide = make([]bool, b.g.Vertices)
	for v := range b.sinkSide {
		b.sinkSide[v] = b.net.Beyond(int32(v))
	}
	b.x = fraction(b.g.crossing(b.sinkSide))
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

func (g *Graph) result(x Fraction, sinkSide []bool) Result {
	out := Result{Rate: x}
	out.Crossing, _ = g.crossing(sinkSide)
	for r := range g.Ranks {
		if !sinkSide[r] {
			out.Source = append(out.Source, int32(r))
		}
	}
	return out
}
