package planner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner/pack"
)

// waysOf are the ways of a topology, none where direct links do not join it.
func waysOf(t *testing.T, topo *topology.Topology) *breadthFirstWays {
	t.Helper()
	ways, err := newRequest(topo, collective.Spec{Kind: collective.AllGather, Ranks: topo.NumRanks()}, Options{}).breadthFirst()
	if err != nil && !NotApplicable(err) {
		t.Fatal(err)
	}
	return ways
}

// allSteps are what all ranks receive, by step.
func (x *shortest) allSteps() [][]*balance {
	out := make([][]*balance, x.steps)
	for t := range out {
		for v := range x.dist {
			_, b := x.step(v, t+1)
			out[t] = append(out[t], b)
		}
	}
	return out
}

// stepTime is how long steps take in so many pieces, one after another, by the load of the fullest link of each: as blocks for each
// unit of rate.
func stepTime(all [][]*balance, pieces int) float64 {
	sum := 0.0
	for _, step := range all {
		most := pack.Fraction{Den: 1}
		for _, b := range step {
			if l := b.deal(int64(pieces)); most.Cmp(l) < 0 {
				most = l
			}
		}
		sum += most.Float()
	}
	return sum / float64(pieces)
}

// Two steps of DGX-1 V100 take three rounds of half a block over one NVLink, as the
// optimum that SCCL finds (Cai et al. 2021); with equal links and on tori, shortest paths
// reach what ranks can take in at all (Zhao et al. 2022).
func TestBreadthFirstReachesPublishedOptima(t *testing.T) {
	for _, c := range []struct {
		topo     *topology.Topology
		pieces   int
		time     float64 // blocks over the slowest link
		ofIntake float64
	}{
		{load(t, "dgx1-v100", 0), 2, 1.5, 7. / 6},
		{load(t, "dgx1-p100", 0), 4, 7. / 4, 7. / 4},
		{torus(t, "5", 5), 1, 4. / 2, 4. / 2},
		{torus(t, "6", 6), 2, 5. / 2, 5. / 2},
		{torus(t, "3, 3", 9), 1, 8. / 4, 8. / 4},
		{torus(t, "5, 5", 25), 1, 24. / 4, 24. / 4},
		{torus(t, "4, 4, 4", 64), 0, 63. / 6, 63. / 6},
		{torus(t, "3, 4, 5", 60), 0, 59. / 6, 59. / 6},
	} {
		x := waysOf(t, c.topo).out
		all := x.allSteps()
		best, least := 0, math.Inf(1)
		for pieces := range maxBlockPieces(c.topo.NumRanks()) {
			if got := stepTime(all, pieces+1); got < least*(1-1e-9) {
				best, least = pieces+1, got
			}
		}
		if least > c.time*1.001 || least < c.time-1e-9 || least < c.ofIntake-1e-9 {
			t.Errorf("%s: %v in %d pieces, want %v", c.topo.Name(), least, best, c.time)
		}
		if c.pieces > 0 && best != c.pieces {
			t.Errorf("%s: %d pieces, want %d", c.topo.Name(), best, c.pieces)
		}
		tried := math.Inf(1)
		for _, pieces := range fewPieces {
			tried = min(tried, stepTime(all, pieces))
		}
		if c.pieces > 0 && tried > c.time*1.001 {
			t.Errorf("%s: %v in the pieces that are tried, want %v", c.topo.Name(), tried, c.time)
		}
	}
}

// What trees carry in a step is what was dealt out, and no set of blocks has to use links
// that have less room: by trying all sets, and all ways to deal a few pieces.
func TestBalanceIsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 2000 {
		b := randomBalance(rng)
		want := pack.Fraction{Den: 1}
		for set := 1; set < 1<<len(b.links); set++ {
			if cut := cutOf(b, set); want.Cmp(cut) < 0 {
				want = cut
			}
		}
		for pieces := int64(1); pieces <= 2; pieces++ {
			got, want := b.deal(pieces), dealAll(b, 0, pieces, make([]int64, len(b.rates)))
			if got.Cmp(want) != 0 {
				t.Fatalf("round %d: %v of %d pieces, want %v: %+v", round, got, pieces, want, b)
			}
			checkShares(t, b, pieces, got)
		}
		if fine := b.deal(5040); fine.Float()/5040 > want.Float()*1.001 || fine.Float()/5040 < want.Float()*(1-1e-9) {
			t.Errorf("round %d: %v in many pieces, want %v", round, fine.Float()/5040, want.Float())
		}
	}
}

func randomBalance(rng *rand.Rand) *balance {
	b := &balance{}
	for range 1 + rng.IntN(4) {
		b.rates = append(b.rates, 1+rng.Int64N(4))
	}
	for range 1 + rng.IntN(4) {
		all := rng.Perm(len(b.rates))[:1+rng.IntN(len(b.rates))]
		var links []int32
		for _, k := range all {
			links = append(links, int32(k))
		}
		slices.Sort(links)
		b.links = append(b.links, links)
	}
	for range b.rates {
		b.past = append(b.past, rng.Int64N(3))
	}
	return b
}

// cutOf is a set of items over the rates of the links that they may use.
func cutOf(b *balance, set int) pack.Fraction {
	used := make([]bool, len(b.rates))
	var cut pack.Fraction
	for i, links := range b.links {
		if set>>i&1 == 0 {
			continue
		}
		cut.Num++
		for _, k := range links {
			if !used[k] {
				used[k] = true
				cut.Den += b.rates[k]
			}
		}
	}
	return cut
}

// dealAll tries all ways to place the pieces of items from one on.
func dealAll(b *balance, item int, pieces int64, load []int64) pack.Fraction {
	if item == len(b.links) {
		most := pack.Fraction{Den: 1}
		for k, l := range load {
			if f := (pack.Fraction{Num: l, Den: b.rates[k]}); most.Cmp(f) < 0 {
				most = f
			}
		}
		return most
	}
	best := pack.Fraction{Num: -1, Den: 1}
	var place func(link int, left int64)
	place = func(link int, left int64) {
		links := b.links[item]
		if link == len(links)-1 {
			load[links[link]] += left
			if f := dealAll(b, item+1, pieces, load); best.Num < 0 || f.Cmp(best) < 0 {
				best = f
			}
			load[links[link]] -= left
			return
		}
		for n := range left + 1 {
			load[links[link]] += n
			place(link+1, left-n)
			load[links[link]] -= n
		}
	}
	place(0, pieces)
	return best
}

func checkShares(t *testing.T, b *balance, pieces int64, most pack.Fraction) {
	t.Helper()
	load := make([]int64, len(b.rates))
	for i, share := range b.share {
		var sum int64
		for k, n := range share {
			if n < 0 || n > 0 && !slices.Contains(b.links[i], int32(k)) {
				t.Fatalf("item %d has %d pieces on link %d: %+v", i, n, k, b)
			}
			sum += n
			load[k] += n
		}
		if sum != pieces {
			t.Fatalf("item %d: %d of %d pieces: %+v", i, sum, pieces, b)
		}
	}
	for k, n := range load {
		if most.Cmp(pack.Fraction{Num: n, Den: b.rates[k]}) < 0 {
			t.Fatalf("link %d carries %d: more than %v: %+v", k, n, most, b)
		}
	}
}

// Trees go along links, one step farther each, and every rank is once in each.
func TestBreadthFirstTrees(t *testing.T) {
	seen := 0
	for seed := range int64(80) {
		topo := gen.Uneven(seed)
		ways := waysOf(t, topo)
		if ways == nil {
			continue
		}
		seen++
		for _, x := range []*shortest{ways.out, ways.in} {
			for _, trees := range x.trees(3) {
				for root, parents := range trees {
					checkTree(t, x, root, parents)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d graphs have direct links", seen)
	}
}

func checkTree(t *testing.T, x *shortest, root int, parents []int32) {
	t.Helper()
	for v, p := range parents {
		switch {
		case v == root && p != -1:
			t.Errorf("root %d has a parent, %d", root, p)
		case v != root && (!slices.ContainsFunc(x.into[v], func(h hop) bool { return h.from == p }) ||
			x.dist[root][p] != x.dist[root][v]-1):
			t.Errorf("root %d: the parent of %d is %d", root, v, p)
		}
	}
}
