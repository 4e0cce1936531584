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
	h, unit := *g, g.unit()
	if unit > 1 {
		h.Edges = append([]Edge(nil), g.Edges...)
		for i := range h.Edges {
			h.Edges[i].Cap /= unit
		}
	}
	out, err := cutBound(&h)
	if err == nil && !g.Direct() {
		out, err = inflowBound(&h, out)
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
	return g.result(b.x, b.sinkSide), nil
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

// explain puts a bound's cut into words.
func (g *Graph) explain(b Result) string {
	var sinks []int32
	k := 0
	for r := range int32(g.Ranks) {
		if k < len(b.Source) && b.Source[k] == r {
			k++
		} else {
			sinks = append(sinks, r)
		}
	}
	switch {
	case b.Copies:
		return fmt.Sprintf("%s can take in only %v together", g.describe(sinks), units.Rate(b.Crossing))
	case len(b.Source) < len(sinks):
		return fmt.Sprintf("%s can send out only %v", g.describe(b.Source), units.Rate(b.Crossing))
	}
	return fmt.Sprintf("%s can take in only %v", g.describe(sinks), units.Rate(b.Crossing))
}

// inflowBound lowers a bound to what ranks can take in together: in a graph in which
// every rank is parted into one that only sends and one that only takes in, the flow to
// the latter has to bring (N−1)·x to each. Newton's method again.
func inflowBound(g *Graph, have Result) (Result, error) {
	n, v := int32(g.Ranks), int32(g.Vertices)
	// Vertices: one sink of all ranks (the only "rank"), the switches, then the ranks as
	// they take in; a flow comes from the source through the ranks' edges.
	h := &Graph{Ranks: 1, Vertices: 1 + int(v)}
	in := func(r int32) int32 { return 1 + r }
	var fed []Edge // from ranks: from the source, whatever it is
	for _, e := range g.Edges {
		to := in(e.To)
		if e.From < n {
			fed = append(fed, Edge{0, to, e.Cap})
			continue
		}
		h.Edges = append(h.Edges, Edge{in(e.From), to, e.Cap})
	}
	for x, sinks := have.Rate, []int32(nil); ; {
		total, demand, crossing := h.inflow(fed, x, n, &sinks)
		if total == demand {
			return have, nil
		}
		if total < 0 {
			return have, fmt.Errorf("pack: the rates of %d ranks exceed 64-bit arithmetic", n)
		}
		x = fraction(crossing, int64(len(sinks))*int64(n-1))
		have.Rate, have.Copies, have.Crossing = x, true, crossing
		have.Source = nil
		for r, k := int32(0), 0; r < n; r++ {
			if k < len(sinks) && sinks[k] == r {
				k++
			} else {
				have.Source = append(have.Source, r)
			}
		}
	}
}

// inflow is how much of (ranks−1)·x can reach each rank, all told, and the smallest cut:
// its ranks and what flows into it at most.
func (h *Graph) inflow(fed []Edge, x Fraction, n int32, sinks *[]int32) (total, demand, crossing int64) {
	each := mulMin(x.Num, int64(n-1), math.MaxInt64/4)
	demand = mulMin(each, int64(n), math.MaxInt64/4)
	if demand == math.MaxInt64/4 {
		return -1, demand, 0
	}
	// Reversed: the ranks' copies are fed by the source and everything flows to vertex 0.
	// Then the source's side of the cut is what cannot take in enough.
	d := newSparse(h.Vertices + 1)
	source := int32(h.Vertices)
	for r := range n {
		d.arc(source, 1+r, each)
	}
	for _, e := range h.Edges {
		d.arc(e.To, e.From, mulMin(e.Cap, x.Den, demand))
	}
	for _, e := range fed {
		d.arc(e.To, 0, mulMin(e.Cap, x.Den, demand))
	}
	total = d.flow(0, source, demand)
	if total == demand {
		return total, demand, 0
	}
	// d.level ≥ 0: on the side that still reaches vertex 0.
	*sinks = (*sinks)[:0]
	for r := range n {
		if d.level[1+r] < 0 {
			*sinks = append(*sinks, r)
		}
	}
	for _, list := range [][]Edge{h.Edges, fed} {
		for _, e := range list {
			if d.level[e.To] < 0 && (e.From == 0 || d.level[e.From] >= 0) {
				crossing += e.Cap
			}
		}
	}
	return total, demand, crossing
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
	out := g.result(Fraction{x, 1}, sinkSide)
	out.AlgBW = float64(x)
	out.Cut = g.explain(out)
	return out
}
