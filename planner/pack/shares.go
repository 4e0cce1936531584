package pack

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/collective"
)

// RailShares packs trees for islands of GPUs: nodes that are not all alike, since NICs, links or
// GPUs are lost or slow, or, in a flat graph, the GPUs on a switch, which count as a node.
// Every part of a root's data goes to all GPUs of its node, crosses
// once to each other node, from whichever GPU of the first to whichever of the second, and
// is spread there, by the GPU where it comes in or by another. Which shares go which way
// follows from prices of links that rise with their load, all shares moving a little in
// every round towards what is cheap (multiplicative weights; Garg, Könemann, 1998); what is
// alike keeps equal shares. Then shares are rounded to a few equal parts.
//
// Each kind of hop has a stage to itself in such trees, and few messages; trees that are
// packed one by one come nearer to the bound but not to their own rate, since each of their
// stages loads other links than the next.
//
// Those of a reduce-scatter are an all-gather's, backwards.
func RailShares(g *Graph, kind collective.Kind) (*Packing, error) {
	if kind == collective.ReduceScatter {
		p, err := RailShares(g, collective.AllGather)
		return p.reversed(), err
	}
	bound, err := BoundFor(g, kind, 0)
	if err != nil {
		return nil, err
	}
	s := newSearch(g, kind, 0, Options{}, bound)
	if err := s.transfers(); err != nil {
		return nil, err
	}
	w, err := s.ways(kind == collective.AllReduce)
	if err != nil {
		return nil, err
	}
	x := newShares(w, g, kind == collective.AllReduce)
	least := 1 / bound.Rate.Float()
	if kind == collective.AllGather {
		least /= float64(g.Ranks)
	}
	x.settle(least)
	p := x.inParts().packing(kind)
	p.takePaths(w.paths)
	if err := p.evaluate(bound, s.routes); err != nil {
		return nil, err
	}
	p.routes = nil
	return p, nil
}

// shares says which part of the data takes which way.
type shares struct {
	*ways
	both   bool  // hops carry as much both ways, and roots have unequal shares
	roots  mix   // of all data
	cross  []mix // by pair of nodes s·nodes+d: of the data of s, where it crosses to d
	spread []mix // by rank: of what comes in there, who spreads it

	data, in    []float64 // by node: its part of all data; by rank: what comes in there
	load, price []float64 // by resource: for how long it works, what more of that costs
}

// mix is how something is shared out among choices.
type mix struct {
	choices []choice
	share   []float64
}

// choice is a way from a rank to another, or by way of it, and what that takes.
type choice struct {
	from, to int32
	takes    []taken
}

// newMix is of equal shares of those that are preferred, and of little of the others.
func newMix(choices []choice, preferred func(*choice) bool) mix {
	m := mix{choices, make([]float64, len(choices))}
	total := 0.0
	for i := range choices {
		if m.share[i] = others; preferred(&choices[i]) {
			m.share[i] = 1
		}
		total += m.share[i]
	}
	for i := range m.share {
		m.share[i] /= total
	}
	return m
}

func newShares(w *ways, g *Graph, both bool) *shares {
	x := &shares{ways: w, both: both, data: make([]float64, len(w.members)), in: make([]float64, g.Ranks),
		load: make([]float64, w.resources), price: make([]float64, w.resources)}
	var roots []choice
	for r := range int32(g.Ranks) {
		roots = append(roots, choice{r, r, x.star(r, r)})
		var by []choice
		for _, c := range x.members[x.of[r]] {
			by = append(by, choice{r, c, x.star(r, c)})
		}
		x.spread = append(x.spread, newMix(by, func(c *choice) bool { return c.to == r }))
	}
	x.roots = newMix(roots, func(*choice) bool { return true })
	for s := range x.members {
		for d := range x.members {
			x.cross = append(x.cross, x.crossings(s, d))
		}
	}
	return x
}

// star is what it takes to bring data from a rank to the others of its node by way of one.
func (x *shares) star(from, by int32) []taken {
	sum := map[int32]float64{}
	add := func(u, v int32) {
		for _, t := range x.hop(u, v) {
			sum[t.resource] += t.time
		}
	}
	if from != by {
		add(from, by)
	}
	for _, v := range x.members[x.of[from]] {
		if v != from && v != by {
			add(by, v)
		}
	}
	var out []taken
	for r := range int32(x.resources) {
		if t, ok := sum[r]; ok {
			out = append(out, taken{r, t})
		}
	}
	return out
}

// crossings are the ways from a node to another; at first those that are the best for both
// their ends, rails as a rule.
func (x *shares) crossings(s, d int) mix {
	var out []choice
	best := map[int32]*choice{} // by rank
	for _, v := range x.members[d] {
		if s == d {
			break
		}
		for _, u := range x.from[s][v] {
			c := choice{u, v, x.hop(u, v)}
			out = append(out, c)
			for _, r := range []int32{u, v} {
				if b, ok := best[r]; !ok || x.better(&c, b) {
					best[r] = &c
				}
			}
		}
	}
	return newMix(out, func(c *choice) bool { return !x.better(best[c.from], c) && !x.better(best[c.to], c) })
}

// length is how many links a way has, of which parts are taken as well.
func (x *shares) length(c *choice) int {
	return int(math.Round(1e3 * x.links[int(c.from)*x.n+int(c.to)]))
}

// better reports whether a way between two nodes is shorter, or as short and between GPUs
// whose places in their nodes are more alike.
func (x *shares) better(a, b *choice) bool {
	apart := func(c *choice) int {
		i, _ := slices.BinarySearch(x.members[x.of[c.from]], c.from)
		j, _ := slices.BinarySearch(x.members[x.of[c.to]], c.to)
		return max(i-j, j-i)
	}
	return cmp.Or(cmp.Compare(x.length(a), x.length(b)), cmp.Compare(apart(a), apart(b))) < 0
}

const (
	goodShares  = 0.985
	shareRounds = 400
	shareStep   = 0.2   // of a share, at most, in the first round
	others      = 0.001 // of the share of what is preferred, in the first round
	steepFirst  = 8     // prices grow with that power of loads
	steepLast   = 64
)

// settle moves shares until no link works longer than it must, or hardly.
func (x *shares) settle(least float64) {
	best, full := x.clone(), math.Inf(1)
	for round := range shareRounds {
		x.carry()
		if f := slices.Max(x.load); f < full {
			full, best = f, x.clone()
		}
		if full*goodShares <= least {
			break
		}
		done := float64(round) / shareRounds
		x.reprice(steepFirst * math.Pow(steepLast/steepFirst, done))
		x.shift(shareStep * math.Pow(0.05, done))
	}
	x.keep(best)
}

// clone copies all shares.
func (x *shares) clone() [][]float64 {
	var out [][]float64
	x.each(func(m *mix) { out = append(out, slices.Clone(m.share)) })
	return out
}

func (x *shares) keep(shares [][]float64) {
	i := 0
	x.each(func(m *mix) {
		copy(m.share, shares[i])
		i++
	})
}

// each visits all mixes, the later depending on the earlier.
func (x *shares) each(visit func(*mix)) {
	visit(&x.roots)
	for i := range x.cross {
		visit(&x.cross[i])
	}
	for i := range x.spread {
		visit(&x.spread[i])
	}
}

// carry works out all loads.
func (x *shares) carry() {
	clear(x.load)
	clear(x.data)
	clear(x.in)
	take := func(list []taken, part float64) {
		for _, t := range list {
			x.load[t.resource] += part * t.time
		}
	}
	for i, c := range x.roots.choices {
		x.data[x.of[c.from]] += x.roots.share[i]
		take(c.takes, x.roots.share[i])
	}
	for i := range x.cross {
		m := &x.cross[i]
		for k, c := range m.choices {
			part := x.data[i/len(x.members)] * m.share[k]
			x.in[c.to] += part
			take(c.takes, part)
		}
	}
	for r := range x.spread {
		m := &x.spread[r]
		for k, c := range m.choices {
			take(c.takes, x.in[r]*m.share[k])
		}
	}
}

func (x *shares) reprice(steepness float64) {
	full := slices.Max(x.load)
	for i, l := range x.load {
		x.price[i] = math.Pow(l/full, steepness)
	}
}

// shift moves a part of all shares to what is cheaper.
func (x *shares) shift(step float64) {
	cost := func(list []taken) (sum float64) {
		for _, t := range list {
			sum += t.time * x.price[t.resource]
		}
		return sum
	}
	spread := make([]float64, len(x.spread)) // cost on average
	for r := range x.spread {
		spread[r] = x.spread[r].shift(step, func(c *choice) float64 { return cost(c.takes) })
	}
	leaving := make([]float64, len(x.members)) // cost of bringing data of a node to all others
	for i := range x.cross {
		leaving[i/len(x.members)] += x.cross[i].shift(step, func(c *choice) float64 { return cost(c.takes) + spread[c.to] })
	}
	if x.both {
		x.roots.shift(step, func(c *choice) float64 { return cost(c.takes) + leaving[x.of[c.from]] })
	}
}

// shift gives what costs less than the average more, and says what that was.
func (m *mix) shift(step float64, cost func(*choice) float64) float64 {
	costs := make([]float64, len(m.choices))
	mean := 0.0
	for i := range m.choices {
		costs[i] = cost(&m.choices[i])
		mean += m.share[i] * costs[i]
	}
	if mean == 0 {
		return 0
	}
	total := 0.0
	for i := range m.share {
		m.share[i] *= math.Exp(step * max(1-costs[i]/mean, -1))
		total += m.share[i]
	}
	for i := range m.share {
		m.share[i] /= total
	}
	return mean
}
